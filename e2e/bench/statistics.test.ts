import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../demo/random.ts";
import {
  bootstrapRatio,
  geometricMean,
  median,
  medianInterval,
  quantile,
  ratioOfMedians,
  spread,
  summarize,
} from "./statistics.ts";

const positive = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
const sample = fc.array(positive, { minLength: 1, maxLength: 40 });
const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("medianInterval", () => {
  it("leaves out as many at each end as coins say", () => {
    const upTo = (length: number) => Array.from({ length }, (_, index) => length - index);
    // Of six, all on one side: 2 in 64; of nine, two or more: 1.95 %; of fifteen, 3.5 % (binomial tables).
    for (const [length, low] of [
      [1, 1],
      [5, 1],
      [6, 1],
      [8, 1],
      [9, 2],
      [11, 2],
      [12, 3],
      [15, 4],
      [20, 6],
      [25, 8],
    ] as const) {
      expect(medianInterval(upTo(length))).toEqual({ low, high: length + 1 - low });
    }
  });

  it("holds the median as often as it says", () => {
    const random = seededRandom(7);
    for (const length of [7, 12, 15]) {
      let held = 0;
      for (let time = 0; time < 2000; time += 1) {
        const { low, high } = medianInterval(Array.from({ length }, () => random() ** 3));
        if (low <= 0.125 && high >= 0.125) held += 1;
      }
      expect(held / 2000).toBeGreaterThan(0.94);
    }
  });
});

describe("quantiles", () => {
  it("are those of R's default, type 7", () => {
    expect(summarize([9, 1, 7, 2])).toEqual({
      count: 4,
      minimum: 1,
      lowerQuartile: 1.75,
      median: 4.5,
      upperQuartile: 7.5,
      maximum: 9,
    });
    expect(quantile([1, 2, 3, 4, 5], 0.1)).toBeCloseTo(1.4, 12);
    expect(median([3])).toBe(3);
  });

  it("rise with the share, stay within the sample, and do not depend on its order", () => {
    fc.assert(
      fc.property(
        sample,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, a, b) => {
          const [low, high] = a < b ? [a, b] : [b, a];
          expect(quantile(values, low)).toBeLessThanOrEqual(quantile(values, high) * (1 + 1e-12));
          expect(quantile(values, a)).toBeGreaterThanOrEqual(Math.min(...values));
          expect(quantile(values, a)).toBeLessThanOrEqual(Math.max(...values));
          expect(quantile([...values].reverse(), a)).toBe(quantile(values, a));
        },
      ),
    );
  });

  it("leave at least half of the sample on each side of the median", () => {
    fc.assert(
      fc.property(sample, (values) => {
        const middle = median(values);
        expect(values.filter((value) => value <= middle).length * 2).toBeGreaterThanOrEqual(values.length);
        expect(values.filter((value) => value >= middle).length * 2).toBeGreaterThanOrEqual(values.length);
      }),
    );
  });

  it("do not change the sample", () => {
    const values = Object.freeze([3, 1, 2]);
    expect(median(values)).toBe(2);
    expect(values).toEqual([3, 1, 2]);
  });

  it("are refused of nothing, of what is no number, and outside 0 to 1", () => {
    expect(() => median([])).toThrow(new RangeError("Cannot take a quantile: the sample is empty"));
    expect(() => median([1, Number.NaN])).toThrow(new RangeError("Cannot take a quantile: NaN is not a finite number"));
    expect(() => quantile([1], 1.5)).toThrow(new RangeError("Cannot take a quantile: share 1.5 is outside 0 to 1"));
  });
});

describe("spread", () => {
  it("is the distance of the quartiles over the median", () => {
    expect(spread(summarize([90, 100, 110]))).toBeCloseTo(0.1, 12);
    expect(spread(summarize([0, 0, 0]))).toBe(0);
  });
});

describe("geometric mean", () => {
  it("makes 1 of a half and a double", () => {
    expect(geometricMean([0.5, 2])).toBeCloseTo(1, 12);
  });

  it("scales with the sample and lies within it", () => {
    fc.assert(
      fc.property(sample, fc.double({ min: 0.01, max: 100, noNaN: true }), (values, factor) => {
        const mean = geometricMean(values);
        expect(mean).toBeGreaterThanOrEqual(Math.min(...values) * (1 - 1e-9));
        expect(mean).toBeLessThanOrEqual(Math.max(...values) * (1 + 1e-9));
        expect(geometricMean(values.map((value) => value * factor)) / (mean * factor)).toBeCloseTo(1, 9);
      }),
    );
  });

  it("is refused where a value is zero, and of nothing", () => {
    expect(() => geometricMean([1, 0])).toThrow(
      new RangeError("Cannot take the geometric mean: 0 is not a finite number above zero"),
    );
    expect(() => geometricMean([])).toThrow(new RangeError("Cannot take the geometric mean: the sample is empty"));
  });
});

describe("ratio of medians", () => {
  it("divides medians", () => {
    expect(ratioOfMedians([1, 2, 30], [4, 8, 16])).toBe(0.25);
  });

  it("is refused over a median of zero", () => {
    expect(() => ratioOfMedians([1], [0])).toThrow(
      new RangeError("Cannot take the ratio of medians: the denominator's median is zero"),
    );
  });
});

describe("bootstrap interval", () => {
  it("is repeatable, ordered, and within what the samples allow", () => {
    fc.assert(
      fc.property(sample, sample, seed, (above, below, start) => {
        const options = { seed: start, resamples: 50 };
        const { low, high } = bootstrapRatio(above, below, options);
        expect(bootstrapRatio(above, below, options)).toEqual({ low, high });
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual((Math.min(...above) / Math.max(...below)) * (1 - 1e-9));
        expect(high).toBeLessThanOrEqual((Math.max(...above) / Math.min(...below)) * (1 + 1e-9));
      }),
      { numRuns: 50 },
    );
  });

  it("has no width where no value scatters", () => {
    expect(bootstrapRatio([2, 2, 2], [4, 4], { seed: 1 })).toEqual({ low: 0.5, high: 0.5 });
  });

  it("covers the true ratio about as often as it says", () => {
    const random = seededRandom(7);
    const draw = (centre: number) => Array.from({ length: 15 }, () => centre * (0.8 + 0.4 * random()));
    const trials = Array.from({ length: 200 }, (_, index) =>
      bootstrapRatio(draw(1), draw(2), { seed: index, resamples: 200 }),
    );
    const covered = trials.filter(({ low, high }) => low <= 0.5 && high >= 0.5).length;
    expect(covered / trials.length).toBeGreaterThan(0.88);
  });
});
