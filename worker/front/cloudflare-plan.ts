/**
 * What is left out where the platform gives little. Cloudflare's free plan has 10 ms of processor time and 50 subrequests
 * an invocation, which each message of a WebSocket is (developers.cloudflare.com/workers/platform/limits, November 2026);
 * the paid one has 30 s by default, and 10,000. Both have 128 MB. Machines of one's own have no such limits.
 */
export type Plan = "free" | "paid";

export interface PlanFeatures {
  /** The shared cache: to look something up, and to store it, are subrequests, too. */
  readonly sharesCache: boolean;
  /**
   * Coding against what the phone has: some milliseconds of zstd in wasm, and as many to seal and store the bodies for
   * it.
   */
  readonly codesAgainst: boolean;
  /** Coding pictures anew: tens to hundreds of milliseconds each. */
  readonly recodesPictures: boolean;
  /** Block lists: some milliseconds to open one, and some hundred each week to compile it. */
  readonly blocksTrackers: boolean;
  /** All that are announced while one piece of a document is read belong to one invocation. */
  readonly pushes: number;
}

const PLANS: Readonly<Record<Plan, PlanFeatures>> = {
  free: {
    sharesCache: false,
    codesAgainst: false,
    recodesPictures: false,
    blocksTrackers: false,
    pushes: 24,
  },
  paid: {
    sharesCache: true,
    codesAgainst: true,
    recodesPictures: true,
    blocksTrackers: true,
    pushes: Number.POSITIVE_INFINITY,
  },
};

/**
 * @param text ROPEWAY_PLAN.
 * @throws Error that says what to set instead.
 */
export function readPlan(text: string | undefined): PlanFeatures {
  if (!text || text === "paid") return PLANS.paid;
  if (text === "free") return PLANS.free;
  throw new Error(`Cannot start: ROPEWAY_PLAN is "${text}": set it to free or paid, or not at all`);
}
