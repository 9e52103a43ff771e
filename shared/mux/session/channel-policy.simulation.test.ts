/** The number of channels that the policy chooses, beside fixed ones, over many seeds. */
import { describe, expect, test } from "vitest";
import { loadPage, randomPage } from "../../testing/simulation/page-load.ts";

describe.each([
  ["lossy", { rate: 12e6, delay: 100, loss: 0.02 }, 7],
  ["lossy satellite", { rate: 12e6, delay: 300, loss: 0.02 }, 21],
  ["lte", { rate: 12e6, delay: 35 }, 5],
  ["3g", { rate: 1.6e6, delay: 150 }, 5],
  ["satellite", { rate: 20e6, delay: 300 }, 5],
] as const)("on a simulated link (%s)", (_name, down, runs) => {
  test("the policy's page is within a tenth of that of the best fixed number", () => {
    const median = (channels: number | null): number => {
      const times = Array.from({ length: runs }, (_, run) =>
        loadPage({ down, congestion: "cubic", channels, seed: run + 1 }, randomPage(run + 1)),
      );
      return times.toSorted((left, right) => left - right)[runs >> 1] as number;
    };
    const best = Math.min(...[1, 3, 5].map(median));
    expect(median(null) / best).toBeLessThan(1.1);
  });
});
