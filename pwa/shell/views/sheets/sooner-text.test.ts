import { expect, it } from "vitest";
import { NO_COST } from "../../tab/page-meter.ts";
import { gainOf, soonerText } from "./site-sheet.tsx";

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

it("says how fast a page was before it says that it took more data", () => {
  const gain = (cost: Partial<typeof NO_COST>) =>
    gainOf({ url: "https://a.example/", phase: "loaded", cost: { ...NO_COST, originBytes: 100_000, ...cost } });
  const more = "2% more data than its sites sent.";
  expect(gain({ linkBytesDown: 102_000, time: 840 })).toEqual({ heading: "Loaded in 840 ms", sentences: [more] });
  const { heading, sentences } = gain({ linkBytesDown: 102_000, time: 840, roundTrip: 300 });
  expect([heading, sentences.at(-1)]).toEqual(["About 900 ms sooner", more]);
  expect(gain({ linkBytesDown: 20_000, time: 840, roundTrip: 300 }).heading).toBe("5.0× less data");
});
