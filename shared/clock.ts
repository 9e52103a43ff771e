/** Where code gets the time from; tests bring a clock of their own. */

export interface Clock {
  /** Milliseconds. Whoever takes a clock says where it begins, and whether it may go back. */
  readonly now: () => number;
  /** @returns what cancels it. */
  readonly setTimer: SetTimer;
}

export type SetTimer = (task: () => void, delay: number) => () => void;

/** By the platform's `setTimeout`. */
export const setTimer: SetTimer = (task, delay) => {
  const timer = setTimeout(task, delay);
  return () => clearTimeout(timer);
};

/** Resolves after so many milliseconds. */
export const pause = (setTimer: SetTimer, delay: number): Promise<void> =>
  new Promise((resolve) => void setTimer(resolve, delay));

/** Milliseconds since the epoch, as the device's clock is set. */
export const epochClock: Clock = { now: () => Date.now(), setTimer };

/** Never goes back. */
export const monotonicClock: Clock = { now: () => performance.now(), setTimer };

/** Clocks that part by less, in milliseconds, are only rounded, or drift. */
const STEP = 1_000;

/**
 * A clock for durations: it counts what the device sleeps, in which `performance.now()` stands still on Linux and
 * Android, and never goes back, as `Date.now()` does when the clock is set.
 */
export function steadyClock(wall: () => number, monotonic: () => number): () => number {
  let difference = 0;
  let ahead = 0;
  return () => {
    const time = monotonic();
    const step = wall() - time - difference;
    if (Math.abs(step) > STEP) {
      difference += step;
      if (step > 0) ahead += step;
    }
    return time + ahead;
  };
}
