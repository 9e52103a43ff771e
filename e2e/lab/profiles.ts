import { join } from "node:path";
import type { LinkSettings } from "./link-settings.ts";

/** Kilobytes of 1,000 full packets: what netem holds unless told otherwise, and so most papers' emulators. */
const THOUSAND_PACKETS = 1_500;

/**
 * Links by name.
 *
 * Mobile links lose next to nothing that TCP could see: the radio repeats what was lost, so bad reception shows as
 * lower rates, gaps (in the traces) and full queues.
 */
const rates = {
  /** GPRSWeb's link: round trip 800 ms, and queues in which seconds of data wait. */
  gprs: { delay: 400, down: 40, up: 11, downQueue: 100, upQueue: 100, loss: 0 },
  "3g": { delay: 150, down: 1_600, up: 768, downQueue: 128, upQueue: 64, loss: 0 },
  /** Queues hold about 200 ms, as is usual in cellular networks. */
  lte: { delay: 35, down: 12_000, up: 5_000, downQueue: 300, upQueue: 125, loss: 0 },
  /** A geostationary satellite; queues hold one bandwidth-delay product. */
  sat: { delay: 300, down: 20_000, up: 3_000, downQueue: 1_500, upQueue: 225, loss: 0 },
} as const satisfies Record<string, LinkSettings>;

/** With rates that come and go as `traces/README.md` says; `down` and `up` are the traces' means. */
export const PROFILES = {
  ...rates,
  "gprs-trace": { ...rates.gprs, trace: traceOf("gprs") },
  "3g-trace": { ...rates["3g"], trace: traceOf("3g") },
  "lte-trace": { ...rates.lte, trace: traceOf("lte") },
} as const satisfies Record<string, LinkSettings>;

export type ProfileName = keyof typeof PROFILES;

/**
 * The link of paper A's first experiment.
 *
 * The paper limited the delay and not the rate. A link in user space is limited by the machine's processor, so results
 * would differ by machine; 20 Mbit/s is far above what a page of 150 small pictures can use over these delays.
 *
 * @param delay milliseconds one way.
 */
export function delayOnly(delay: number): LinkSettings {
  const queues = { downQueue: THOUSAND_PACKETS, upQueue: THOUSAND_PACKETS };
  return { delay, down: 20_000, up: 20_000, ...queues, loss: 0 };
}

/**
 * The links of paper C, {0, 100, 300} ms and {0, 2} %: delay and loss, and the rate of `delayOnly` for its reason.
 *
 * @param delay milliseconds one way.
 * @param loss percent each way.
 */
export function paperC(delay: number, loss: number): LinkSettings {
  return { ...delayOnly(delay), loss };
}

function traceOf(name: string): { readonly down: string; readonly up: string } {
  const path = (direction: string): string => join(import.meta.dirname, "traces", `${name}-${direction}.trace`);
  return { down: path("down"), up: path("up") };
}
