import { describe, expect, it } from "vitest";
import { applyReferrerPolicy, ownReferrer, parseReferrerPolicy, type ReferrerPolicy } from "./referrer.ts";

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

it.each([
  [PAGE, "https://a.example", PAGE],
  ["https://u:p@a.example/path#part", "https://a.example", "https://a.example/path"],
  ["https://b.example/s.css", "https://a.example", ""],
  ["http://a.example/path", "https://a.example", ""],
  [PAGE, null, ""],
  [PAGE, "null", ""],
  ["", "https://a.example", ""],
  ["nonsense", "https://a.example", ""],
])("takes %o from a page of %o for %o", (referrer, origin, own) => {
  expect(ownReferrer({ referrer, origin })).toBe(own);
});
