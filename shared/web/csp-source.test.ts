import { describe, expect, it } from "vitest";
import { isNone, parsePolicies, serializePolicy, sourceMatchesOrigin } from "./policies.ts";

describe("parsePolicies", () => {
  it("parts policies and directives; the first directive of a name counts", () => {
    const [first, second, ...rest] = parsePolicies("Default-Src 'self'\ta.example;; default-src *, img-src *;,;");
    expect([...(first ?? [])]).toEqual([["default-src", ["'self'", "a.example"]]]);
    expect([...(second ?? [])]).toEqual([["img-src", ["*"]]]);
    expect(rest).toEqual([]);
    expect(first && serializePolicy(first)).toBe("default-src 'self' a.example");
  });

  it("knows lists that allow nothing", () => {
    expect(isNone([])).toBe(true);
    expect(isNone(["'NONE'"])).toBe(true);
    expect(isNone(["'none'", "a.example"])).toBe(false);
  });
});

describe("sourceMatchesOrigin", () => {
  const self = "https://example.org";
  it.each([
    ["'self'", "https://example.org", true],
    ["'self'", "https://a.example", false],
    ["*", "https://a.example", true],
    ["https:", "https://a.example", true],
    ["https:", "http://a.example", false],
    ["http:", "https://a.example", true],
    ["a.example", "https://a.example", true],
    ["a.example", "http://a.example", false],
    ["A.example/path", "https://a.example", true],
    ["*.example", "https://b.a.example", true],
    ["*.a.example", "https://a.example", false],
    ["*.a.example", "https://xa.example", false],
    ["http://a.example", "https://a.example", true],
    ["http://a.example:80", "https://a.example", true],
    ["a.example:8443", "https://a.example:8443", true],
    ["a.example", "https://a.example:8443", false],
    ["a.example:*", "https://a.example:8443", true],
    ["a.example:443", "https://a.example", true],
    ["'nonce-abc'", "https://nonce-abc", false],
    ["*", "null", false],
  ])("%s against %s", (expression, origin, expected) => {
    expect(sourceMatchesOrigin(expression, origin, self)).toBe(expected);
  });
});
