/** Credit that follows a lossy link, beside all the credit there is, over many seeds. */
import { expect, test } from "vitest";
import { runLink } from "../../testing/simulation/link-run.ts";

const MBIT = 1_000_000;

test.each([
  // Median of the ratios; a cold BBR on a lossy satellite grows faster than anyone can see from the other end.
  ["cubic", 200, 0.93],
  ["bbr", 200, 0.92],
  ["cubic", 600, 0.92],
  ["bbr", 600, 0.8],
] as const)(
  "two lost of a hundred (%s, %d ms) make it no slower than all the credit there is",
  (congestion, rtt, least) => {
    const ratios = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((seed) => {
      const settings = {
        name: "loss",
        down: { rate: 12 * MBIT, delay: rtt / 2, loss: 0.02 },
        congestion,
        seed,
        for: 20_000,
      };
      return runLink(settings).delivered / runLink({ ...settings, credit: "fixed" }).delivered;
    });
    const median = ratios.toSorted((left, right) => left - right)[4];
    expect(median).toBeGreaterThan(least);
  },
);
