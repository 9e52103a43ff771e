/** Statistics of repeated measurements. Pure; samples need no order and are never changed. */
import { seededRandom } from "../demo/random.ts";

export interface Summary {
  readonly count: number;
  readonly minimum: number;
  readonly lowerQuartile: number;
  readonly median: number;
  readonly upperQuartile: number;
  readonly maximum: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  /** The same seed and samples give the same interval. */
  readonly seed: number;
  readonly resamples?: number;
  /** Share of resamples that the interval holds, 0.95 by default. */
  readonly level?: number;
}

/**
 * Quantile by linear interpolation between order statistics: definition 7 of Hyndman and Fan, "Sample Quantiles in
 * Statistical Packages" (1996), which R and NumPy use unless told otherwise.
 *
 * @param share from 0 (minimum) to 1 (maximum).
 * @throws RangeError on an empty sample, a number that is not finite, or a share outside 0 to 1.
 */
export function quantile(sample: readonly number[], share: number): number {
  return quantileOfSorted(sorted(sample), share);
}

export function median(sample: readonly number[]): number {
  return quantile(sample, 0.5);
}

/** @throws RangeError as `quantile`. */
export function summarize(sample: readonly number[]): Summary {
  const ordered = sorted(sample);
  return {
    count: ordered.length,
    minimum: quantileOfSorted(ordered, 0),
    lowerQuartile: quantileOfSorted(ordered, 0.25),
    median: quantileOfSorted(ordered, 0.5),
    upperQuartile: quantileOfSorted(ordered, 0.75),
    maximum: quantileOfSorted(ordered, 1),
  };
}

/**
 * An interval that holds the median of what the sample is of, whatever its distribution: between two order statistics,
 * with no less than that confidence where the sample is large enough (six for 95 %), else from its least to its largest.
 *
 * @throws RangeError as `quantile`.
 */
export function medianInterval(sample: readonly number[], level = 0.95): Interval {
  const ordered = sorted(sample);
  const { length } = ordered;
  // Of `length` tosses of a coin, `skipped` heads or fewer: what a side leaves out.
  let probability = 0.5 ** length;
  let outside = probability;
  let skipped = 0;
  while (true) {
    probability *= (length - skipped) / (skipped + 1);
    outside += probability;
    if (2 * outside > 1 - level) break;
    skipped += 1;
  }
  return { low: ordered[skipped] ?? Number.NaN, high: ordered[length - 1 - skipped] ?? Number.NaN };
}

/** Distance of the quartiles as a share of the median; 0 where all values are the same. */
export function spread({ lowerQuartile, median: middle, upperQuartile }: Summary): number {
  return upperQuartile === lowerQuartile ? 0 : (upperQuartile - lowerQuartile) / Math.abs(middle);
}

/**
 * The mean for ratios: a half and a double make 1.
 *
 * @throws RangeError on an empty sample or a value that is not above zero.
 */
export function geometricMean(sample: readonly number[]): number {
  if (sample.length === 0) throw new RangeError("Cannot take the geometric mean: the sample is empty");
  let sum = 0;
  for (const value of sample) {
    if (!(value > 0 && Number.isFinite(value))) {
      throw new RangeError(`Cannot take the geometric mean: ${value} is not a finite number above zero`);
    }
    sum += Math.log(value);
  }
  return Math.exp(sum / sample.length);
}

/** @throws RangeError as `quantile`, or when the denominator's median is zero. */
export function ratioOfMedians(numerator: readonly number[], denominator: readonly number[]): number {
  const below = median(denominator);
  if (below === 0) throw new RangeError("Cannot take the ratio of medians: the denominator's median is zero");
  return median(numerator) / below;
}

/**
 * Percentile bootstrap interval of the ratio of medians (Efron): both samples are drawn anew with replacement. With
 * five runs it is a hint of what the runs' scatter does to the ratio, and no more.
 *
 * @throws RangeError as `ratioOfMedians`, here when any resample's denominator can have a median of zero.
 */
export function bootstrapRatio(
  numerator: readonly number[],
  denominator: readonly number[],
  { seed, resamples = 1000, level = 0.95 }: BootstrapOptions,
): Interval {
  const random = seededRandom(seed);
  const ratios = Array.from({ length: resamples }, () =>
    ratioOfMedians(resample(numerator, random), resample(denominator, random)),
  ).sort(ascending);
  return {
    low: quantileOfSorted(ratios, (1 - level) / 2),
    high: quantileOfSorted(ratios, (1 + level) / 2),
  };
}

function resample(sample: readonly number[], random: () => number): number[] {
  return sample.map(() => sample[Math.floor(random() * sample.length)] ?? Number.NaN);
}

function sorted(sample: readonly number[]): number[] {
  if (sample.length === 0) throw new RangeError("Cannot take a quantile: the sample is empty");
  const odd = sample.find((value) => !Number.isFinite(value));
  if (odd !== undefined) throw new RangeError(`Cannot take a quantile: ${odd} is not a finite number`);
  return [...sample].sort(ascending);
}

function quantileOfSorted(ordered: readonly number[], share: number): number {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`Cannot take a quantile: share ${share} is outside 0 to 1`);
  const position = share * (ordered.length - 1);
  const below = ordered[Math.floor(position)] ?? Number.NaN;
  const above = ordered[Math.ceil(position)] ?? Number.NaN;
  return below === above ? below : below + (above - below) * (position - Math.floor(position));
}

function ascending(a: number, b: number): number {
  return a - b;
}
