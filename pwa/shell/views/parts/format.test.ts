import { describe, expect, it } from "vitest";
import { formatBytes, formatSaving, shortHost } from "./format.ts";

describe("formatBytes", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [1_234, "1.2 kB"],
    [34_400, "34 kB"],
    [999_600, "1.0 MB"],
    [2_310_000, "2.3 MB"],
    [4e15, "4000 TB"],
    [-1, "0 B"],
  ])("%d", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe("formatSaving", () => {
  it.each([
    [0, 100_000, null],
    [100_000, 0, null],
    [2_300, 1_200, null],
    [10_000, 49_999, null],
    [100_000, 480_000, "4.8× less data"],
    [100_000, 12_340_000, "123× less data"],
    [100_000, 160_000, "38% less data"],
    [100_000, 100_000, "The same amount of data"],
    [120_000, 100_000, "20% more data"],
  ])("%d of %d", (link, origin, text) => expect(formatSaving(link, origin)).toBe(text));
});

describe("shortHost", () => {
  it.each([
    ["https://www.example.com/a", "example.com"],
    ["https://en.wikipedia.org/", "en.wikipedia.org"],
    ["http://localhost:8787/", "localhost:8787"],
    ["https://www.com/", "www.com"],
    ["mailto:name@example.com", "mailto:name@example.com"],
    ["", ""],
  ])("%s", (url, host) => expect(shortHost(url)).toBe(host));
});
