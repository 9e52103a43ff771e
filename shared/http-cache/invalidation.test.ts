import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { clearedOrigins, clears, invalidatedUrls } from "./cache-rules.ts";

const url = "https://a.example/dir/thing?q=1#part";

describe("an exchange makes invalid", () => {
  const invalidated = (method: string, status: number, headers: HeaderList = []) =>
    invalidatedUrls({ method, url }, { status, headers });

  it.each(["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])("its URL by %s", (method) => {
    expect(invalidated(method, 200)).toEqual(["https://a.example/dir/thing?q=1"]);
    expect(invalidated(method, 303)).toEqual(["https://a.example/dir/thing?q=1"]);
  });

  it.each(["GET", "HEAD", "OPTIONS", "TRACE"])("nothing by %s", (method) => {
    expect(invalidated(method, 200)).toEqual([]);
  });

  it("nothing where it failed", () => {
    expect([404, 500, 599].flatMap((status) => invalidated("POST", status))).toEqual([]);
  });

  it("what it names of the same origin", () => {
    const headers: HeaderList = [
      ["location", "../new#x"],
      ["content-location", "https://a.example:443/other"],
    ];
    expect(invalidated("POST", 201, headers)).toEqual([
      "https://a.example/dir/thing?q=1",
      "https://a.example/new",
      "https://a.example/other",
    ]);
  });

  it.each(["https://b.example/x", "http://a.example/x", "http://[", "data:,x"])("nothing of others: %s", (location) => {
    expect(invalidated("POST", 201, [["location", location]])).toHaveLength(1);
  });
});

it.each<[string, string, readonly string[]]>([
  ['"cache"', "https://a.example/", ["cache"]],
  ['"cookies", "cache"', "https://a.example/", ["cache", "cookies"]],
  ['"*"', "https://a.example/", ["cache", "cookies"]],
  ['"cookies"', "https://a.example/", ["cookies"]],
  ['cache, "storage"', "https://a.example/", []],
  ['"cache"', "http://a.example/", []],
])("Clear-Site-Data: %s of %s clears %j", (value, of, expected) => {
  const response = { url: of, headers: [["clear-site-data", value]] } as const;
  expect((["cache", "cookies"] as const).filter((type) => clears(type, response))).toEqual(expected);
});

it("Clear-Site-Data of redirects on the way is told by the edge", () => {
  const headers: HeaderList = [
    ["clear-site-data", '"cache"'],
    ["ropeway-cleared", "https://b.example https://c.example:8443"],
  ];
  const url = "https://a.example/x";
  expect(clearedOrigins({ url, headers })).toEqual([
    "https://a.example",
    "https://b.example",
    "https://c.example:8443",
  ]);
  expect(clearedOrigins({ url, headers: [] })).toEqual([]);
});
