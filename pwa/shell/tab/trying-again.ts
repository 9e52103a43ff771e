/** What failed and may pass: when it is loaded again, unasked. */
import { ErrorCode } from "../../../shared/errors.ts";
import type { PageError, TryingAgain } from "../app/state.ts";

/** Nothing but the link between phone and edge stood in the way. The last also ends, by the key that the edge wants. */
const OF_THE_LINK: ReadonlySet<number> = new Set([ErrorCode.LINK_LOST, ErrorCode.OFFLINE, ErrorCode.KEY_NOT_ACCEPTED]);

/** A site, or an edge, that is busy or restarts. */
const MAY_PASS: ReadonlySet<number> = new Set([
  ErrorCode.REFUSED_STREAM,
  ErrorCode.CONNECTION_REFUSED,
  ErrorCode.CONNECTION_RESET,
  ErrorCode.UPSTREAM_TIMEOUT,
  ErrorCode.UPSTREAM_FAILED,
  ErrorCode.EDGE_OFFLINE,
]);

/** Milliseconds. */
const FIRST_PAUSE = 5_000;
/** Five minutes, all together. */
const ATTEMPTS = 6;

/**
 * How a page that failed is loaded again. What a form sent may have arrived: that is not.
 *
 * @param attempts that failed before.
 */
export function tryingAgain({ code, method }: Pick<PageError, "code" | "method">, attempts: number): TryingAgain {
  if (method !== "GET") return "not";
  if (OF_THE_LINK.has(code)) return "with the link";
  return MAY_PASS.has(code) && attempts < ATTEMPTS ? "soon" : "not";
}

/** Milliseconds until the next attempt: twice as long after each that failed before. */
export function pauseAfter(attempts: number): number {
  return FIRST_PAUSE * 2 ** attempts;
}
