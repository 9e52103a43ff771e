import fc from "fast-check";
import { expect, it } from "vitest";
import { parseCookieDate } from "./cookie.ts";

it.each([
  ["Wed, 21 Oct 2015 07:28:00 GMT", Date.UTC(2015, 9, 21, 7, 28, 0)],
  ["Sunday, 06-Nov-94 08:49:37 GMT", Date.UTC(1994, 10, 6, 8, 49, 37)],
  ["Sun Nov  6 08:49:37 1994", Date.UTC(1994, 10, 6, 8, 49, 37)],
  ["01 jan 1970 00:00:00", 0],
  ["1 1:2:3 February 2030", Date.UTC(2030, 1, 1, 1, 2, 3)],
  ["Thu, 01-Jan-37 00:00:00", Date.UTC(2037, 0, 1)],
])("reads %s", (text, expected) => expect(parseCookieDate(text)).toBe(expected));

it.each(["", "tomorrow", "21 Oct 2015", "31 Feb 2020 00:00:00", "1 Jan 1500 00:00:00", "1 Jan 2020 24:00:00"])(
  "refuses %s",
  (text) => expect(parseCookieDate(text)).toBeNull(),
);

it("reads what Date.toUTCString writes", () => {
  const range = { min: new Date(Date.UTC(1970, 0, 1)), max: new Date(Date.UTC(9999, 0, 1)), noInvalidDate: true };
  fc.assert(
    fc.property(fc.date(range), (date) => {
      expect(parseCookieDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
    }),
  );
});
