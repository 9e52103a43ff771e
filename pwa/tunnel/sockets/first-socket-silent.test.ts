import { describe, expect, it } from "vitest";
import { KEEP_ALIVE } from "../../../shared/subprotocol.ts";
import { PING_INTERVAL, PROBE_TIMEOUT_MAX, PROBE_TIMEOUT_MIN } from "./socket-keeper.ts";
import { firstSocketRig } from "./testing/first-socket-rig.ts";

describe("a link that is silent", () => {
  it("is kept alive, and a busy one without a word", () => {
    const { platform, first, context, open } = firstSocketRig();
    open();
    for (let time = 0; time < 100_000; time += 5_000) {
      platform.pass(5_000);
      platform.socket.receive(new ArrayBuffer(1));
    }
    expect(platform.socket.sent).toEqual([]);
    platform.pass(PING_INTERVAL);
    expect(platform.socket.sent).toEqual([KEEP_ALIVE]);
    platform.socket.receive(KEEP_ALIVE);
    expect([context.traffic.keepAliveBytesUp, context.traffic.keepAliveBytesDown]).toEqual([
      KEEP_ALIVE.length,
      KEEP_ALIVE.length,
    ]);
    platform.pass(PING_INTERVAL - 1);
    expect([platform.sockets.length, first.isOpen]).toEqual([1, true]);
  });

  it("is given up when a keep-alive is not answered, and listened to no more", () => {
    const { platform, events, open } = firstSocketRig();
    open();
    platform.pass(PING_INTERVAL + PROBE_TIMEOUT_MIN - 1);
    expect(events).toEqual([]);
    platform.pass(1);
    expect(events).toEqual(["close 1006 of 0"]);
    expect(platform.sockets.length).toBe(2);
    platform.sockets[0]?.receive(new ArrayBuffer(1));
    expect(events).toHaveLength(1);
  });

  it("is asked soon while an answer is awaited, and less often while it answers", () => {
    const { platform, state, first, open } = firstSocketRig();
    open();
    platform.pass(10_000);
    state.isAwaiting = true;
    first.awaiting();
    const asked: number[] = [];
    for (let time = 0; time < 60_000; time += 100) {
      const before = platform.socket.sent.length;
      platform.pass(100);
      if (platform.socket.sent.length === before) continue;
      asked.push(platform.time - 10_000);
      platform.socket.receive(KEEP_ALIVE);
    }
    expect(asked).toEqual([1_500, 4_500, 10_500, 22_500, 46_500]);
  });

  it("is said to stall before it is given up, and no more once anything comes", () => {
    const { platform, state, first, open, phases, kind } = firstSocketRig();
    open();
    state.isAwaiting = true;
    first.awaiting();
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(phases.at(-1)).toEqual({ kind: "stalled", since: 0 });
    platform.sockets[0]?.receive(new ArrayBuffer(1));
    expect(kind()).toBe("open");
    // After a gap as long as that one, more patience.
    platform.pass(PROBE_TIMEOUT_MIN * 1.5);
    expect(kind()).toBe("open");
    platform.pass(PROBE_TIMEOUT_MIN * 2.5);
    expect([kind(), platform.sockets.length]).toEqual(["connecting", 3]);
    expect(phases.at(-1)).toMatchObject({ since: PROBE_TIMEOUT_MIN });
  });

  it("gets as much time as its round trips took before", () => {
    const { platform, context, open, events } = firstSocketRig();
    open();
    for (let count = 0; count < 30; count += 1) {
      platform.pass(PING_INTERVAL);
      platform.pass(2_500 - (count % 2) * 2_000);
      platform.socket.receive(KEEP_ALIVE);
    }
    const timeout = context.rtt.timeout(PROBE_TIMEOUT_MIN, PROBE_TIMEOUT_MAX);
    expect(timeout).toBeGreaterThan(4_000);
    platform.pass(PING_INTERVAL + timeout - 1);
    expect(events).toEqual([]);
    platform.pass(2);
    expect(events).toHaveLength(1);
  });

  it("is not given up because an upload goes first", () => {
    const { platform, state, open, events, kind } = firstSocketRig();
    open();
    state.uploadDelay = 40_000;
    platform.pass(PING_INTERVAL + 40_000);
    expect([events, kind()]).toEqual([[], "open"]);
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(events).toHaveLength(1);
  });

  it.each(["network", "visible"] as const)("is asked at once upon a hint: %s", (hint) => {
    const { platform, first, open, events } = firstSocketRig();
    open();
    platform.pass(5_000);
    first.hint(hint);
    first.hint(hint);
    expect(platform.socket.sent).toEqual([KEEP_ALIVE]);
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(events).toEqual(["close 1006 of 0"]);
  });

  it("is asked anew after a sleep, whatever was asked before it", () => {
    const { platform, open, events } = firstSocketRig();
    open();
    platform.pass(PING_INTERVAL);
    platform.sleep(3_600_000);
    expect([platform.socket.sent, events]).toEqual([[KEEP_ALIVE, KEEP_ALIVE], []]);
    platform.pass(200);
    platform.socket.receive(KEEP_ALIVE);
    platform.pass(10_000);
    expect([events, platform.sockets.length]).toEqual([[], 1]);

    platform.sleep(3_600_000);
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(events).toEqual(["close 1006 of 0"]);
  });
});
