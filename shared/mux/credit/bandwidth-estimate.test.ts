/** Credit that follows the link, on simulated links with real sessions. With ROPEWAY_PLOTS=DIR the runs are drawn. */
import { describe, expect, test } from "vitest";
import * as limits from "../../limits.ts";
import { Random } from "../../testing/random.ts";
import { type LinkRun, runLink } from "../../testing/simulation/link-run.ts";
import { BandwidthEstimate } from "./bandwidth-estimate.ts";

const MBIT = 1_000_000;

/** Part of what the link could carry between two times, in ms. */
function utilisation(run: LinkRun, from: number, to: number): number {
  const samples = run.samples.filter(({ time }) => time > from && time <= to);
  return samples.reduce((sum, sample) => sum + sample.carried, 0) / samples.reduce((sum, { could }) => sum + could, 0);
}

/** Mean queue between two times as part of the bandwidth-delay product: what an urgent byte would wait behind. */
function queue(run: LinkRun, from: number, to: number): number {
  const samples = run.samples.filter(({ time }) => time > from && time <= to);
  return samples.reduce((sum, sample) => sum + sample.queue, 0) / samples.length;
}

describe("on a steady link", () => {
  test.each([
    ["3g", 1.6 * MBIT, 300, "cubic"],
    ["3g", 1.6 * MBIT, 300, "bbr"],
    ["lte", 12 * MBIT, 70, "cubic"],
    ["lte", 12 * MBIT, 70, "bbr"],
    ["sat", 20 * MBIT, 600, "bbr"],
    ["wifi", 100 * MBIT, 20, "cubic"],
  ] as const)("%s (%d bit/s, %d ms, %s) it is used up, and the queue stays short", (name, rate, rtt, congestion) => {
    const run = runLink({
      name: `steady-${name}-${congestion}`,
      down: { rate, delay: rtt / 2 },
      congestion,
      for: 30_000,
    });
    expect(utilisation(run, 20_000, 30_000)).toBeGreaterThan(0.95);
    expect(queue(run, 20_000, 30_000)).toBeLessThan(0.25);
  });
});

describe("on a link that changes", () => {
  test.each(["cubic", "fixed"] as const)(
    "to ten times the rate, nine tenths of it are used after 15 round trips (%s)",
    (congestion) => {
      const rate = (now: number): number => (now < 15_000 ? MBIT : 10 * MBIT);
      const run = runLink({
        name: `step-up-${congestion}`,
        down: { rate, delay: 100 },
        congestion,
        for: 25_000,
        congestionWindow: 400_000,
      });
      expect(utilisation(run, 10_000, 15_000)).toBeGreaterThan(0.95);
      expect(utilisation(run, 18_000, 25_000)).toBeGreaterThan(0.9);
      expect(queue(run, 21_000, 25_000)).toBeLessThan(0.25);
    },
  );

  test.each(["cubic", "bbr"] as const)(
    "to a tenth of the rate, what queued up is gone after two more of it (%s)",
    (congestion) => {
      const rate = (now: number): number => (now < 15_000 ? 10 * MBIT : MBIT);
      const run = runLink({
        name: `step-down-${congestion}`,
        down: { rate, delay: 100 },
        congestion,
        for: 25_000,
        congestionWindow: 400_000,
      });
      expect(utilisation(run, 15_500, 25_000)).toBeGreaterThan(0.93);
      expect(queue(run, 22_000, 25_000)).toBeLessThan(0.35);
    },
  );
});

test("a buffer of ten seconds stays empty", () => {
  const down = { rate: MBIT, delay: 50, queueBytes: 1_250_000 };
  const run = runLink({ name: "bufferbloat", down, congestion: "cubic", for: 30_000 });
  expect(utilisation(run, 10_000, 30_000)).toBeGreaterThan(0.9);
  expect(queue(run, 10_000, 30_000)).toBeLessThan(0.5);
});

describe("on a slow link that is far away, with a queue of two seconds, while connections start", () => {
  test.each([
    ["bbr", 1],
    ["bbr", 5],
    ["cubic", 1],
    ["cubic", 5],
  ] as const)("credit does not run away (%s, %d channels)", (congestion, channels) => {
    const down = { rate: MBIT, delay: 300, queueBytes: 250_000 };
    const run = runLink({ name: `start-${congestion}-${channels}`, down, congestion, channels, for: 20_000 });
    expect(Math.max(...run.samples.map(({ window }) => window))).toBeLessThan(4.5);
    expect(queue(run, 3_000, 6_000)).toBeLessThan(0.8);
    expect(queue(run, 7_000, 20_000)).toBeLessThan(0.45);
    expect(queue(run, 10_000, 20_000)).toBeLessThan(0.25);
    expect(utilisation(run, 7_000, 20_000)).toBeGreaterThan(0.93);
  });
});

test.each(["bbr", "cubic"] as const)("on 2G nothing urgent waits for 20 s behind a download (%s)", (congestion) => {
  const down = { rate: 40_000, delay: 400, queueBytes: 60_000 };
  const run = runLink({ name: `2g-${congestion}`, down, up: { rate: 11_000, delay: 400 }, congestion, for: 60_000 });
  expect(queue(run, 0, 20_000)).toBeLessThan(15);
  expect(queue(run, 40_000, 60_000)).toBeLessThan(1.5);
  expect(utilisation(run, 40_000, 60_000)).toBeGreaterThan(0.9);
});

test.each([
  [100, 20],
  [200, 100],
])("a radio that sends in bursts (every %d ms for %d) is used up", (period, open) => {
  const down = { rate: 4 * MBIT, delay: 50, burst: { period, open } };
  const run = runLink({ name: `bursty-${period}`, down, congestion: "bbr", for: 25_000 });
  expect(utilisation(run, 10_000, 25_000)).toBeGreaterThan(0.93);
  expect(queue(run, 10_000, 25_000)).toBeLessThan(2.5);
});

describe("what is left when a download is given up", () => {
  test.each([100, 300, 600])("is at most 1.2 of the bandwidth-delay product (1 Mbit/s, %d ms)", (rtt) => {
    const run = runLink({ name: "abort", down: { rate: MBIT, delay: rtt / 2 }, congestion: "cubic", for: 30_000 });
    expect(run.abort() / ((MBIT / 8000) * rtt)).toBeLessThan(1.2);
  });

  // What one channel's loss holds back comes at once, while the others go on.
  test.each([
    [3, 100],
    [5, 100],
    [3, 300],
    [5, 300],
  ])("is as little where %d channels share a queue of two seconds (%d ms)", (channels, rtt) => {
    const down = { rate: MBIT, delay: rtt / 2, queueBytes: 250_000 };
    const run = runLink({ name: `abort-${channels}-${rtt}`, down, congestion: "cubic", channels, for: 20_000 });
    expect(run.abort() / ((MBIT / 8000) * rtt)).toBeLessThan(1.2);
  });
});

describe("where credit takes longer to come round than pings do", () => {
  /** Of the rate that the link carries. Credit comes round in a time that changes from one round trip to the next. */
  function share(pings: [number, number], rounds: [number, number], rate: number, seed: number): number {
    const random = new Random(seed);
    const between = ([least, most]: [number, number]): number => least + (random.uint32() / 2 ** 32) * (most - least);
    const estimate = new BandwidthEstimate(limits.initialSessionCreditBytes, limits.sessionCreditBytes);
    let [delivered, nextPing, answer, time] = [0, 0, Number.POSITIVE_INFINITY, between(rounds)];
    let sentAt = 0;
    for (let now = 0; now < 60_000; now += 1) {
      if (now >= answer) {
        estimate.ponged(now, true, answer - sentAt);
        answer = Number.POSITIVE_INFINITY;
        nextPing = Math.max(now, sentAt + 10);
      }
      if (answer === Number.POSITIVE_INFINITY && now >= nextPing) {
        estimate.pinged(now, estimate.window);
        [sentAt, answer] = [now, now + between(pings)];
      }
      if (now % Math.round(rounds[0]) === 0) time = between(rounds);
      const bytes = Math.min(rate, estimate.window / time);
      delivered += bytes;
      estimate.arrived(bytes, now);
    }
    return delivered / (60_000 * rate);
  }

  test.each([
    ["a browser on the edge's machine", [1.5, 4], [3, 7], 40_000, 0.95],
    ["a radio that jitters", [60, 80], [70, 90], 1500, 0.85],
    ["pings that pass the rest by", [60, 62], [72, 80], 1500, 0.85],
    ["a long link", [200, 230], [230, 260], 1000, 0.75],
    ["a device that is busy every now and then", [3, 40], [10, 60], 10_000, 0.6],
  ] as const)("%s (%j ms, %j ms) is used all the same", (_, pings, rounds, rate, least) => {
    const shares = [1, 2, 3, 4, 5].map((seed) => share([...pings], [...rounds], rate, seed));
    expect(shares.toSorted((left, right) => left - right)[2]).toBeGreaterThan(least);
  });
});

describe("arithmetic", () => {
  const initial = limits.initialSessionCreditBytes;

  /** Arrivals every 10 ms of `bytes` each, and a ping answered every `rtt` ms. */
  function feed(estimate: BandwidthEstimate, from: number, to: number, bytes: number, rtt: number): void {
    let ping: number | null = null;
    for (let now = from; now < to; now += 10) {
      if (ping !== null && now >= ping + rtt) {
        estimate.ponged(now, true);
        ping = null;
      }
      if (ping === null) {
        estimate.pinged(now, estimate.window);
        ping = now;
      }
      estimate.arrived(bytes, now);
    }
  }

  test("begins with what it was given, and knows nothing", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    expect(estimate.window).toBe(initial);
    expect(estimate.estimate).toMatchObject({ rate: 0, minRtt: null, rtt: null, fullRate: null });
  });

  test("holds to what it was given until a round trip is known", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    estimate.pinged(0, initial);
    for (let now = 0; now < 10_000; now += 10) estimate.arrived(100 * 1.1 ** Math.floor(now / 500), now);
    expect(estimate.estimate.minRtt).toBeNull();
    expect(estimate.window).toBeGreaterThanOrEqual(initial);
  });

  test("comes to 110 % of bandwidth times round trip", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 10_000, 1000, 200);
    expect(estimate.estimate).toMatchObject({ rate: 100, minRtt: 200 });
    expect(estimate.window / 20_000).toBeGreaterThan(1.09);
    expect(estimate.window / 20_000).toBeLessThan(1.15);
  });

  test("never goes above the most, nor below the least", () => {
    const wide = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(wide, 0, 10_000, 1_000_000, 600);
    expect(wide.window).toBe(limits.sessionCreditBytes);
    const narrow = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(narrow, 0, 10_000, 1, 100);
    expect(narrow.window).toBe(limits.leastSessionCreditBytes);
  });

  test("takes a sender with nothing to send for no slow link", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 5000, 1000, 200);
    const { window } = estimate;
    for (let now = 5000; now < 15_000; now += 200) {
      estimate.pinged(now, window);
      estimate.arrived(10, now);
      estimate.ponged(now + 200, false);
    }
    expect(estimate.window).toBe(window);
    expect(estimate.estimate.rate).toBe(100);
  });

  test("goes on with the window but forgets the measures on another link", () => {
    let estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 5000, 1000, 200);
    const { window } = estimate;
    estimate = estimate.restarted();
    expect(estimate.window).toBe(window);
    expect(estimate.estimate).toMatchObject({ rate: 0, minRtt: null });
    feed(estimate, 60_000, 70_000, 1000, 800);
    expect(estimate.estimate).toMatchObject({ rate: 100, minRtt: 800 });
  });

  test("allows for three seconds where that is what round trips take", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 60_000, 1000, 3000);
    expect(estimate.window / 300_000).toBeGreaterThan(1.09);
  });

  test("does not grow on a first round trip of five seconds, which stood in a queue", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    estimate.pinged(0, initial);
    estimate.ponged(5000, false);
    for (let now = 5000; now < 65_000; now += 6000) feed(estimate, now, now + 6000, 4 * 6, 6000);
    expect(estimate.window).toBeLessThan(initial);
  });

  test("lets go of what it had on the last link where the next is 2G", () => {
    let estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 5000, 1000, 100);
    estimate = estimate.restarted();
    feed(estimate, 60_000, 68_000, 50, 1000);
    expect(estimate.window).toBeLessThan(limits.initialSessionCreditBytes / 4);
  });

  test.each([150, 400])("falls for no pause of %d ms at the end of a start with one late answer", (pause) => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    let now = 0;
    const receive = (messages: number, time: number): void => {
      for (let message = 0; message < messages; message += 1) {
        now += time / messages;
        estimate.arrived(1_400, now);
      }
    };
    estimate.pinged(0, initial);
    now = 100;
    estimate.ponged(now, false);
    receive(10, 100);
    estimate.pinged(now, estimate.window);
    receive(20, 100);
    receive(40, 100);
    receive(40, 80);
    estimate.ponged(now, false, 280);
    const before = estimate.window;
    now += pause;
    receive(3, 30);
    now += pause;
    receive(2, 100);
    expect(estimate.window).toBeGreaterThanOrEqual(before);
  });

  test("believes a longer round trip once less credit did not shorten it", () => {
    const estimate = new BandwidthEstimate(initial, limits.sessionCreditBytes);
    feed(estimate, 0, 5000, 1000, 100);
    // The sender gets as much through as its credit allows in the longer time.
    for (let now = 5000; now < 20_000; ) {
      const bytes = Math.min(1000, estimate.window / 60);
      feed(estimate, now, now + 1200, bytes, 600);
      now += 1200;
    }
    expect(estimate.estimate.minRtt).toBeGreaterThan(500);
    expect(estimate.window).toBeGreaterThan(50_000);
  });
});
