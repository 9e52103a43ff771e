/**
 * For how long requests have waited without a link. Counts only while the app runs: what a phone slept through is no
 * time that anybody waited.
 */
import type { Clock } from "../../../shared/clock.ts";
import { FROZEN_AFTER } from "./socket-watch.ts";

const TICK = 1_000;

export class LinkPatience {
  #clock: Clock;
  #onTick: () => void;
  #waited = 0;
  #lastTick = 0;
  #cancelTimer: (() => void) | null = null;

  /** @param onTick called every second while there is no link. */
  constructor(clock: Clock, onTick: () => void) {
    this.#clock = clock;
    this.#onTick = onTick;
  }

  /** Milliseconds without a link so far, of all times together. */
  get waited(): number {
    return this.#waited;
  }

  /** The link is gone: time counts until `stop`. */
  start(): void {
    if (this.#cancelTimer !== null) return;
    this.#lastTick = this.#clock.now();
    this.#schedule();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #schedule(): void {
    this.#cancelTimer = this.#clock.setTimer(() => {
      const now = this.#clock.now();
      const passed = now - this.#lastTick;
      this.#lastTick = now;
      this.#waited += passed > TICK + FROZEN_AFTER ? TICK : passed;
      this.#schedule();
      this.#onTick();
    }, TICK);
  }
}
