import type { Frame } from "@playwright/test";

/** Milliseconds since 1970, by the browser's clock. */
export interface PaintTimes {
  readonly firstContentfulPaint: number | null;
  readonly largestContentfulPaint: number | null;
  /** End of the load event. */
  readonly load: number;
  /** As of `Visit`. */
  readonly complete: number;
}

/** Waits for the end of the load event of the document in the frame, and reads what it says of itself. */
export async function readPaintTimes(frame: Frame): Promise<PaintTimes> {
  return frame.evaluate(async () => {
    const navigation = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
    while (navigation.loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // Largest contentful paints are told to observers only, and those that were are told at once.
    const largest = await new Promise<number | null>((resolve) => {
      const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? null));
      observer.observe({ type: "largest-contentful-paint", buffered: true });
      setTimeout(() => resolve(null), 200);
    });
    const first = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    const { timeOrigin } = performance;
    const ends = performance
      .getEntriesByType("resource")
      .map((each) => (each as PerformanceResourceTiming).responseEnd);
    return {
      firstContentfulPaint: first === undefined ? null : timeOrigin + first,
      largestContentfulPaint: largest === null ? null : timeOrigin + largest,
      load: timeOrigin + navigation.loadEventEnd,
      complete: timeOrigin + Math.max(navigation.loadEventEnd, ...ends),
    };
  });
}
