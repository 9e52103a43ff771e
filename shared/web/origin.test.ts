import { describe, expect, it } from "vitest";
import { bareUrl, isLoopbackHost, isMixedContent, isPotentiallyTrustworthy, isSameOrigin } from "./origin.ts";

describe("isSameOrigin", () => {
  it("compares scheme, host and port, and takes opaque origins for the same as nothing", () => {
    expect(isSameOrigin("null", "null")).toBe(false);
    expect(isSameOrigin(null, null)).toBe(false);
    expect(isSameOrigin("https://a.example", "https://a.example:443")).toBe(true);
    expect(isSameOrigin("https://a.example", "https://a.example:444")).toBe(false);
  });
});

describe("isPotentiallyTrustworthy", () => {
  it("takes https and loopback hosts", () => {
    expect(isPotentiallyTrustworthy(new URL("https://a.example/"))).toBe(true);
    expect(isPotentiallyTrustworthy(new URL("http://a.example/"))).toBe(false);
    for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]"]) {
      expect(isLoopbackHost(host)).toBe(true);
    }
    for (const host of ["localhost.example", "127.0.0.1.example", "128.0.0.1"])
      expect(isLoopbackHost(host)).toBe(false);
  });

  it("takes wss:, and a loopback host with the dot of the root", () => {
    expect(isPotentiallyTrustworthy(new URL("wss://a.example/"))).toBe(true);
    expect(isPotentiallyTrustworthy(new URL("http://localhost./"))).toBe(true);
  });
});

it.each([
  ["http://b.example/", "https://a.example", true],
  ["http://b.example/", "http://a.example", false],
  ["https://b.example/", "https://a.example", false],
  ["http://x.localhost/", "https://a.example", false],
])("takes %s on a page of %s for mixed content: %s", (url, page, isMixed) => {
  expect(isMixedContent(new URL(url), page)).toBe(isMixed);
});

it("bares a URL of credentials and fragment", () => {
  expect(bareUrl(new URL("https://u:p@a.example/x?q#f")).href).toBe("https://a.example/x?q");
});
