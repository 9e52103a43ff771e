import { expect, it } from "vitest";
import { cacheControl, secondsOf } from "./cache-rules.ts";

it.each<[string, Record<string, string | null>]>([
  ["max-age=60", { "max-age": "60" }],
  ["MaX-aGe=60, No-StOrE", { "max-age": "60", "no-store": null }],
  ['max-age="60"', { "max-age": "60" }],
  ["max-age=1, max-age=1800", { "max-age": "1" }],
  ['extension="max-age=3600, no-store", max-age=1', { extension: "max-age=3600, no-store", "max-age": "1" }],
  ['a="b\\"c, d", e', { a: 'b"c, d', e: null }],
  ['private="set-cookie, x", public', { private: "set-cookie, x", public: null }],
  [", ,no-cache,,", { "no-cache": null }],
  ['a="unended, no-store', { a: '"unended, no-store' }],
  ["", {}],
])("reads %j", (value, expected) => {
  expect(Object.fromEntries(cacheControl([["cache-control", value]]))).toEqual(expected);
});

it("reads several lines as one", () => {
  const directives = cacheControl([
    ["cache-control", "no-store"],
    ["x", "y"],
    ["cache-control", "max-age=1"],
  ]);
  expect([...directives.keys()]).toEqual(["no-store", "max-age"]);
});

it.each<[string, number | null]>([
  ["max-age=60", 60],
  ["max-age=003600", 3600],
  ["max-age=99999999999", 99_999_999_999],
  ["max-age", 0],
  ["max-age=", 0],
  ["max-age=-60", 0],
  ["max-age='60'", 0],
  ["max-age= 60", 0],
  ["max-age=60.5", 0],
  ["max-age=60a", 0],
  ["s-maxage=60", null],
])("takes %j for %j seconds of max-age: what is invalid is stale", (value, expected) => {
  expect(secondsOf(cacheControl([["cache-control", value]]), "max-age")).toBe(expected);
});
