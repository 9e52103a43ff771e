import { expect, test } from "vitest";
import { FlightMeter, FRESH_FLIGHT_BYTES } from "./frame-log.ts";

/** Sends frames of 1,000 bytes each and acknowledges them all at once, as a round trip does. */
function roundTrip(meter: FlightMeter, frames: number, left = 0): void {
  for (let frame = 0; frame < frames; frame += 1) meter.sent();
  meter.acknowledged(frames, 1_000 * frames, left);
}

test("a channel begins with what a fresh connection carries, and never comes to less", () => {
  const meter = new FlightMeter();
  expect(meter.bytes).toBe(FRESH_FLIGHT_BYTES);
  roundTrip(meter, 3);
  expect(meter.bytes).toBe(FRESH_FLIGHT_BYTES);
});

test("what arrives in one round trip counts, in however many acknowledgements", () => {
  const meter = new FlightMeter();
  roundTrip(meter, 40);
  expect(meter.bytes).toBe(40_000);
  for (let frame = 0; frame < 60; frame += 1) meter.sent();
  for (let frame = 0; frame < 60; frame += 1) meter.acknowledged(1, 1_000, 0);
  expect(meter.bytes).toBe(60_000);
});

test("a long queue is not a large flight", () => {
  const meter = new FlightMeter();
  // Twenty frames at a time are under way for the whole time, as a connection with that window does.
  for (let frame = 0; frame < 20; frame += 1) meter.sent();
  for (let frame = 0; frame < 200; frame += 1) {
    meter.acknowledged(1, 1_000, 19_000);
    meter.sent();
  }
  expect(meter.bytes).toBeLessThanOrEqual(21_000);
});

test("a page with little to fetch says nothing against the channel, but a backlog does", () => {
  const meter = new FlightMeter(200_000);
  for (let page = 0; page < 20; page += 1) roundTrip(meter, 5);
  expect(meter.bytes).toBe(200_000);
  for (let flight = 0; flight < 60; flight += 1) roundTrip(meter, 30, 300_000);
  expect(meter.bytes).toBe(30_000);
});

test("a new connection begins anew, with what was kept", () => {
  const meter = new FlightMeter(200_000);
  for (let frame = 0; frame < 50; frame += 1) meter.sent();
  meter.acknowledged(10, 10_000, 40_000);
  meter.restart();
  expect(meter.bytes).toBe(FRESH_FLIGHT_BYTES);
  meter.acknowledged(40, 40_000, 0);
  expect(meter.bytes).toBe(40_000);
});

test("what a fresh connection cannot send at once weighs more, until it has carried as much", () => {
  const meter = new FlightMeter();
  expect(meter.load(FRESH_FLIGHT_BYTES)).toBe(1);
  const [half, more] = [meter.load(10_000), meter.load(20_000)];
  expect(more).toBeGreaterThan(4 * half);
  roundTrip(meter, 20);
  expect(meter.load(20_000)).toBe(1);
  expect(meter.load(40_000)).toBe(2);
});
