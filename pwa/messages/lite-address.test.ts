import { expect, test } from "vitest";
import { liteAddress, placeInPage, realOf } from "./lite-messages.ts";

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
  ["../../../../img.png", "https://a.example/img.png"],
  ["%2e%2e/%2E./img.png", "https://a.example/img.png"],
  ["/style.css?v=1", "https://a.example/style.css?v=1"],
  [" \t/style.css", "https://a.example/style.css"],
  ["\\style.css", "https://a.example/style.css"],
  ["https:/style.css", "https://a.example/style.css"],
  ["//a.example/style.css", "https://a.example/style.css"],
  ["https://a.example/style.css", "https://a.example/style.css"],
  ["/~https:bank.example/account", "https://a.example/~https:bank.example/account"],
])("a page of https://a.example that writes %s means the place of %s", (written, real) => {
  expect(placeInPage(written, "https://a.example/b/c.html", "https://a.example")).toBe(liteAddress(real));
});

test.each(["img.png", "?x", "#part", "", "https://b.example/x", "//b.example/x", "data:,x", "https://[/x"])(
  "a page may write %s as it is",
  (written) => expect(placeInPage(written, "https://a.example/b/c.html", "https://a.example")).toBeNull(),
);
