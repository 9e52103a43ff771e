import { expect, test } from "vitest";
import { framePartition } from "./slot-services.ts";

const PAGE = "https://page.example";
const ADVERT = "https://advert.example";
const page = { origin: PAGE, topLevelOrigin: PAGE };
const advert = { origin: ADVERT, topLevelOrigin: PAGE };

test.each([
  ["a frame of the page", ADVERT, page, false, PAGE],
  ["a frame in a frame of the page's own site", ADVERT, page, true, PAGE],
  ["a third site in a frame", "https://other.example", advert, true, PAGE],
  ["a frame's own site in it", ADVERT, advert, true, PAGE],
  ["the page's site in a frame of another", PAGE, advert, true, ADVERT],
  ["a frame of the page that goes back to the page's site", PAGE, advert, false, PAGE],
])("%s", (_what, origin, asker, isDeeper, partition) => {
  expect(framePartition(origin, asker, isDeeper)).toBe(partition);
});
