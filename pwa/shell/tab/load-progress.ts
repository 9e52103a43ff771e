/** The progress bar's length from what really happened: requests answered, bytes arrived, bytes announced. */
import type { PageProgress } from "../../messages/tunnel-messages.ts";

/** Shown as soon as a navigation begins, so that the person sees that something happens. */
const STARTED = 0.05;
/** Left for what no byte tells: parsing and painting after the last one. */
const BEFORE_LOADED = 0.95;
/** A page whose document has just begun will ask for more; one open request counts for this many done. */
const EXPECTED_MORE = 4;

/** @returns 0 to 1, never below `previous`. */
export function loadProgress(progress: PageProgress, previous: number | null): number {
  const { requests, requestsDone, originBytes, expectedBytes } = progress;
  const answered = requests === 0 ? 0 : requestsDone / (requests + (requestsDone < 2 ? EXPECTED_MORE : 0));
  const arrived = expectedBytes === 0 ? answered : Math.min(1, originBytes / Math.max(expectedBytes, originBytes, 1));
  const fraction = STARTED + (BEFORE_LOADED - STARTED) * (answered * 0.6 + arrived * 0.4 * Math.min(1, answered * 2));
  return Math.max(previous ?? 0, fraction);
}
