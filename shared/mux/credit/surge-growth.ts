/** How a window grows while deliveries surge. */
export interface SurgeGrowth {
  /** The window as a multiple of what came in the last two slices. */
  readonly gain: number;
  /** What each byte adds to the window. */
  readonly step: number;
  /** The window grows to no more than so many times what came in one slice. */
  readonly enough: number;
  /** And to no more than so many times what it was when the last ping left: the answer to that may tell of a queue. */
  readonly most: number;
}

/** Slow start adds as much to TCP's own window, and that began smaller. */
export const EVEN_GROWTH: SurgeGrowth = { gain: 2, step: 1, enough: 4, most: 2 };
/** Under loss nobody sees from here how fast a cold sender grows: what is late holds back what follows. */
export const DISTURBED_GROWTH: SurgeGrowth = { gain: 3, step: 4, enough: 8, most: 3 };
