/** When it is worth having a session's further channels open: while the person goes somewhere, and for a while after. */
import type { Clock } from "../../../shared/clock.ts";

/**
 * Milliseconds: a session's sockets beyond the first are closed when nothing was asked for so long: about one page's
 * reading.
 */
export const FURTHER_LINK_IDLE_TIME = 120_000;

/** Milliseconds between two looks at what was measured. */
const LOOK_INTERVAL = 100;

export class ChannelActivity {
  #clock: Clock;
  #onChanged: () => void;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isTimed = false;
  #isLookTimed = false;

  /** @param onChanged nothing was asked for FURTHER_LINK_IDLE_TIME, or more may have been measured. */
  constructor(clock: Clock, onChanged: () => void) {
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  get isRecent(): boolean {
    return this.#clock.now() - this.#renewedAt < FURTHER_LINK_IDLE_TIME;
  }

  renew(): void {
    this.#renewedAt = this.#clock.now();
    if (!this.#isTimed) this.#watch(FURTHER_LINK_IDLE_TIME);
  }

  /** Something was measured: `onChanged` is called, now or soon, not more often than is of use. */
  measured(): void {
    if (this.#isLookTimed) return;
    const left = this.#lookedAt + LOOK_INTERVAL - this.#clock.now();
    if (left <= 0) return this.#look();
    this.#isLookTimed = true;
    this.#clock.setTimer(() => {
      this.#isLookTimed = false;
      this.#look();
    }, left);
  }

  #look(): void {
    this.#lookedAt = this.#clock.now();
    this.#onChanged();
  }

  #watch(delay: number): void {
    this.#isTimed = true;
    this.#clock.setTimer(() => {
      this.#isTimed = false;
      const left = this.#renewedAt + FURTHER_LINK_IDLE_TIME - this.#clock.now();
      if (left > 0) this.#watch(left);
      else this.#onChanged();
    }, delay);
  }
}
