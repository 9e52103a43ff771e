import { describe, expect, test } from "vitest";
import * as limits from "../../limits.ts";
import { loadPage } from "../../testing/simulation/page-load.ts";
import { type ChannelSituation, wantedChannels } from "../session/channel-set.ts";

const unknown: ChannelSituation = {
  fixed: null,
  attached: 1,
  minRtt: null,
  rate: 0,
  fullRate: null,
  stallShare: 0,
};

function wanted(situation: Partial<ChannelSituation>): number {
  return wantedChannels({ ...unknown, ...situation });
}

/** Bytes per ms. */
const MBIT = 125;

describe("the number of channels", () => {
  test("is what the setting says, within the limit", () => {
    expect([1, 3, 0, 99, 2.9].map((fixed) => wanted({ fixed }))).toEqual([1, 3, 1, limits.channels, 2]);
  });

  test("is one as long as nothing is known", () => {
    expect(wanted({})).toBe(1);
  });

  test("is several where a round trip is long and the link has not shown that it is slow", () => {
    expect([5, 70, 300, 600].map((minRtt) => wanted({ minRtt }))).toEqual([1, 5, 5, 5]);
  });

  test("is one on a link so slow that a round trip tells", () => {
    expect(wanted({ minRtt: 850 })).toBe(1);
  });

  test("is as many fresh windows as the link holds one and a half times, once it was full", () => {
    const links = [
      ["gprs", 0.04, 800],
      ["edge", 0.2, 500],
      ["3g", 1.6, 300],
      ["lte", 12, 70],
      ["sat", 20, 600],
    ] as const;
    const numbers = links.map(([name, rate, minRtt]) => [
      name,
      wanted({ minRtt, rate: rate * MBIT, fullRate: rate * MBIT }),
    ]);
    expect(Object.fromEntries(numbers)).toEqual({ gprs: 1, edge: 1, "3g": 3, lte: 5, sat: 5 });
  });

  test("is several where arrivals stall again and again, if the link is worth it", () => {
    const stalling = { minRtt: 200, stallShare: 0.5 };
    expect(wanted({ ...stalling, rate: MBIT, fullRate: MBIT })).toBe(5);
    expect(wanted({ ...stalling, rate: 0.04 * MBIT, fullRate: 0.04 * MBIT })).toBe(1);
  });

  test("falls only when it falls by half", () => {
    const slow = { minRtt: 300, rate: 1.6 * MBIT, fullRate: 1.6 * MBIT };
    expect(wanted({ ...slow, attached: 5 })).toBe(5);
    expect(wanted({ ...slow, attached: 6 })).toBe(3);
  });
});

test("on a link that one window fills, a page takes no longer than on one channel", () => {
  const icons = Array.from({ length: 40 }, () => 1517);
  const settings = { down: { rate: 40e3, delay: 400, queueBytes: 50_000 }, congestion: "cubic", seed: 1 } as const;
  const first = loadPage({ ...settings, channels: 1 }, icons);
  expect(loadPage({ ...settings, channels: null }, icons) / first).toBeLessThan(1.15);
});
