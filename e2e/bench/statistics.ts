/** Statistics of repeated measurements. Pure; samples need no order and are never changed. */

export interface Summary {
  readonly count: number;
  readonly lowerQuartile: number;
  readonly median: number;
  readonly upperQuartile: number;
}

/**
 * Quantile by linear interpolation between order statistics: definition 7 of Hyndman and Fan, "Sample Quantiles in
 * Statistical Packages" (1996), which R and NumPy use unless told otherwise.
 *
 * @param share from 0 (minimum) to 1 (maximum).
 * @throws RangeError on an empty sample, a number that is not finite, or a share outside 0 to 1.
 */
export function quantile(sample: readonly number[], share: number): number {
  if (sample.length === 0) throw new RangeError("Cannot take a quantile: the sample is empty");
  if (!(share >= 0 && share <= 1)) throw new RangeError(`Cannot take a quantile: share ${share} is outside 0 to 1`);
  const odd = sample.find((value) => !Number.isFinite(value));
  if (odd !== undefined) throw new RangeError(`Cannot take a quantile: ${odd} is not a finite number`);
  const ordered = sample.toSorted((one, other) => one - other);
  const position = share * (ordered.length - 1);
  const below = ordered[Math.floor(position)] ?? Number.NaN;
  const above = ordered[Math.ceil(position)] ?? Number.NaN;
  return below === above ? below : below + (above - below) * (position - Math.floor(position));
}

export function median(sample: readonly number[]): number {
  return quantile(sample, 0.5);
}

/** @throws RangeError as `quantile`. */
export function summarize(sample: readonly number[]): Summary {
  return {
    count: sample.length,
    lowerQuartile: quantile(sample, 0.25),
    median: median(sample),
    upperQuartile: quantile(sample, 0.75),
  };
}

/** Whether what lies between the quartiles of two samples has a value in common: then neither is said to be better. */
export function isLevel(one: Summary, other: Summary): boolean {
  return one.lowerQuartile <= other.upperQuartile && other.lowerQuartile <= one.upperQuartile;
}

/**
 * The mean for ratios: a half and a double make 1.
 *
 * @throws RangeError on an empty sample or a value that is not above zero.
 */
export function geometricMean(sample: readonly number[]): number {
  if (sample.length === 0) throw new RangeError("Cannot take the geometric mean: the sample is empty");
  const odd = sample.find((value) => !(value > 0 && Number.isFinite(value)));
  if (odd !== undefined)
    throw new RangeError(`Cannot take the geometric mean: ${odd} is not a finite number above zero`);
  return Math.exp(sample.reduce((sum, value) => sum + Math.log(value), 0) / sample.length);
}
