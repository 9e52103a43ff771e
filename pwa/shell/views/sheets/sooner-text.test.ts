import { expect, it } from "vitest";
import { soonerText } from "./sooner-text.ts";

it("tells the time that a page did not need, where it is seen", () => {
  expect(soonerText({ reachTime: 900, linkBytesDown: 3_000 })).toBe("About 900 ms sooner");
  expect(soonerText({ reachTime: 60, linkBytesDown: 3_000 })).toBeNull();
  expect(soonerText({ reachTime: 900, linkBytesDown: 0 })).toBeNull();
});
