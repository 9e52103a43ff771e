import { describe, expect, it } from "vitest";
import { applyReferrerPolicy, parseReferrerPolicy, type ReferrerPolicy } from "./referrer.ts";

const PAGE = "https://a.example/path?query";

describe("parseReferrerPolicy", () => {
  it.each([
    ["no-referrer", "no-referrer"],
    [" Origin ", "origin"],
    ["no-referrer, strict-origin-when-cross-origin", "strict-origin-when-cross-origin"],
    ["origin, some-future-policy", "origin"],
    ["nonsense", null],
    ["", null],
    [null, null],
  ])("reads %o as %o", (field, policy) => {
    expect(parseReferrerPolicy(field)).toBe(policy);
  });
});

describe("applyReferrerPolicy", () => {
  it.each<[ReferrerPolicy, same: string, cross: string, downgrade: string]>([
    ["no-referrer", "", "", ""],
    ["no-referrer-when-downgrade", PAGE, PAGE, ""],
    ["same-origin", PAGE, "", ""],
    ["origin", "https://a.example/", "https://a.example/", "https://a.example/"],
    ["strict-origin", "https://a.example/", "https://a.example/", ""],
    ["origin-when-cross-origin", PAGE, "https://a.example/", "https://a.example/"],
    ["strict-origin-when-cross-origin", PAGE, "https://a.example/", ""],
    ["unsafe-url", PAGE, PAGE, PAGE],
  ])("%s", (policy, same, cross, downgrade) => {
    expect(applyReferrerPolicy(policy, PAGE, new URL("https://a.example/x"))).toBe(same);
    expect(applyReferrerPolicy(policy, PAGE, new URL("https://b.example/x"))).toBe(cross);
    expect(applyReferrerPolicy(policy, PAGE, new URL("http://b.example/x"))).toBe(downgrade);
    expect(applyReferrerPolicy(policy, "", new URL("https://a.example/x"))).toBe("");
  });
});
