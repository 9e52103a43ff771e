/**
 * What is left out where the platform gives little. Cloudflare's free plan has 10 ms of processor time and 50 subrequests
 * an invocation, which each message of a WebSocket is (developers.cloudflare.com/workers/platform/limits, November 2026);
 * the paid one has 30 s by default, and 10,000. Both have 128 MB. Machines of one's own have no such limits.
 */
export type Plan = "free" | "paid";

export interface PlanFeatures {
  /** The shared cache: looking and storing are subrequests, too. */
  readonly sharesCache: boolean;
  /** Coding against what the phone has: some milliseconds of zstd in wasm, and as many to seal and store what it may need. */
  readonly codesAgainst: boolean;
  /** Pictures anew: tens to hundreds of milliseconds each. */
  readonly recodesPictures: boolean;
  /** Opening a block list: some milliseconds, and to compile it anew each week some hundred. */
  readonly blocksTrackers: boolean;
  /** Count: of a document; all that are announced while one piece of it is read are of one invocation. */
  readonly mostPushes: number;
}

const PLANS: Readonly<Record<Plan, PlanFeatures>> = {
  free: { sharesCache: false, codesAgainst: false, recodesPictures: false, blocksTrackers: false, mostPushes: 24 },
  paid: {
    sharesCache: true,
    codesAgainst: true,
    recodesPictures: true,
    blocksTrackers: true,
    mostPushes: Number.POSITIVE_INFINITY,
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
