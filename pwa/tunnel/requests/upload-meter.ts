/**
 * How long what was handed to the socket takes to get through, from how fast the edge acknowledged so far. A phone's
 * uplink may have seconds of its own upload queued before anything that is sent now.
 */

/** Milliseconds: most that a probe's answer may lag because an upload is queued before it; 1 MiB at 140 kbit/s. */
export const UPLOAD_DRAIN_TIME = 60_000;

/** Bytes per second that any link has: GPRS, 8 kbit/s. */
const SLOWEST_RATE = 1_000;
/**
 * Bytes per second, assumed before anything was measured. Where the link is slower, it is opened anew once or twice,
 * and the upload goes on there.
 */
const ASSUMED_RATE = 8_000;
/** Bytes: fewer are through in a moment, and say nothing of a rate. */
const WORTH_MEASURING = 4 * 1024;

export class UploadMeter {
  #rate = ASSUMED_RATE;
  /** Bytes acknowledged since `#since`. */
  #bytes = 0;
  #since: number | null = null;
  #isOpen = false;

  /** A link is there. */
  opened(): void {
    this.#isOpen = true;
  }

  /**
   * A link is lost, if there was one.
   *
   * @param outstanding bytes for which it may have been given up: such are expected to take longer on the next.
   */
  lost(outstanding: number): void {
    if (this.#isOpen && outstanding >= WORTH_MEASURING) this.#rate = Math.max(SLOWEST_RATE, this.#rate / 2);
    this.#isOpen = false;
    this.#since = null;
  }

  /**
   * @param acknowledged bytes that the edge has just said to have.
   * @param outstanding bytes that it has not.
   * @param roundTrip what comes within one came together.
   */
  update(acknowledged: number, outstanding: number, now: number, roundTrip: number): void {
    if (this.#since === null) [this.#since, this.#bytes] = [now, 0];
    else this.#bytes += acknowledged;
    const time = now - this.#since;
    if (this.#bytes >= WORTH_MEASURING && time > roundTrip) {
      this.#rate = Math.max(SLOWEST_RATE, (this.#rate + (this.#bytes * 1_000) / time) / 2);
      [this.#since, this.#bytes] = [now, 0];
    }
    if (outstanding < WORTH_MEASURING) this.#since = null;
  }

  /** Milliseconds until `outstanding` bytes are through. */
  delay(outstanding: number): number {
    if (outstanding < WORTH_MEASURING) return 0;
    return Math.min(UPLOAD_DRAIN_TIME, (outstanding * 1_000) / this.#rate);
  }
}
