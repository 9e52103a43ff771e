import { expect, it } from "vitest";
import { FakePlatform } from "../testing/fake-platform.ts";
import { PING_INTERVAL, PROBE_TIMEOUT_MAX, PROBE_TIMEOUT_MIN, RttEstimator, SocketWatch } from "./socket-keeper.ts";

/** A watch over a link on which something is always awaited. @param guess of the round trip. */
function rig(guess: number) {
  const platform = new FakePlatform();
  const rtt = new RttEstimator();
  rtt.guess(guess);
  const events: string[] = [];
  const watch = new SocketWatch(
    {
      sendProbe: () => events.push("probe"),
      onStall: (since) => events.push(since === null ? "goes on" : "stall"),
      onDead: () => events.push("dead"),
    },
    { isAwaiting: () => true, uploadDelay: () => 0 },
    platform,
    rtt,
  );
  /** Milliseconds of silence until the link is given up. */
  const silence = (): number => {
    const from = platform.time;
    while (!events.includes("dead")) platform.pass(100);
    return platform.time - from;
  };
  return { platform, rtt, watch, events, silence };
}

it("gives a fast link up within one and a half timeouts of silence", () => {
  const { platform, watch, events, silence } = rig(300);
  watch.awaiting();
  for (let message = 0; message < 20; message += 1) {
    platform.pass(100);
    watch.heard(false);
  }
  expect(events).toEqual([]);
  expect(silence()).toBe(1.5 * PROBE_TIMEOUT_MIN);
});

it("waits longer where messages come far apart, but never for the sake of one long gap", () => {
  for (const [gap, factor] of [
    [1_600, 1.6],
    [1_000_000, 2],
  ] as const) {
    const { platform, watch, silence } = rig(300);
    watch.awaiting();
    for (let message = 0; message < 5; message += 1) {
      platform.time += gap;
      watch.heard(false);
    }
    const timeout = 4 * 1_000 * factor;
    expect(silence()).toBeCloseTo(1.5 * timeout, -3);
  }
});

it("asks after a round trip of silence, and takes an answer for late a round trip and a quarter after that", () => {
  const { platform, rtt, watch, events } = rig(2_000);
  for (let round = 0; round < 20; round += 1) rtt.sample(2_000 + 4_000 * (round % 2));
  const roundTrip = rtt.smoothed ?? 0;
  const timeout = rtt.timeout(PROBE_TIMEOUT_MIN, PROBE_TIMEOUT_MAX);
  expect(timeout).toBeGreaterThan(2.5 * roundTrip);
  watch.awaiting();
  platform.pass(roundTrip - 1);
  expect(events).toEqual([]);
  platform.pass(2);
  expect(events).toEqual(["probe"]);
  platform.pass(1.25 * roundTrip);
  expect(events).toEqual(["probe", "stall"]);
  platform.pass(timeout);
  expect(events).toEqual(["probe", "stall", "dead"]);
});

it("looks into silence as soon as ever after a stall that ended by itself", () => {
  const { platform, rtt, watch, events } = rig(2_000);
  for (let round = 0; round < 20; round += 1) rtt.sample(1_000 + 4_000 * (round % 2));
  watch.awaiting();
  while (!events.includes("stall")) platform.pass(50);
  watch.heard(false);
  // Twice the gap that there was, and no more than half of the timeout that follows from it.
  platform.pass(2 * 2_000 + 100);
  expect(events).toEqual(["probe", "stall", "goes on", "probe"]);
});

it("takes the first answer after quiet for what a round trip cannot exceed", () => {
  const { platform, watch, rtt } = rig(6_000);
  platform.pass(2_000);
  watch.awaiting();
  platform.pass(1_200);
  watch.heard(false);
  expect(rtt.smoothed).toBe(1_200);
});

it("lets what came be handed over before it judges, where a busy device ran its timer late", () => {
  const { platform, watch, events } = rig(300);
  watch.awaiting();
  platform.pass(PROBE_TIMEOUT_MIN / 2);
  expect(events).toEqual(["probe"]);
  for (let round = 0; round < 3; round += 1) {
    platform.sleep(PROBE_TIMEOUT_MIN + 1_000);
    // The answer had come long before, and is handed over behind the timer.
    watch.heard(true);
    platform.pass(PROBE_TIMEOUT_MIN);
  }
  expect(events).not.toContain("dead");
  platform.pass(2 * PING_INTERVAL);
  expect(events.at(-1)).toBe("dead");
});

it("waits no longer because an edge that answers its probes at once had nothing else to say", () => {
  const { platform, watch, events, silence } = rig(300);
  watch.awaiting();
  const asked = (): number => events.filter((event) => event === "probe").length;
  const untilProbe = (): void => {
    const before = asked();
    while (asked() === before) platform.pass(100);
  };
  for (let probe = 0; probe < 5; probe += 1) {
    untilProbe();
    watch.heard(true);
  }
  untilProbe();
  expect(silence()).toBe(PROBE_TIMEOUT_MIN);
});

it("goes by round trips alone after a change of network", () => {
  const { platform, watch, silence } = rig(300);
  watch.awaiting();
  for (let message = 0; message < 5; message += 1) {
    platform.time += 1_900;
    watch.heard(false);
  }
  watch.check(true);
  expect(silence()).toBe(PROBE_TIMEOUT_MIN);
});
