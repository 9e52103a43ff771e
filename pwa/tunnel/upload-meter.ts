/**
 * How long what was handed to the socket takes to get through, from how fast the edge acknowledged so far. A phone's
 * uplink may have seconds of its own upload queued before anything that is sent now.
 */
import { limits } from "../../shared/limits.ts";

/** Bytes per second that any link has: GPRS, 8 kbit/s. */
const SLOWEST_RATE = 1_000;
/** Assumed before anything was measured: if it is less, the link is opened anew once or twice, and goes on there. */
const ASSUMED_RATE = 8_000;
/** Less than this is through in a moment, and says nothing of a rate. */
const WORTH_MEASURING = 4 * 1024;

export class UploadMeter {
  #rate = ASSUMED_RATE;
  #acknowledged = 0;
  #measuredAt: number | null = null;

  /**
   * @param acknowledged bytes that the edge has said to have, of all that were ever sent; they only grow.
   * @param outstanding bytes that it has not.
   */
  update(acknowledged: number, outstanding: number, now: number): void {
    const bytes = acknowledged - this.#acknowledged;
    if (bytes >= WORTH_MEASURING && this.#measuredAt !== null && now > this.#measuredAt) {
      const rate = (bytes * 1_000) / (now - this.#measuredAt);
      this.#rate = Math.max(SLOWEST_RATE, (this.#rate + rate) / 2);
    }
    if (bytes > 0 || this.#measuredAt === null) this.#measuredAt = now;
    if (outstanding < WORTH_MEASURING) this.#measuredAt = null;
    this.#acknowledged = Math.max(this.#acknowledged, acknowledged);
  }

  /** Milliseconds until `outstanding` bytes are through. */
  delay(outstanding: number): number {
    if (outstanding < WORTH_MEASURING) return 0;
    return Math.min(limits.uploadDrainTime, (outstanding * 1_000) / this.#rate);
  }
}
