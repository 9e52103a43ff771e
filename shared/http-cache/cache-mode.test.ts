import { expect, it } from "vitest";
import type { CacheMode, HeaderList } from "../http/heads.ts";
import { cacheRequest } from "../testing/http/cache-rig.ts";
import { cacheModeFields, cacheModeOf } from "./cache-rules.ts";

const uncached: HeaderList = [
  ["pragma", "no-cache"],
  ["cache-control", "no-cache"],
];

it.each<[CacheMode, HeaderList]>([
  ["default", []],
  ["no-store", uncached],
  ["reload", uncached],
  ["no-cache", [["cache-control", "max-age=0"]]],
  ["force-cache", []],
  ["only-if-cached", []],
])("the mode %s adds to a request what the Fetch standard says", (cacheMode, expected) => {
  expect(cacheModeFields(cacheRequest({ cacheMode }))).toEqual(expected);
});

it("adds nothing that the page has set", () => {
  const headers: HeaderList = [["cache-control", "max-age=5"]];
  expect(cacheModeFields(cacheRequest({ cacheMode: "no-cache", headers }))).toEqual([]);
  expect(cacheModeFields(cacheRequest({ cacheMode: "reload", headers }))).toEqual([["pragma", "no-cache"]]);
});

it.each(["if-modified-since", "if-none-match", "if-unmodified-since", "if-match", "if-range"])(
  "a page's own %s is its own",
  (name) => {
    const headers: HeaderList = [[name, "x"]];
    expect(cacheModeOf(cacheRequest({ headers }))).toBe("no-store");
    expect(cacheModeOf(cacheRequest({ headers, cacheMode: "force-cache" }))).toBe("force-cache");
    expect(cacheModeFields(cacheRequest({ headers }))).toEqual(uncached);
    // As Chromium shows a service worker that a script has set one.
    expect(cacheModeOf(cacheRequest({ headers, cacheMode: "no-cache" }))).toBe("no-store");
    expect(cacheModeFields(cacheRequest({ headers, cacheMode: "no-cache" }))).toEqual([["cache-control", "max-age=0"]]);
    // A store has the parts of what it has.
    const beside: HeaderList = [...headers, ["range", "bytes=0-1"]];
    expect(cacheModeOf(cacheRequest({ headers: beside }))).toBe(name === "if-range" ? "default" : "no-store");
  },
);
