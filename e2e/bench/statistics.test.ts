import { describe, expect, it } from "vitest";
import { geometricMean, isLevel, median, quantile, summarize } from "./statistics.ts";

describe("quantile", () => {
  it("lies between order statistics, whatever the order of the sample", () => {
    expect(quantile([4, 1, 3, 2], 0.25)).toBe(1.75);
    expect([median([3, 1, 2]), median([1, 4]), quantile([7], 0.9)]).toEqual([2, 2.5, 7]);
    expect(summarize([5, 1, 3, 2, 4])).toEqual({ count: 5, lowerQuartile: 2, median: 3, upperQuartile: 4 });
  });

  it.each([
    [[], 0.5, "the sample is empty"],
    [[1, Number.NaN], 0.5, "NaN is not a finite number"],
    [[1], 1.1, "share 1.1 is outside 0 to 1"],
  ])("of %j at %d cannot be taken", (sample, share, reason) => {
    expect(() => quantile(sample, share)).toThrow(`Cannot take a quantile: ${reason}`);
  });
});

it("samples are level where their quartiles overlap", () => {
  const of = (...sample: number[]) => summarize(sample);
  expect(isLevel(of(1, 2, 3), of(2.2, 2.4, 4))).toBe(true);
  expect(isLevel(of(2.2, 2.4, 4), of(1, 2, 3))).toBe(true);
  expect(isLevel(of(1, 2, 3), of(3, 4, 5))).toBe(false);
  expect(isLevel(of(2, 2, 2), of(1, 2, 3))).toBe(true);
});

it("half and double make 1 in the mean of ratios", () => {
  expect(geometricMean([0.5, 2])).toBeCloseTo(1);
  expect(() => geometricMean([1, 0])).toThrow("0 is not a finite number above zero");
  expect(() => geometricMean([])).toThrow("the sample is empty");
});
