import { expect, it } from "vitest";
import { FramePosition } from "./frame-position.ts";

const A = "https://a.example";
const B = "https://b.example";

it("takes a silent document for the page where the frame is on its way to its slot", () => {
  const frame = new FramePosition();
  frame.setOut(A);
  expect([frame.mayBePage(`${A}/raw`, `${B}/`), frame.mayBePage(`${B}/raw`, `${A}/`)]).toEqual([true, false]);
  frame.arrive();
  expect([frame.awaited, frame.mayBePage(`${A}/raw`, `${A}/`)]).toEqual([null, false]);
});

it("takes one for the page that comes from another site, or after another one, unasked", () => {
  const frame = new FramePosition();
  expect([`${B}/`, ""].map((shown) => frame.mayBePage(`${A}/raw`, shown))).toEqual([true, true]);
  frame.arrive(`${A}/raw`);
  expect(frame.mayBePage(`${A}/raw2`, `${A}/raw`)).toBe(true);
});
