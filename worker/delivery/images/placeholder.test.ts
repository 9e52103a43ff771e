import { expect, it } from "vitest";
import { placeholderOf } from "./image-stage.ts";

/** CSS pixels of its text on a phone that fits it into its width. */
function textSize(width: number, height: number): number {
  const [, size] = placeholderOf({ width, height }, 1_200_000).match(/font-size="([\d.]+)"/) ?? [];
  return Number(size) * Math.min(1, 360 / width);
}

it("can be read on a phone, however many pixels the picture has", () => {
  for (const [width, height] of [
    [300, 200],
    [600, 400],
    [2400, 1600],
    [4000, 3000],
  ] as const) {
    expect(textSize(width, height)).toBeGreaterThan(16);
    expect(textSize(width, height)).toBeLessThan(30);
  }
});

it("has room for its text, of five times its height", () => {
  for (const [width, height] of [
    [120, 90],
    [90, 400],
    [600, 40],
  ] as const) {
    const size = (textSize(width, height) * width) / Math.min(width, 360);
    expect(size * 5).toBeLessThanOrEqual(width);
    expect(size * 3).toBeLessThanOrEqual(height);
  }
});
