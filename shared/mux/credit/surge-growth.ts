/** How a window grows while deliveries surge. */
export interface SurgeGrowth {
  /** Times what came in the last two slices. */
  readonly gain: number;
  /** What each byte adds to the window. */
  readonly step: number;
  /** But to no more than so many times what came in a slice. */
  readonly enough: number;
  /** Times what the window was when the last ping left: its answer, not there yet, may tell of a queue. */
  readonly most: number;
}

/** Slow start adds as much to TCP's own window, and that began smaller. */
export const EVEN_GROWTH: SurgeGrowth = { gain: 2, step: 1, enough: 4, most: 2 };
/** Under loss nobody sees from here how fast a cold sender grows: what is late holds back what follows. */
export const DISTURBED_GROWTH: SurgeGrowth = { gain: 3, step: 4, enough: 8, most: 3 };
