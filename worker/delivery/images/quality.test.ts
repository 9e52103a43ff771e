import { describe, expect, it } from "vitest";
import type { Kind } from "./image-recoder.ts";
import { balancedQuality, type Pixels, SCREEN_WIDTH } from "./picture-codecs.ts";

/** @param luma of a pixel. */
function grey(width: number, height: number, luma: (x: number, y: number) => number, alpha = 255): Pixels {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    const value = luma(i % width, Math.floor(i / width));
    data.set([value, value, value, alpha], i * 4);
  }
  return { data, width, height };
}

const grain = (contrast: number) => (x: number, y: number) => 128 + ((x * 7 + y * 13) % 3) * contrast;

describe("balancedQuality", () => {
  it("codes faint grain finely, what is flat or full of contrast coarsely", () => {
    for (const kind of ["photo", "drawing", "large"] satisfies Kind[]) {
      const faint = balancedQuality(grey(160, 160, grain(4)), kind);
      expect(
        balancedQuality(
          grey(160, 160, () => 128),
          kind,
        ),
      ).toBeLessThan(faint);
      expect(balancedQuality(grey(160, 160, grain(60)), kind)).toBeLessThan(faint);
    }
  });

  it("goes by what a phone shows, where a picture is wider than its screen", () => {
    const lines = grey(SCREEN_WIDTH * 2, 64, (x) => 128 + (x % 2) * 6);
    const flat = grey(SCREEN_WIDTH * 2, 64, () => 128);
    expect(balancedQuality(lines, "large")).toBe(balancedQuality(flat, "large"));
  });

  it("sees what is in the transparency", () => {
    const { data, width, height } = grey(160, 160, () => 255);
    for (let i = 0; i < width * height; i++) data[i * 4 + 3] = 100 + (i % 3) * 3;
    expect(balancedQuality({ data, width, height }, "drawing")).toBeGreaterThan(
      balancedQuality(
        grey(160, 160, () => 255),
        "drawing",
      ),
    );
  });

  it("takes a picture smaller than a block", () => {
    expect(balancedQuality(grey(5, 3, grain(4)), "photo")).toBe(
      balancedQuality(
        grey(160, 160, () => 0),
        "photo",
      ),
    );
  });
});
