import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { SimulatedSessions } from "../../testing/simulation/simulated-sessions.ts";
import type { MuxStream } from "../stream/stream.ts";
import { CreditPool } from "./credit.ts";

describe("what a stream gets of the pool", () => {
  test("is what it wants, up to its part of what the others leave", () => {
    const pool = new CreditPool(1600);
    expect([pool.take(0, 100, 1 / 4), pool.take(100, 1000, 1 / 4), pool.take(400, 1, 1 / 4)]).toEqual([100, 300, 0]);
    expect(pool.take(0, 1000, 1 / 4)).toBe(300);
    pool.giveBack(400);
    expect(pool.take(300, 1000, 1 / 4)).toBe(100);
  });

  test("never is all of it, nor less than nothing", () => {
    const takes = fc.record({
      wanted: fc.integer({ min: -5000, max: 5000 }),
      part: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(takes), (all) => {
        const pool = new CreditPool(10_000);
        let taken = 0;
        for (const { wanted, part } of all) {
          const more = pool.take(0, wanted, part);
          expect(more).toBeGreaterThanOrEqual(0);
          taken += more;
          expect(taken).toBeLessThan(10_000);
        }
      }),
    );
  });
});

/** Milliseconds that batches of responses take one after the other, of links that are fast and far away. */
function timeOf(
  batches: readonly (readonly number[])[],
  congestion: "cubic" | "bbr",
  isPoolBoundless: boolean,
): number {
  let sum = 0;
  for (const rtt of [450, 600]) {
    for (const rate of [20_000_000, 40_000_000]) {
      const down = { rate, delay: rtt / 2, queueBytes: (rate / 8000) * rtt };
      const simulation = new SimulatedSessions({ down, congestion });
      const { time, phone } = simulation;
      if (isPoolBoundless)
        vi.spyOn(phone.streams.creditPool, "take").mockImplementation((_, wanted) => Math.max(0, wanted));
      for (const sizes of batches) {
        const started = time.now();
        const responses = sizes.map((size) => simulation.request(size));
        time.runTo(started + 600_000, () => responses.every(({ endAt }) => endAt !== null));
        sum += time.now() - started;
      }
    }
  }
  return sum;
}

test.each([
  ["cubic", "one large response on a cold link", [[6e6]]],
  ["bbr", "one large response on a cold link", [[6e6]]],
  ["cubic", "the first of a warm link", [[6e6], [1e6], [2e6]]],
  ["bbr", "the first of a warm link", [[6e6], [1e6], [2e6]]],
  ["cubic", "many at once", [[6e6], Array<number>(30).fill(2e5), Array<number>(6).fill(1e6)]],
  ["bbr", "many at once", [[6e6], Array<number>(30).fill(2e5), Array<number>(6).fill(1e6)]],
] as const)("bodies that are read are not held back by it (%s, %s)", (congestion, _, batches) => {
  expect(timeOf(batches, congestion, false)).toBeLessThan(1.1 * timeOf(batches, congestion, true));
});

test("uploads that are not read any more leave the others their way, however far the link goes", () => {
  /** Bytes of each upload that are read, in the order in which they begin. */
  const read: number[] = [];
  const serve = (stream: MuxStream): void => {
    const index = read.push(0) - 1;
    stream.handler = {
      onHead() {},
      onData: ({ length }) => {
        // The last is read to its end.
        const most = index < STUCK ? 4e6 : Number.POSITIVE_INFINITY;
        if ((read[index] ?? 0) >= most) return;
        read[index] = (read[index] ?? 0) + length;
        stream.consumed(length);
      },
      onEnd() {},
      onReset() {},
    };
  };
  const link = { rate: 40_000_000, delay: 300, queueBytes: 3e6 };
  const simulation = new SimulatedSessions({ down: link, up: link, serve });
  const { time, phone } = simulation;
  const STUCK = 6;
  for (let index = 0; index <= STUCK; index++) {
    const stream = phone.streams.openNow();
    simulation.act(() => {
      stream.sendHead([[":method", "POST"]], false);
      stream.write(new Uint8Array(6e6)).catch(() => {});
    });
    time.runTo(time.now() + 60_000, () => (read[index] ?? 0) === 6e6);
  }
  expect(read.at(-1)).toBe(6e6);
});
