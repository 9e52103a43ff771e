import { expect, test } from "vitest";
import { liteReferrer, realTarget } from "./lite-request.ts";

const BASE = "https://ropeway.example";
const PAGE = "http://a.example/b/c.html?d=e";

test.each([
  ["/style.css", "http://a.example/style.css"],
  ["/~http:a.example/b/x.png", "http://a.example/b/x.png"],
  ["/~https:bank.example/x.png", "http://a.example/~https:bank.example/x.png"],
  ["https://cdn.example/x.js", "https://cdn.example/x.js"],
  ["https://a.example/upgraded.png", "http://a.example/upgraded.png"],
])("a page without scripts that asks for %s asks for %s", (url, real) => {
  expect(realTarget({ url: new URL(url, BASE).href }, BASE, PAGE)).toBe(real);
});

test("what a page of https: asks for by http: is asked for by https:", () => {
  expect(realTarget({ url: "http://cdn.example/x.png" }, BASE, "https://a.example/")).toBe("https://cdn.example/x.png");
});

test.each([
  [`${BASE}/`, "", "https://cdn.example/x", "http://a.example/"],
  [`${BASE}/~http:a.example/b/c.html?d=e`, "", "http://a.example/x", PAGE],
  [`${BASE}/`, "unsafe-url", "https://cdn.example/x", PAGE],
  ["", "no-referrer", "http://a.example/x", ""],
] as const)("a referrer %s by the policy '%s' for %s is %s", (referrer, referrerPolicy, target, real) => {
  expect(liteReferrer({ referrer, referrerPolicy }, PAGE, target)).toBe(real);
});
