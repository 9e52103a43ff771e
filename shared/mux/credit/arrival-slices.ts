/**
 * Arrivals of a session's bytes in slices of about a round trip: how fast they came, and how evenly. A gap that the bytes
 * themselves do not explain is either the sender's, who had nothing to send, or the link's, which lost a segment or slept;
 * then what it held back comes at once. Arithmetic only: the clock is passed in.
 */

/** Parts of a slice: a gap is so long without a byte; after that, what was held back comes within so long. */
const GAP_PART = 0.25;
const JUMP_PART = 0.125;
/** The rate over so many slices is a lasting one. */
const LASTING_SLICES = 4;

interface Slice {
  readonly bytes: number;
  /** Milliseconds. */
  readonly time: number;
  /** The longest time without a byte that the bytes themselves do not explain, in ms. */
  readonly gap: number;
  /** How far ahead of the best rate the bytes ran after such a gap, in ms: what they had fallen behind on the link. */
  readonly stall: number;
}

export interface EndedSlice extends Slice {
  /** The largest of this slice and the one before. */
  readonly worst: { readonly gap: number; readonly stall: number };
  /** Bytes per ms in these two. */
  readonly rate: number;
  /** By how much it was faster than the one before. */
  readonly rise: number;
  /**
   * Over the last LASTING_SLICES: long enough to have what one channel's loss held back together with the time that it
   * was held back.
   */
  readonly lastingRate: number;
}

export class ArrivalSlices {
  #start: number | null = null;
  #lastArrival = 0;
  #bytes = 0;
  #gap = 0;
  #stall = 0;
  /** Since when a slice that is over is kept open for what a gap held back; null where none is. */
  #heldSince: number | null = null;
  /** Bytes that came sooner than at the best rate, as a bucket that leaks at that rate. */
  #ahead = 0;
  #gapEnd = Number.NEGATIVE_INFINITY;
  #jump = 0;
  #last: Slice[] = [];
  /** Bytes per ms of the last two slices. By it one reckons how long the bytes of a message have been coming. */
  #recentRate = 0;

  /** The gap in the slice that goes on, in ms. */
  get gap(): number {
    return this.#gap;
  }

  /** Bytes of the slice that goes on, or of the one before if those are more. */
  get bytes(): number {
    return Math.max(this.#bytes, this.#last.at(-1)?.bytes ?? 0);
  }

  /** The most that came at once after a gap, in ms of the best rate, since that was last taken. */
  get jump(): number {
    return this.#jump;
  }

  takeJump(): number {
    const jump = this.#jump;
    this.#jump = 0;
    return jump;
  }

  /**
   * Bytes came at `now` (ms).
   *
   * @param link its best rate in bytes per ms, 0 if it is not known; how long a slice is to be, in ms; and by what
   *   ratio a rate may be above the best without being ahead of it.
   * @returns false for the first: how long they took nobody knows.
   */
  add(bytes: number, now: number, link: { rate: number; sliceTime: number; tolerance: number }): boolean {
    const { rate, sliceTime, tolerance } = link;
    const since = now - this.#lastArrival;
    this.#lastArrival = now;
    if (this.#start === null) {
      this.#start = now;
      return false;
    }
    this.#gap = Math.max(this.#gap, since - (this.#recentRate > 0 ? bytes / this.#recentRate : 0));
    this.#ahead = Math.max(0, this.#ahead - tolerance * rate * since);
    if (rate > 0) this.#stall = Math.max(this.#stall, this.#ahead / rate);
    if (since > GAP_PART * sliceTime) {
      this.#gapEnd = now;
      // What a gap held back comes at once: in the gap's slice, or in the next one it would look like a better link.
      if (now - this.#start >= sliceTime) this.#heldSince ??= now;
    }
    // A sender's burst takes as long as the link needs for it; what one lost segment held back comes at once.
    if (rate > 0 && now - this.#gapEnd < JUMP_PART * sliceTime) this.#jump = Math.max(this.#jump, this.#ahead / rate);
    this.#ahead += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** The slice that goes on, if it is over. */
  takeEnded(now: number, sliceTime: number): EndedSlice | null {
    const isHeld = this.#heldSince !== null && now - this.#heldSince < JUMP_PART * sliceTime;
    if (this.#start === null || isHeld || now - this.#start < sliceTime) return null;
    const slice: Slice = { bytes: this.#bytes, time: now - this.#start, gap: this.#gap, stall: this.#stall };
    const previous = this.#last.at(-1) ?? slice;
    this.#last.push(slice);
    if (this.#last.length > LASTING_SLICES) this.#last.shift();
    this.#start = now;
    this.#heldSince = null;
    this.#bytes = 0;
    this.#gap = 0;
    this.#stall = 0;
    this.#recentRate = rateOf([previous, slice]);
    return {
      ...slice,
      worst: { gap: Math.max(slice.gap, previous.gap), stall: Math.max(slice.stall, previous.stall) },
      rate: this.#recentRate,
      rise: rateOf([slice]) / rateOf([previous]),
      lastingRate: rateOf(this.#last),
    };
  }

  /** Nothing is expected any more: the time until the next arrival says nothing about the link. */
  clear(): void {
    this.#start = null;
    this.#heldSince = null;
    this.#bytes = 0;
    this.#gap = 0;
    this.#stall = 0;
    this.#ahead = 0;
    this.#last = [];
    this.#recentRate = 0;
  }
}

/** Bytes per ms. */
function rateOf(slices: readonly Slice[]): number {
  const [bytes, time] = slices.reduce(([b, t], each) => [b + each.bytes, t + each.time], [0, 0]);
  return bytes / time;
}
