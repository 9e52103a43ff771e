import { expect, it } from "vitest";
import { NO_COST } from "../../tab/page-meter.ts";
import { soonerText } from "./site-sheet.tsx";

const of = (url: string, roundTrip: number, linkBytesDown = 3_000) =>
  soonerText({ url, cost: { ...NO_COST, roundTrip, linkBytesDown } });

it("tells the time that a page did not need, where it is seen", () => {
  expect(of("https://a.example/", 300)).toEqual({
    heading: "About 900 ms sooner",
    reason: "A browser would have looked up the site’s name, connected and encrypted first.",
  });
  expect(of("http://a.example/", 300)).toEqual({
    heading: "About 600 ms sooner",
    reason: "A browser would have looked up the site’s name and connected first.",
  });
  expect(of("https://a.example/", 20)).toBeNull();
  expect(of("https://a.example/", 300, 0)).toBeNull();
});
