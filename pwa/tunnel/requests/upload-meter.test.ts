import { expect, it } from "vitest";
import { UPLOAD_DRAIN_TIME, UploadMeter } from "../tunnel.ts";

it("expects nothing of a few bytes, and bounds what it expects of many", () => {
  const meter = new UploadMeter();
  expect([meter.delay(0), meter.delay(500), meter.delay(60_000)]).toEqual([0, 0, 7_500]);
  expect(meter.delay(10_000_000)).toBe(UPLOAD_DRAIN_TIME);
});

it("follows what the edge acknowledges, and does not count pauses", () => {
  const meter = new UploadMeter();
  meter.update(0, 200_000, 0, 100);
  for (let second = 1; second <= 10; second += 1) meter.update(20_000, 200_000 - second * 20_000, second * 1_000, 100);
  expect(meter.delay(100_000)).toBeGreaterThan(4_500);
  expect(meter.delay(100_000)).toBeLessThan(6_000);
  // An hour of nothing, then the same again.
  meter.update(0, 200_000, 3_600_000, 100);
  meter.update(20_000, 180_000, 3_601_000, 100);
  expect(meter.delay(100_000)).toBeLessThan(6_000);
});

it("takes no rate from acknowledgements that come together, and counts their bytes all the same", () => {
  const meter = new UploadMeter();
  meter.update(0, 400_000, 0, 100);
  for (let batch = 1; batch <= 5; batch += 1) {
    const left = 400_000 - batch * 64_000;
    meter.update(32_000, left + 32_000, batch * 3_200, 100);
    meter.update(32_000, left, batch * 3_200 + 3, 100);
  }
  expect(meter.delay(160_000)).toBeGreaterThan(6_500);
  expect(meter.delay(160_000)).toBeLessThan(10_000);
});

it("expects twice the time after a link was lost in an upload, and no more for attempts that led to none", () => {
  const meter = new UploadMeter();
  meter.lost(40_000);
  expect(meter.delay(40_000)).toBe(5_000);
  meter.opened();
  meter.lost(0);
  expect(meter.delay(40_000)).toBe(5_000);
  meter.opened();
  meter.lost(40_000);
  meter.lost(40_000);
  expect(meter.delay(40_000)).toBe(10_000);
});
