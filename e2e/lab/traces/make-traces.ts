/** Makes the traces beside this file: `node e2e/lab/traces/make-traces.ts`. What they are is in README.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "../../demo/random.ts";

/** Bytes of one delivery opportunity (Mahimahi). */
const OPPORTUNITY = 1_500;

/** How a radio link's rate comes and goes. */
export interface TraceModel {
  readonly seconds: number;
  /** Mean over the whole trace, outages included; kilobits per second. */
  readonly kbit: number;
  /** Slow fading: the rate's logarithm wanders about its mean. */
  readonly fading: {
    /** Standard deviation of the natural logarithm. */
    readonly deviation: number;
    /** Milliseconds after which 1/e of a deviation is left. */
    readonly coherence: number;
  };
  /** Mean milliseconds between outages, and of their length; both are distributed exponentially. */
  readonly outages: { readonly every: number; readonly length: number };
  /** Milliseconds of the radio's scheduling interval: data leaves at its end. */
  readonly interval: number;
}

const gprs = {
  seconds: 60,
  fading: { deviation: 0.35, coherence: 2_000 },
  outages: { every: 20_000, length: 2_000 },
  interval: 20,
};
const threeG = {
  seconds: 30,
  fading: { deviation: 0.5, coherence: 400 },
  outages: { every: 10_000, length: 300 },
  interval: 10,
};
const lte = {
  seconds: 12,
  fading: { deviation: 0.6, coherence: 150 },
  outages: { every: 4_000, length: 60 },
  interval: 1,
};

/** Both directions of a link have the same seed: fading and outages are of the place, and hit both. */
export const SHIPPED: Readonly<Record<string, { readonly model: TraceModel; readonly seed: number }>> = {
  "gprs-down": { model: { ...gprs, kbit: 40 }, seed: 1 },
  "gprs-up": { model: { ...gprs, kbit: 11 }, seed: 1 },
  "3g-down": { model: { ...threeG, kbit: 1_600 }, seed: 2 },
  "3g-up": { model: { ...threeG, kbit: 768 }, seed: 2 },
  "lte-down": { model: { ...lte, kbit: 12_000 }, seed: 3 },
  "lte-up": { model: { ...lte, kbit: 5_000 }, seed: 3 },
};

/** @returns a file in Mahimahi's packet-delivery format. */
export function makeTrace(model: TraceModel, seed: number): string {
  const total = model.seconds * 1_000;
  const capacity = capacityByMillisecond(model, seed);
  const sum = capacity.reduce((before, now) => before + now, 0);
  const opportunities = Math.round((model.kbit * model.seconds * 1_000) / 8 / OPPORTUNITY);
  const lines: number[] = [];
  let passed = 0;
  for (const [millisecond, share] of capacity.entries()) {
    passed += share;
    const end = Math.ceil((millisecond + 1) / model.interval) * model.interval;
    while (lines.length < opportunities - 1 && lines.length + 1 <= (passed / sum) * opportunities) lines.push(end);
  }
  // The last line is also the period after which the trace repeats.
  while (lines.length < opportunities) lines.push(total);
  return `${lines.join("\n")}\n`;
}

/** What the radio could carry in each millisecond, in a unit of its own. */
function capacityByMillisecond(model: TraceModel, seed: number): number[] {
  const random = seededRandom(seed);
  const { deviation, coherence } = model.fading;
  const keep = Math.exp(-1 / coherence);
  const spread = Math.sqrt(1 - keep * keep);
  let level = 0;
  let up = true;
  let left = exponential(random, model.outages.every);
  return Array.from({ length: model.seconds * 1_000 }, () => {
    level = keep * level + spread * normal(random);
    if (--left <= 0) {
      up = !up;
      left = exponential(random, up ? model.outages.every : model.outages.length);
    }
    return up ? Math.exp(deviation * level) : 0;
  });
}

function exponential(random: () => number, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** The sum of twelve uniform numbers: near enough, and the same on every machine. */
function normal(random: () => number): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}

if (import.meta.main) {
  for (const [name, { model, seed }] of Object.entries(SHIPPED)) {
    writeFileSync(join(import.meta.dirname, `${name}.trace`), makeTrace(model, seed));
  }
}
