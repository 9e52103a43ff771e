import { describe, expect, it } from "vitest";
import { isPublicSuffix, isSameSite, siteOf, suffixLabels } from "./site.ts";

describe("siteOf", () => {
  it.each([
    ["https://www.example.co.uk", "https://example.co.uk"],
    ["https://a.b.example.com:8443", "https://example.com"],
    ["http://example.com", "http://example.com"],
    ["https://me.github.io", "https://me.github.io"],
    ["http://localhost:8080", "http://localhost"],
    ["http://news.localhost:8080", "http://news.localhost"],
    ["http://cdn.news.localhost", "http://news.localhost"],
    ["http://127.0.0.1:3000", "http://127.0.0.1"],
    ["http://[::1]:3000", "http://[::1]"],
    ["http://nas", "http://nas"],
    ["null", null],
    ["", null],
    [null, null],
  ])("%s is of %s", (origin, site) => {
    expect(siteOf(origin)).toBe(site);
  });

  it("takes an address with a common ending for another site", () => {
    expect(isSameSite("http://10.0.0.1", "http://11.0.0.1")).toBe(false);
  });

  it("keeps schemes, owners of shared suffixes and opaque origins apart", () => {
    expect(isSameSite("https://a.example.com", "https://b.example.com:444")).toBe(true);
    expect(isSameSite("http://a.example.com", "https://a.example.com")).toBe(false);
    expect(isSameSite("https://a.github.io", "https://b.github.io")).toBe(false);
    expect(isSameSite("null", "null")).toBe(false);
  });
});

describe("isPublicSuffix", () => {
  it.each(["com", "co.uk", "github.io", "localhost", "example"])("%s is one", (domain) => {
    expect(isPublicSuffix(domain)).toBe(true);
  });

  it.each(["example.com", "me.github.io", "news.localhost"])("%s is none", (domain) => {
    expect(isPublicSuffix(domain)).toBe(false);
  });
});

describe("suffixLabels", () => {
  it.each([
    ["www.bbc.co.uk", 2],
    ["me.github.io", 2],
    ["github.io", 2],
    ["x.s3.us-east-1.amazonaws.com", 4],
    ["www.example.com", 1],
    ["news.localhost", 1],
    ["nas", 1],
    ["127.0.0.1", 4],
    ["[::1]", 1],
  ])("%s: %s", (host, labels) => {
    expect(suffixLabels(host)).toBe(labels);
  });
});
