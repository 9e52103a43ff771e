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
