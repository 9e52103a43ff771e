import { expect, test } from "vitest";
import * as limits from "../limits.ts";
import { BatchSize } from "../phone-socket.ts";

/** Full batches over a link, after one that was nearly empty. */
function settledSize({ roundTrip, bytesPerMs }: { roundTrip: number; bytesPerMs: number }): number {
  const size = new BatchSize();
  size.completed(100, roundTrip);
  for (let turn = 0; turn < 20; turn += 1) size.completed(size.current, roundTrip + size.current / bytesPerMs);
  return size.current;
}

test("on a fast link a POST carries all it may, however long the round trip", () => {
  for (const roundTrip of [1, 600, 3_000]) {
    expect(settledSize({ roundTrip, bytesPerMs: 1_000 })).toBe(limits.fetchBatchBytes);
  }
});

test("on a slow link a POST is done within seconds", () => {
  // GPRS: 11 kbit/s.
  expect(settledSize({ roundTrip: 800, bytesPerMs: 1.4 })).toBe(16 * 1024);
  // 3G: 768 kbit/s.
  expect(settledSize({ roundTrip: 300, bytesPerMs: 96 }) / 96).toBeLessThan(3_000);
});

test("batches that were not full change nothing", () => {
  const size = new BatchSize();
  const before = size.current;
  for (let turn = 0; turn < 10; turn += 1) size.completed(500, 20);
  expect(size.current).toBe(before);
});
