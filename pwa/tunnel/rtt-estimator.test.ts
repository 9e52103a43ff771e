import { expect, it } from "vitest";
import { RttEstimator } from "./rtt-estimator.ts";

it("knows nothing before the first sample", () => {
  const rtt = new RttEstimator();
  expect([rtt.smoothed, rtt.timeout(10, 1000)]).toEqual([null, 1000]);
});

it("begins at three times the first sample and tightens on a steady link", () => {
  const rtt = new RttEstimator();
  rtt.sample(600);
  expect([rtt.smoothed, rtt.timeout(0, 10_000)]).toEqual([600, 1800]);
  for (let count = 0; count < 40; count += 1) rtt.sample(600);
  expect(rtt.timeout(0, 10_000)).toBeCloseTo(600, 0);
});

it("leaves room on a link that varies, and stays between its bounds", () => {
  const rtt = new RttEstimator();
  for (let count = 0; count < 40; count += 1) rtt.sample(count % 2 === 0 ? 500 : 3_000);
  expect(rtt.timeout(0, 60_000)).toBeGreaterThan(5_000);
  expect(rtt.timeout(0, 2_000)).toBe(2_000);
  expect(rtt.timeout(50_000, 60_000)).toBe(50_000);
});
