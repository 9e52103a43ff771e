/**
 * How much one POST of the fetch road may carry. Only one is under way at a time, so a batch that is too small wastes
 * round trips, and one that takes long holds back acknowledgements and answers to keep-alives, since the edge reads a
 * batch whole before it acts on it.
 */
import * as limits from "../limits.ts";

const FIRST = 64 * 1024;
const SMALLEST = 16 * 1024;
/** Beyond the quickest POST so far, which is the round trip's part. */
const TOO_LONG = 2_000;
const QUICK = 1_000;

export class BatchSize {
  /** Bytes. */
  current = FIRST;
  #quickest = Number.POSITIVE_INFINITY;

  /** @param duration of the POST with its answer, in milliseconds. */
  completed(bytes: number, duration: number): void {
    this.#quickest = Math.min(this.#quickest, duration);
    const sending = duration - this.#quickest;
    if (sending > TOO_LONG) this.current = Math.max(SMALLEST, this.current / 2);
    // A batch that was not full says nothing of larger ones.
    else if (sending < QUICK && bytes > this.current / 2) {
      this.current = Math.min(limits.fetchBatchBytes, this.current * 2);
    }
  }
}
