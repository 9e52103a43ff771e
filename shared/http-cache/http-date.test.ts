import { expect, it } from "vitest";
import { parseHttpDate } from "./cache-rules.ts";

const NEWS = Date.parse("1994-11-06T08:49:37Z");

it.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", NEWS],
  ["Sunday, 06-Nov-94 08:49:37 GMT", NEWS],
  ["Sun Nov  6 08:49:37 1994", NEWS],
  ["sun, 06 nOV 1994 08:49:37 gmt", NEWS],
  ["Thursday, 18-Aug-50 02:01:18 GMT", Date.parse("2050-08-18T02:01:18Z")],
  ["Thu, 29 Feb 2024 00:00:00 GMT", Date.parse("2024-02-29T00:00:00Z")],
])("%s is a date", (text, expected) => {
  expect(parseHttpDate(text)).toBe(expected);
});

it.each([
  "",
  "0",
  "-1",
  "never",
  "Thu, 18 Aug 2050 02:01:18 UTC",
  "Thu, 18 Aug 2050 02:01:18 AEST",
  "Thu, 18 Aug 50 02:01:18 GMT",
  "Thu 18 Aug 2050 02:01:18 GMT",
  "Thu, 18  Aug  2050 02:01:18 GMT",
  "Thu, 18-Aug-2050 02:01:18 GMT",
  "Thu, 18 Aug 2050 02.01.18 GMT",
  "Thu, 18 Aug 2050 2:01:18 GMT",
  "Thu, 18 Aug 2050 25:01:18 GMT",
  "Thu, 18 Foo 2050 02:01:18 GMT",
  "Thu, 31 Feb 2026 00:00:00 GMT",
  "Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT",
])("%j is none", (text) => {
  expect(parseHttpDate(text)).toBe(null);
});
