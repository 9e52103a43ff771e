import { expect, it } from "vitest";
import { RttEstimator } from "./socket-keeper.ts";

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

it("takes a guess for the first sample only", () => {
  const rtt = new RttEstimator();
  rtt.guess(200);
  rtt.guess(9_000);
  expect(rtt.smoothed).toBe(200);
  rtt.sample(1_000);
  rtt.guess(9_000);
  expect(rtt.smoothed).toBe(300);
});

it("comes down to what a round trip cannot exceed, and never up", () => {
  const rtt = new RttEstimator();
  rtt.guess(6_000);
  rtt.bound(7_000);
  expect(rtt.smoothed).toBe(6_000);
  rtt.bound(1_200);
  expect([rtt.smoothed, rtt.timeout(0, 60_000)]).toEqual([1_200, 3_600]);
});

it("leaves room on a link that varies, and stays between its bounds", () => {
  const rtt = new RttEstimator();
  for (let count = 0; count < 40; count += 1) rtt.sample(count % 2 === 0 ? 500 : 3_000);
  expect(rtt.timeout(0, 60_000)).toBeGreaterThan(5_000);
  expect(rtt.timeout(0, 2_000)).toBe(2_000);
  expect(rtt.timeout(50_000, 60_000)).toBe(50_000);
});
