import { expect, test } from "vitest";
import { liteReferrer, realTarget } from "./lite-request.ts";

const BASE = "https://ropeway.example";
const PAGE = "http://a.example/b/c.html?d=e";

test.each([
  ["/~http:a.example/b/x.png", "http://a.example/b/x.png"],
  ["https://cdn.example/x.js", "https://cdn.example/x.js"],
  // The browser has upgraded it; of the site's own, only what is not at its place comes so.
  ["https://a.example/upgraded.png", "https://a.example/upgraded.png"],
])("a page without scripts that asks for %s asks for %s", (url, real) => {
  expect(realTarget({ url: new URL(url, BASE).href }, BASE, PAGE)).toBe(real);
});

test.each([
  "/style.css",
  "/shell.css",
  "/.ropeway/config.json",
  "/~https:bank.example/x.png",
  "/~https:a.example/x.png",
  "/~http:a.example:81/x.png",
])("no page without scripts gets %s, which another one or the app may have", (path) => {
  expect(realTarget({ url: BASE + path }, BASE, PAGE)).toBeNull();
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
