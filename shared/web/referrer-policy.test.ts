import { describe, expect, it } from "vitest";
import type { ReferrerPolicy } from "../http/heads.ts";
import { applyReferrerPolicy, parseMetaReferrer, parseReferrerPolicy } from "./policies.ts";

const source = "https://user:pw@a.example/p?q#f";
const full = "https://a.example/p?q";
const origin = "https://a.example/";
const same = "https://a.example/other";
const cross = "https://b.example/";
const downgrade = "http://b.example/";

describe("applyReferrerPolicy", () => {
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
    expect(applyReferrerPolicy(policy, source, same)).toBe(toSame);
    expect(applyReferrerPolicy(policy, source, cross)).toBe(toCross);
    expect(applyReferrerPolicy(policy, source, downgrade)).toBe(toDowngrade);
  });

  it("does not count loopback targets or plain sources as a downgrade", () => {
    expect(applyReferrerPolicy("", source, "http://x.localhost/")).toBe(origin);
    expect(applyReferrerPolicy("", source, "http://127.0.0.1:80/")).toBe(origin);
    expect(applyReferrerPolicy("", "http://c.example/x", downgrade)).toBe("http://c.example/");
  });

  it("cuts referrers over 4096 characters to the origin", () => {
    const base = "https://a.example/";
    const fits = base + "x".repeat(4096 - base.length);
    expect(applyReferrerPolicy("unsafe-url", fits, cross)).toBe(fits);
    expect(applyReferrerPolicy("unsafe-url", `${fits}x`, cross)).toBe(origin);
  });

  it("gives none for local schemes and unparsable URLs", () => {
    for (const referrer of ["", "about:srcdoc", "data:text/html,x", "blob:https://a.example/1", "nonsense"])
      expect(applyReferrerPolicy("unsafe-url", referrer, cross)).toBe("");
    expect(applyReferrerPolicy("unsafe-url", source, "nonsense")).toBe("");
  });
});

describe("parseReferrerPolicy", () => {
  it.each([
    ["no-referrer", "no-referrer"],
    [" Origin ", "origin"],
    ["no-referrer, strict-origin-when-cross-origin", "strict-origin-when-cross-origin"],
    ["origin, some-future-policy", "origin"],
    ["no-referrer, Strict-Origin, future", "strict-origin"],
    ["nonsense", ""],
    ["always", ""],
    ["", ""],
    [null, ""],
  ])("reads %o as %o", (field, policy) => {
    expect(parseReferrerPolicy(field)).toBe(policy);
  });
});

describe("parseMetaReferrer", () => {
  it("knows the older words, which fields and attributes do not", () => {
    const words = ["never", " Default", "always", "origin-when-crossorigin", "origin", "nonsense"];
    expect(words.map(parseMetaReferrer)).toEqual([
      "no-referrer",
      "strict-origin-when-cross-origin",
      "unsafe-url",
      "origin-when-cross-origin",
      "origin",
      "",
    ]);
    expect(parseReferrerPolicy("never")).toBe("");
  });
});
