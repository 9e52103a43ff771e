import { type Clock, monotonicClock } from "../../../shared/clock.ts";

export interface PoolBounds {
  /** Contexts in use at once. A body that comes later waits... */
  readonly most: number;
  /**
   * ...until one is free, or none has made a step for PATIENCE, since a page may never read its bodies. So many
   * contexts are all that there can be.
   */
  readonly mostStalled: number;
}

/** Milliseconds. */
const PATIENCE = 1000;

/** How many contexts of decoders may be in use: each holds its window. */
export class ContextPool {
  readonly #bounds: PoolBounds;
  readonly #clock: Clock;
  #used = 0;
  #steppedAt = 0;
  #queue: (() => void)[] = [];

  constructor(bounds: PoolBounds, clock: Clock = monotonicClock) {
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** Settles when one more may be in use. */
  async take(): Promise<void> {
    const { most, mostStalled } = this.#bounds;
    for (
      let left = PATIENCE;
      this.#used >= mostStalled || (this.#used >= most && left > 0);
      left = this.#patienceLeft
    ) {
      await this.#released(Math.max(left, 1));
    }
    this.#used += 1;
  }

  release(): void {
    this.#used -= 1;
    for (const resolve of this.#queue.splice(0)) resolve();
  }

  /** One of them goes on. */
  stepped(): void {
    this.#steppedAt = this.#clock.now();
  }

  /** One is released, or so many ms are over; where no time helps, one is released. */
  #released(within: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#used < this.#bounds.mostStalled) this.#queue.push(this.#clock.setTimer(resolve, within));
      this.#queue.push(resolve);
    });
  }

  get #patienceLeft(): number {
    return this.#steppedAt + PATIENCE - this.#clock.now();
  }
}
