import { expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { cacheRequest, NOW, URL_ASKED } from "../testing/http/cache-rig.ts";
import { type CacheRequest, toStored } from "./cache-rules.ts";

const times = { requestTime: NOW - 10, responseTime: NOW };
const fresh: HeaderList = [["cache-control", "max-age=60"]];

it.each<[string, boolean, Partial<CacheRequest>, number, HeaderList]>([
  ["a common response", true, {}, 200, []],
  ["a fresh one", true, {}, 200, fresh],
  ["a private one", true, {}, 200, [["cache-control", "private"]]],
  ["one with no-cache", true, {}, 200, [["cache-control", "no-cache"]]],
  ["one with no-store", false, {}, 200, [["cache-control", "max-age=60, No-StOrE"]]],
  ["one with no-store in a string", true, {}, 200, [["cache-control", 'a="no-store"']]],
  ["one that was asked for with no-store", false, { headers: [["cache-control", "no-store"]] }, 200, fresh],
  ["one that was asked for in the mode no-store", false, { cacheMode: "no-store" }, 200, fresh],
  ["one that was asked for in the mode reload", true, { cacheMode: "reload" }, 200, fresh],
  ["the answer to a page's own condition", false, { headers: [["if-none-match", '"a"']] }, 200, fresh],
  ["one with Authorization", true, { headers: [["authorization", "x"]] }, 200, fresh],
  ["one that no request matches", false, {}, 200, [...fresh, ["vary", "*"]]],
  ["one that must be understood, and is", true, {}, 200, [["cache-control", "must-understand, no-store, max-age=60"]]],
  ["one that must be understood, and is not", false, {}, 599, [["cache-control", "must-understand, max-age=60"]]],
  ["an unknown status that is fresh", true, {}, 599, fresh],
  ["an unknown status that does not say so", false, {}, 599, []],
  ["an unknown status that is public", true, {}, 599, [["cache-control", "public"]]],
  ["a temporary redirect that does not say so", false, {}, 302, []],
  ["a temporary redirect that is fresh", true, {}, 302, fresh],
  ["a missing page", true, {}, 404, []],
  ["a part", false, {}, 206, fresh],
  ["a 304", false, {}, 304, fresh],
  ["an interim response", false, {}, 103, fresh],
  ["the answer to HEAD", false, { method: "HEAD" }, 200, fresh],
  ["the answer to PUT", false, { method: "PUT" }, 200, fresh],
  ["the answer to POST", false, { method: "POST" }, 200, fresh],
  ["that to POST that is of its URL", true, { method: "POST" }, 200, [...fresh, ["content-location", "thing?q=1"]]],
  ["that to POST of another URL", false, { method: "POST" }, 200, [...fresh, ["content-location", "other"]]],
  ["that to POST of its URL, not fresh", false, { method: "POST" }, 200, [["content-location", URL_ASKED]]],
  ["that to POST of no URL", false, { method: "POST" }, 200, [...fresh, ["content-location", "http://["]]],
])("%s may be stored: %j", (_, expected, request, status, headers) => {
  expect(toStored(cacheRequest(request), { status, headers }, times) !== null).toBe(expected);
});

it("keeps what decides later, and nothing else", () => {
  const headers: HeaderList = [...fresh, ["vary", "Foo, Bar"]];
  const extended = { status: 200, headers, url: URL_ASKED, redirected: false };
  expect(toStored(cacheRequest({ headers: [["foo", "1"]] }), extended, times)).toEqual({
    status: 200,
    headers,
    ...times,
    selecting: [
      ["foo", "1"],
      ["bar", null],
    ],
  });
});
