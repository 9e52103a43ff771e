import { describe, expect, it } from "vitest";
import { computeReferrer, parseReferrerPolicy, type ReferrerPolicy } from "./referrer.ts";

const source = "https://user:pw@a.example/p?q#f";
const full = "https://a.example/p?q";
const origin = "https://a.example/";
const same = "https://a.example/other";
const cross = "https://b.example/";
const downgrade = "http://b.example/";

describe("computeReferrer", () => {
  const table: [ReferrerPolicy | "", string, string, string][] = [
    ["no-referrer", "", "", ""],
    ["no-referrer-when-downgrade", full, full, ""],
    ["same-origin", full, "", ""],
    ["origin", origin, origin, origin],
    ["strict-origin", origin, origin, ""],
    ["origin-when-cross-origin", full, origin, origin],
    ["strict-origin-when-cross-origin", full, origin, ""],
    ["", full, origin, ""],
    ["unsafe-url", full, full, full],
  ];
  it.each(table)("%s", (policy, toSame, toCross, toDowngrade) => {
    expect(computeReferrer({ policy, referrerSource: source, targetUrl: same })).toBe(toSame);
    expect(computeReferrer({ policy, referrerSource: source, targetUrl: cross })).toBe(toCross);
    expect(computeReferrer({ policy, referrerSource: source, targetUrl: downgrade })).toBe(toDowngrade);
  });

  it("does not count loopback targets or plain sources as a downgrade", () => {
    expect(computeReferrer({ policy: "", referrerSource: source, targetUrl: "http://x.localhost/" })).toBe(origin);
    expect(computeReferrer({ policy: "", referrerSource: source, targetUrl: "http://127.0.0.1:80/" })).toBe(origin);
    expect(computeReferrer({ policy: "", referrerSource: "http://c.example/x", targetUrl: downgrade })).toBe(
      "http://c.example/",
    );
  });

  it("cuts referrers over 4096 characters to the origin", () => {
    const base = "https://a.example/";
    const fits = base + "x".repeat(4096 - base.length);
    expect(computeReferrer({ policy: "unsafe-url", referrerSource: fits, targetUrl: cross })).toBe(fits);
    expect(computeReferrer({ policy: "unsafe-url", referrerSource: `${fits}x`, targetUrl: cross })).toBe(origin);
  });

  it("gives none for local schemes and unparsable URLs", () => {
    for (const referrerSource of ["about:srcdoc", "data:text/html,x", "blob:https://a.example/1", "nonsense"])
      expect(computeReferrer({ policy: "unsafe-url", referrerSource, targetUrl: cross })).toBe("");
    expect(computeReferrer({ policy: "unsafe-url", referrerSource: source, targetUrl: "nonsense" })).toBe("");
  });
});

describe("parseReferrerPolicy", () => {
  it("takes the last known token", () => {
    expect(parseReferrerPolicy("no-referrer, Strict-Origin, future")).toBe("strict-origin");
    expect(parseReferrerPolicy("always")).toBe("");
    expect(parseReferrerPolicy("")).toBe("");
  });
});
