import type { RunFailure } from "./model.ts";

/** A fault of the bench itself: nothing is said about what it measures. */
export class HarnessError extends Error {}

/** A fault of what is measured: a page that does not load whole, or not in time. */
export class ContestantError extends Error {}

/**
 * Who is to blame. Whoever threw says so by the error's class (while a page loads, `inTime` does); any other error is one
 * of the bench's own code.
 */
export function asRunFailure(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { blame: error instanceof ContestantError ? "contestant" : "harness", message: message.slice(0, 500) };
}
