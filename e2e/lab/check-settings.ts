import type { LinkSettings } from "./link-settings.ts";
import { PROFILES } from "./profiles.ts";

/** One setting under which the link is checked. */
export interface CheckSetting {
  readonly name: string;
  readonly link: LinkSettings;
  /** Milliseconds of the link's trace: over that time, and over no other, its mean is known. */
  readonly period?: number;
}

/** Queues are short, so that a check does not wait for them: full they take this many milliseconds to drain. */
const DRAIN = 300;

/** KB; a full packet fits. */
const LEAST_QUEUE = 1.6;

/** Delays, rates, profiles, losses and a trace: 30 in all. */
export function checkSettings(): CheckSetting[] {
  return [
    ...[5, 10, 25, 50, 75, 100, 150, 200, 300, 400].map((delay) => setting(`delay ${delay} ms`, { delay })),
    ...[
      [10, 10],
      [100, 25],
      [250, 64],
      [1_000, 500],
      [3_000, 1_000],
      [10_000, 10_000],
      [20_000, 20_000],
    ].map(([down = 0, up = 0]) => setting(`rates ${down}/${up} kbit/s`, { delay: 20, down, up })),
    ...(["gprs", "3g", "lte", "sat"] as const).map((name) => setting(`profile ${name}`, PROFILES[name])),
    ...[0.5, 1, 2, 3, 5].map((loss) => setting(`loss ${loss} %`, { delay: 10, loss })),
    setting("loss 2 % and delay 100 ms", { delay: 100, loss: 2 }),
    setting("loss 2 % at 1,000/500 kbit/s", { delay: 50, loss: 2, down: 1_000, up: 500 }),
    setting("bursts, 2.4 % in all", {
      delay: 10,
      loss: 0,
      burst: { goodToBad: 1, badToGood: 20, lossInBad: 50 },
    }),
    { ...setting("trace lte", PROFILES["lte-trace"]), period: 12_000 },
  ];
}

function setting(name: string, changes: Partial<LinkSettings>): CheckSetting {
  const link = { delay: 10, down: 5_000, up: 5_000, loss: 0, ...changes };
  const queue = (kbit: number): number => Math.max(LEAST_QUEUE, (kbit * DRAIN) / 8 / 1_000);
  return { name, link: { ...link, downQueue: queue(link.down), upQueue: queue(link.up) } };
}
