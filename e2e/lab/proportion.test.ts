import { describe, expect, it } from "vitest";
import { seededRandom } from "../demo/random.ts";
import { burstInflation, burstShare, shareInterval } from "./proportion.ts";

describe("shareInterval", () => {
  it("is Wilson's", () => {
    const [low, high] = shareInterval(10, 100);
    expect(low).toBeCloseTo(0.0552, 4);
    expect(high).toBeCloseTo(0.1744, 4);
  });

  it("excludes zero as soon as one was counted, and includes it otherwise", () => {
    expect(shareInterval(0, 1_000)[0]).toBe(0);
    expect(shareInterval(1, 1_000)[0]).toBeGreaterThan(0);
    expect(shareInterval(1_000, 1_000)[1]).toBe(1);
  });
});

describe("a Gilbert-Elliott chain", () => {
  const burst = { goodToBad: 1, badToGood: 20, lossInBad: 50 };

  it("has the mean and the variance that are said of it", () => {
    const random = seededRandom(5);
    const length = 2_000;
    const shares = Array.from({ length: 400 }, () => {
      let bad = false;
      let lost = 0;
      for (let i = 0; i < length; i++) {
        bad = bad ? random() * 100 >= burst.badToGood : random() * 100 < burst.goodToBad;
        if (bad && random() * 100 < burst.lossInBad) lost++;
      }
      return lost / length;
    });
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length;
    const share = burstShare(burst);
    expect(mean / share).toBeCloseTo(1, 1);
    const ratio = variance / ((share * (1 - share)) / length) / burstInflation(burst);
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.25);
  });
});
