import { expect, it } from "vitest";
import { limits } from "../../shared/limits.ts";
import { UploadMeter } from "./upload-meter.ts";

it("expects nothing of a few bytes, and bounds what it expects of many", () => {
  const meter = new UploadMeter();
  expect([meter.delay(0), meter.delay(500), meter.delay(60_000)]).toEqual([0, 0, 7_500]);
  expect(meter.delay(10_000_000)).toBe(limits.uploadDrainTime);
});

it("follows what the edge acknowledges, and does not count pauses", () => {
  const meter = new UploadMeter();
  meter.update(0, 200_000, 0);
  for (let second = 1; second <= 10; second += 1)
    meter.update(second * 20_000, 200_000 - second * 20_000, second * 1_000);
  expect(meter.delay(100_000)).toBeGreaterThan(4_500);
  expect(meter.delay(100_000)).toBeLessThan(6_000);
  // An hour of nothing, then the same again.
  meter.update(200_000, 200_000, 3_600_000);
  meter.update(220_000, 180_000, 3_601_000);
  expect(meter.delay(100_000)).toBeLessThan(6_000);
});
