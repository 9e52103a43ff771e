/** When it is worth having a session's further channels open: while the person goes somewhere, and for a while after. */
import { limits } from "../../../shared/limits.ts";

export interface ActivityClock {
  now(): number;
  setTimer(task: () => void, delay: number): () => void;
}

/** Milliseconds between two looks at what was measured. */
const LOOK_INTERVAL = 100;

export class ChannelActivity {
  #clock: ActivityClock;
  #onChanged: () => void;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isTimed = false;
  #isLookTimed = false;

  /** @param onChanged nothing was asked for limits.furtherLinkIdleTime, or more may have been measured. */
  constructor(clock: ActivityClock, onChanged: () => void) {
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  get isRecent(): boolean {
    return this.#clock.now() - this.#renewedAt < limits.furtherLinkIdleTime;
  }

  renew(): void {
    this.#renewedAt = this.#clock.now();
    if (!this.#isTimed) this.#watch(limits.furtherLinkIdleTime);
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
      const left = this.#renewedAt + limits.furtherLinkIdleTime - this.#clock.now();
      if (left > 0) this.#watch(left);
      else this.#onChanged();
    }, delay);
  }
}
