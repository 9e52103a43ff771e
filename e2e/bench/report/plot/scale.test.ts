import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linearScale, logarithmicScale, scaleOver } from "./scale.ts";

const positive = fc.double({ min: 1e-4, max: 1e9, noNaN: true });

describe("axis scales", () => {
  it("start at zero while values are of a kind", () => {
    expect(scaleOver([3, 17], 0, 100).ticks).toEqual([0, 5, 10, 15, 20]);
    expect(scaleOver([0, 1000, 0.1], 0, 100).ticks[0]).toBe(0);
  });

  it("are logarithmic where values span many sizes", () => {
    expect(scaleOver([1, 1_000_000], 0, 600, 7).ticks).toEqual([1, 10, 100, 1000, 10_000, 100_000, 1_000_000]);
    expect(scaleOver([0.3, 9], 0, 100).ticks).toEqual([0.2, 0.5, 1, 2, 5, 10]);
  });

  it("serve a value alone, and none at all", () => {
    expect(scaleOver([], 0, 100).ticks.length).toBeGreaterThan(1);
    expect(scaleOver([0], 0, 100).place(0)).toBe(0);
    expect(logarithmicScale(10, 10, 0, 100).place(10)).toBe(0);
  });

  it("keep order, stay within the axis, and have their ticks there", () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 12 }), (values) => {
        const { ticks, place } = scaleOver(values, 10, 310);
        const sorted = values.toSorted((a, b) => a - b);
        const places = sorted.map(place);
        for (const [index, where] of places.entries()) {
          expect(where).toBeGreaterThanOrEqual((places[index - 1] ?? 10) - 1e-6);
          expect(where).toBeLessThanOrEqual(310 + 1e-6);
        }
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThan(16);
        for (const tick of ticks) {
          expect(place(tick)).toBeGreaterThanOrEqual(10 - 1e-6);
          expect(place(tick)).toBeLessThanOrEqual(310 + 1e-6);
        }
      }),
    );
  });

  it("reach to the largest value", () => {
    fc.assert(
      fc.property(positive, (largest) => {
        expect(linearScale(largest, 0, 1).ticks.at(-1)).toBeGreaterThanOrEqual(largest * (1 - 1e-6));
      }),
    );
  });
});
