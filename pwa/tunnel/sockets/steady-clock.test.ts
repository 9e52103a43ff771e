import { expect, it } from "vitest";
import { steadyClock } from "../../../shared/clock.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { PROBE_TIMEOUT_MIN, RttEstimator, SocketWatch } from "./socket-keeper.ts";

function clocks() {
  const at = { wall: 1_800_000_000_000, monotonic: 20 };
  const now = steadyClock(
    () => Math.floor(at.wall),
    () => at.monotonic,
  );
  const pass = (time: number): void => {
    at.wall += time;
    at.monotonic += time;
  };
  return { at, now, pass };
}

it("counts on when the clock is set back, and what the device sleeps then", () => {
  const { at, now, pass } = clocks();
  const start = now();
  expect(start).toBe(at.wall);
  pass(1_000);
  at.wall -= 600_000;
  expect(now() - start).toBe(1_000);
  pass(1_000);
  expect(now() - start).toBe(2_000);
  at.wall += 60_000;
  expect(now() - start).toBe(62_000);
});

it("does not run ahead because one clock is rounded", () => {
  const { now, pass } = clocks();
  const start = now();
  for (let call = 0; call < 10_000; call += 1) {
    pass(0.3);
    now();
  }
  expect(now() - start).toBeCloseTo(3_000, 5);
});

it("lets a link be given up as soon as ever after the clock was set back", () => {
  for (const step of [0, -600_000]) {
    const platform = new FakePlatform();
    let set = 0;
    const now = steadyClock(
      () => platform.time + set,
      () => platform.time,
    );
    const rtt = new RttEstimator();
    rtt.guess(300);
    let diedAt: number | null = null;
    const watch = new SocketWatch(
      {
        sendProbe() {},
        onStall() {},
        onDead() {
          diedAt = platform.time;
        },
      },
      { isAwaiting: () => true, uploadDelay: () => 0 },
      { now, setTimer: (task, delay) => platform.setTimer(task, delay) },
      rtt,
    );
    watch.awaiting();
    platform.pass(300);
    watch.heard(false);
    const silentFrom = platform.time;
    set = step;
    watch.awaiting();
    while (diedAt === null && platform.time < 700_000) platform.pass(100);
    expect((diedAt ?? Number.POSITIVE_INFINITY) - silentFrom).toBe(1.5 * PROBE_TIMEOUT_MIN);
  }
});
