/** Numbers as a person reads them. */

/** A unit fit for the size of the numbers it is used for: 4,210 ms are 4.21 s. */
export interface Scale {
  /** Empty for counts. */
  readonly unit: string;
  /** What a number in the metric's own unit is divided by. */
  readonly divisor: number;
}

const STEPS: Readonly<Record<string, readonly Scale[]>> = {
  ms: [
    { unit: "s", divisor: 1000 },
    { unit: "ms", divisor: 1 },
    { unit: "µs", divisor: 1e-3 },
  ],
  s: [
    { unit: "s", divisor: 1 },
    { unit: "ms", divisor: 1e-3 },
    { unit: "µs", divisor: 1e-6 },
  ],
  B: [
    { unit: "MB", divisor: 1e6 },
    { unit: "kB", divisor: 1e3 },
    { unit: "B", divisor: 1 },
  ],
  "Mbit/s": [
    { unit: "Gbit/s", divisor: 1e3 },
    { unit: "Mbit/s", divisor: 1 },
    { unit: "kbit/s", divisor: 1e-3 },
  ],
  "kbit/s": [
    { unit: "Gbit/s", divisor: 1e6 },
    { unit: "Mbit/s", divisor: 1e3 },
    { unit: "kbit/s", divisor: 1 },
  ],
};

/** @param largest the largest of the numbers that share the scale, in the metric's unit. */
export function scaleFor(unit: string, largest: number): Scale {
  const steps = STEPS[unit === "bytes" ? "B" : unit];
  if (steps === undefined) return { unit, divisor: 1 };
  const fitting = steps.find(({ divisor }) => Math.abs(largest) >= divisor) ?? steps.at(-1);
  return largest === 0 ? { unit: unit === "bytes" ? "B" : unit, divisor: 1 } : (fitting ?? { unit, divisor: 1 });
}

/** Three significant digits, thousands parted by commas, no unit. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  if (Number.isInteger(value)) return String(value);
  return size >= 10 ? value.toFixed(1) : size >= 0.1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

export function formatScaled(value: number, { divisor }: Scale): string {
  return formatNumber(value / divisor);
}

/** With its unit, in the scale that fits: `formatQuantity(4210, "ms")` is "4.21 s". */
export function formatQuantity(value: number, unit: string): string {
  const scale = scaleFor(unit, value);
  return withUnit(formatScaled(value, scale), scale.unit);
}

/** A round number: no zeros at the end that say nothing. */
export function formatTick(value: number, unit: string, scale: Scale = scaleFor(unit, value)): string {
  return withUnit((value / scale.divisor).toLocaleString("en-US", { maximumSignificantDigits: 3 }), scale.unit);
}

function withUnit(number: string, unit: string): string {
  return unit === "" ? number : `${number}\u00a0${unit}`;
}
