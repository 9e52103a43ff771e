import { expect, it } from "vitest";
import { parseRefresh, rewriteRefresh } from "./html-rewriter.ts";

it.each([
  ["5", { delay: "5", url: "" }],
  ["0;url=/next", { delay: "0", url: "/next" }],
  [" 3.5 ; URL = 'https://a.example/' junk", { delay: "3.5", url: "https://a.example/" }],
  ["1, /plain", { delay: "1", url: "/plain" }],
  ["5 , ; x", { delay: "5", url: "; x" }],
  [". \n url \t= 'x", { delay: ".", url: "x" }],
  ["1 urlish", { delay: "1", url: "urlish" }],
  ['0; url="https://a.example/?a=1;b', { delay: "0", url: "https://a.example/?a=1;b" }],
])("reads %s", (value, expected) => expect(parseRefresh(value)).toEqual(expected));

it.each(["", "soon", "5s", "-1;url=/x"])("refuses %s", (value) => expect(parseRefresh(value)).toBeNull());

it("changes only what the mapping changes", () => {
  expect(rewriteRefresh("0;url=/x", () => null)).toBeNull();
  expect(rewriteRefresh("7", () => "/y")).toBeNull();
  expect(rewriteRefresh("0;url=/x", (url) => `/y${url}`)).toBe("0; url=/y/x");
});
