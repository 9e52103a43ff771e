import { expect, test } from "vitest";
import { liteAddress, meantBy, realOf } from "./lite-address.ts";

const BASE = "https://ropeway.example";

test.each([
  ["https://a.example/", "/~https:a.example/"],
  ["http://a.example:8080/b/c.html?d=e#f", "/~http:a.example:8080/b/c.html?d=e#f"],
  ["https://user:secret@a.example//b", "/~https:a.example//b"],
  ["https://[::1]:81/x", "/~https:[::1]:81/x"],
])("%s lives at %s", (url, address) => {
  const { username, password } = new URL(url);
  expect(liteAddress(url)).toBe(address);
  if (username === "" && password === "") expect(realOf(new URL(address, BASE))).toBe(url);
});

test.each([
  "/",
  "/~",
  "/~https:",
  "/~https:a.example",
  "/~ftp:a.example/",
  "/~https:u@b.example/",
  "/~again?to=x",
  "/x/~https:a.example/",
])("%s is no page's address", (path) => expect(realOf(new URL(path, BASE))).toBeNull());

test.each([
  ["img.png", "https://a.example/b/img.png"],
  ["../../../../img.png", "https://a.example/img.png"],
  ["/style.css?v=1", "https://a.example/style.css?v=1"],
  ["/sw.js", "https://a.example/sw.js"],
  ["/.ropeway/config.json", "https://a.example/.ropeway/config.json"],
  ["/~https:bank.example/account", "https://a.example/~https:bank.example/account"],
  ["/~https:a.example/c", "https://a.example/c"],
])("a page of https://a.example means by %s what it would on its site", (address, real) => {
  const page = new URL("/~https:a.example/b/c.html", BASE);
  expect(meantBy(new URL(address, page), "https://a.example")).toBe(real);
});
