/** Smoothed round trip time and its variance, as TCP has them (RFC 6298 section 2). Milliseconds. */
const SMOOTHING = 1 / 8;
const VARIANCE_SMOOTHING = 1 / 4;
const VARIANCE_FACTOR = 4;

export class RttEstimator {
  #smoothed: number | null = null;
  #variance = 0;

  /** Null before the first sample. */
  get smoothed(): number | null {
    return this.#smoothed;
  }

  /** What it may be, before the first sample; more than one of it says nothing new. */
  guess(rtt: number): void {
    if (this.#smoothed === null) this.sample(rtt);
  }

  /** No round trip takes longer than this now: an answer to something else came so soon. */
  bound(rtt: number): void {
    if (this.#smoothed === null) this.sample(rtt);
    else if (rtt < this.#smoothed) [this.#smoothed, this.#variance] = [rtt, Math.min(this.#variance, rtt / 2)];
  }

  sample(rtt: number): void {
    if (this.#smoothed === null) {
      this.#smoothed = rtt;
      this.#variance = rtt / 2;
      return;
    }
    this.#variance += (Math.abs(this.#smoothed - rtt) - this.#variance) * VARIANCE_SMOOTHING;
    this.#smoothed += (rtt - this.#smoothed) * SMOOTHING;
  }

  /** After this long without an answer there will be none; `max` before the first sample. */
  timeout(min: number, max: number): number {
    if (this.#smoothed === null) return max;
    return Math.min(max, Math.max(min, this.#smoothed + VARIANCE_FACTOR * this.#variance));
  }
}
