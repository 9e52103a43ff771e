/** Axes: numbers to places, and the round numbers to label. */

export interface AxisScale {
  readonly ticks: readonly number[];
  /** Numbers outside the domain come out at its ends. */
  place(value: number): number;
}

/** Where several sizes of number have to be seen at once, equal steps are equal factors. */
const FACTOR_FOR_LOGARITHM = 20;

/**
 * @param values all that is drawn.
 * @param factor an axis that starts at zero serves up to here, between the largest and the smallest value.
 */
export function scaleOver(
  values: readonly number[],
  from: number,
  to: number,
  tickCount = 5,
  factor = FACTOR_FOR_LOGARITHM,
): AxisScale {
  const drawn = values.filter((value) => value > 0);
  const largest = Math.max(...drawn, Number.MIN_VALUE);
  const smallest = Math.min(...drawn, largest);
  return values.every((value) => value > 0) && largest / smallest > factor
    ? logarithmicScale(smallest, largest, from, to, tickCount)
    : linearScale(drawn.length === 0 ? 1 : largest, from, to, tickCount);
}

/** From zero to the first round step at or above `largest`. */
export function linearScale(largest: number, from: number, to: number, tickCount = 5): AxisScale {
  const step = niceStep(largest / tickCount);
  const steps = Math.max(1, Math.ceil(largest / step - 1e-9));
  const end = step * steps;
  return {
    ticks: Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12))),
    place: (value) => from + ((to - from) * clamp(value, 0, end)) / end,
  };
}

/** From the 1, 2 or 5 at or below `smallest` to the one at or above `largest`. */
export function logarithmicScale(
  smallest: number,
  largest: number,
  from: number,
  to: number,
  tickCount = 5,
): AxisScale {
  const marks = roundNumbers(smallest, largest, [1, 2, 5]);
  const first = marks[0] ?? smallest;
  const last = marks.length > 1 ? (marks.at(-1) ?? largest) : first * 10;
  const decades = roundNumbers(smallest, largest, [1]).filter((tick) => tick >= first && tick <= last);
  return {
    ticks: marks.length <= tickCount + 2 ? marks : decades.length > 1 ? decades : [first, last],
    place: (value) => from + ((to - from) * Math.log(clamp(value, first, last) / first)) / Math.log(last / first),
  };
}

function roundNumbers(smallest: number, largest: number, mantissas: readonly number[]): number[] {
  const powers = { first: Math.floor(Math.log10(smallest)), last: Math.floor(Math.log10(largest)) + 1 };
  const candidates = Array.from({ length: powers.last - powers.first + 1 }, (_, index) =>
    mantissas.map((mantissa) => Number(`${mantissa}e${powers.first + index}`)),
  ).flat();
  const first = candidates.findLast((tick) => tick <= smallest * (1 + 1e-9)) ?? smallest;
  const last = candidates.find((tick) => tick >= largest * (1 - 1e-9)) ?? largest;
  return candidates.filter((tick) => tick >= first && tick <= last);
}

function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const mantissa = step / power;
  return power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
