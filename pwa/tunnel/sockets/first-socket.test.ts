import { describe, expect, it } from "vitest";
import { OPENING_PREFIX, SUBPROTOCOL, TOKEN_PREFIX } from "../../../shared/subprotocol.ts";
import { Random } from "../../../shared/testing/random.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { RECONNECT_DELAY_MAX, SOCKET_OPEN_TIMEOUT } from "./socket-keeper.ts";
import { EARLY, firstSocketRig } from "./testing/first-socket-rig.ts";

describe("the handshake", () => {
  it("offers protocol and token, opens, and hands messages over with where they came from", () => {
    const { platform, first, context, events, transports, start, kind } = firstSocketRig();
    start();
    expect(platform.socket.protocols).toEqual([SUBPROTOCOL, `${TOKEN_PREFIX}token`]);
    expect([kind(), first.isOpen]).toEqual(["connecting", false]);
    platform.socket.open();
    platform.socket.receive(new ArrayBuffer(3));
    expect([kind(), first.isOpen, context.traffic.opened]).toEqual(["open", true, 1]);
    expect(events).toEqual(["message 3 on 0"]);
    expect(transports[0]?.send(Uint8Array.of(1))).toBe(true);
    platform.socket.lose();
    expect(transports[0]?.send(Uint8Array.of(1))).toBe(false);
  });

  it("carries what there is to say, and the rest follows when the socket is open", () => {
    const { platform, transports, start, opening } = firstSocketRig({ opening: [EARLY, EARLY] });
    start();
    expect(opening()).toEqual(EARLY);
    transports[0]?.send(Uint8Array.of(1));
    expect(platform.socket.sent).toEqual([]);
    platform.socket.open();
    expect(platform.socket.sent).toEqual([EARLY, Uint8Array.of(1)]);
  });

  it("carries nothing the next time where it failed though the edge can be reached, and the other way round", async () => {
    const { platform, start, opening, fail } = firstSocketRig({ opening: [EARLY] });
    start();
    await fail();
    platform.pass(1_000);
    expect([platform.sockets.length, opening()]).toEqual([2, null]);
    await fail();
    platform.pass(2_000);
    expect(opening()).toEqual(EARLY);
    platform.probed = "unreachable";
    await fail();
    platform.pass(5_000);
    expect([platform.sockets.length, opening()]).toEqual([4, EARLY]);
    expect(platform.socket.protocols.at(-1)).toContain(OPENING_PREFIX);
  });

  it("is given up when it takes too long, and tried again at once with as much time as handshakes took", async () => {
    const { platform, events, start, kind } = firstSocketRig();
    start();
    platform.pass(SOCKET_OPEN_TIMEOUT);
    expect([events[0], platform.sockets[0]?.readyState, kind()]).toEqual(["close 1006 of 0", 3, "connecting"]);
    // Now a round trip is known.
    platform.time += 600;
    platform.socket.open();
    platform.socket.lose();
    platform.pass(0);
    const patience = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const from = platform.time;
      const { length } = platform.sockets;
      while (platform.sockets.length === length) platform.pass(100);
      patience.push(platform.time - from);
    }
    expect(patience).toEqual([5_000, 5_000, 10_000, 5_000]);
  });
});

describe("a link that is lost", () => {
  it("is opened again at once, and its close code is told", () => {
    const { platform, events, open, retryDelay } = firstSocketRig();
    open();
    platform.socket.receive(new ArrayBuffer(1));
    platform.socket.lose(4016);
    expect(events.at(-1)).toEqual("close 4016 of 0");
    expect(retryDelay()).toBe(0);
    platform.pass(0);
    expect(platform.sockets).toHaveLength(2);
  });

  it.each([
    [0, 0.5],
    [1, 1],
  ])("is tried for less and less often when that fails fast, at chance %s for %s of it", async (chance, share) => {
    const { platform, start, fail, retryDelay } = firstSocketRig();
    platform.chance = chance;
    start();
    const minutes = Array.from({ length: 96 }, () => 4_000);
    for (const ceiling of [600, 1200, 2400, ...minutes, RECONNECT_DELAY_MAX, RECONNECT_DELAY_MAX]) {
      await fail();
      expect(retryDelay()).toBe(ceiling * share);
      platform.pass(ceiling * share);
    }
    expect(platform.sockets).toHaveLength(102);
  });

  it("is tried often again where there is a new reason to hope", async () => {
    const { platform, first, start, fail, retryDelay } = firstSocketRig();
    platform.chance = 1;
    start();
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await fail();
      platform.pass(retryDelay() ?? 0);
    }
    await fail();
    // The network says that it is there, and is not quite yet.
    first.setOnline(true);
    await fail();
    expect(retryDelay()).toBe(1_200);
  });

  it("is tried for less and less often while the edge takes sockets and no session, until it takes one", () => {
    const { platform, start, retryDelay } = firstSocketRig();
    start();
    const delays: (number | null)[] = [];
    const turnAway = (): void => {
      platform.socket.open();
      platform.socket.lose(4011);
      delays.push(retryDelay());
      platform.pass(retryDelay() ?? 0);
    };
    for (let attempt = 0; attempt < 6; attempt += 1) turnAway();
    platform.socket.open();
    platform.socket.receive(new ArrayBuffer(1));
    platform.socket.lose();
    platform.pass(0);
    turnAway();
    expect(delays).toEqual([300, 600, 1_200, 2_400, 4_800, 7_500, 300]);
  });

  it("does not wait for word of why", () => {
    const { platform, start } = firstSocketRig();
    platform.answersProbes = false;
    start();
    platform.socket.lose();
    platform.pass(600);
    platform.socket.lose();
    platform.pass(1_200);
    expect([platform.sockets.length, platform.probes]).toEqual([3, 1]);
  });

  it("comes back for many phones of one edge in turn", async () => {
    const chance = new Random(7);
    const phones = Array.from({ length: 500 }, () => {
      const one = firstSocketRig();
      one.platform.random = () => chance.uint32() / 2 ** 32;
      one.open();
      return one;
    });
    /** Attempts in each tenth of a second after all were lost at the same time, while the edge is away. */
    const load = new Map<number, number>();
    for (const { platform } of phones) {
      platform.socket.lose();
      for (let time = 0; time < 10_000; time += 10) {
        const before = platform.sockets.length;
        platform.pass(10);
        const bucket = Math.floor(time / 100);
        if (platform.sockets.length > before) load.set(bucket, (load.get(bucket) ?? 0) + 1);
        if (platform.socket.readyState === WebSocket.CONNECTING) platform.socket.lose();
      }
      await settle(1);
    }
    const later = [...load].filter(([bucket]) => bucket >= 2).map(([, attempts]) => attempts);
    expect(Math.max(...later)).toBeLessThan(250);
    expect(load.get(0)).toBe(500);
  });

  it("stops at a refused token until it is started with another", async () => {
    const { platform, first, events, start, fail, kind } = firstSocketRig();
    platform.probed = "refused";
    start();
    await fail();
    first.setOnline(false);
    first.setOnline(true);
    platform.pass(1_000_000);
    expect([kind(), platform.sockets.length, events.at(-1)]).toEqual(["refused", 1, "refused"]);
    first.start("ws://edge/", "other");
    expect(platform.socket.protocols[1]).toBe(`${TOKEN_PREFIX}other`);
  });

  it("is opened as soon as the network is back, and said to be offline until then", async () => {
    const { platform, first, start, fail, kind } = firstSocketRig();
    start();
    await fail();
    first.setOnline(false);
    expect(kind()).toBe("offline");
    platform.pass(600);
    await fail();
    expect(kind()).toBe("offline");
    first.setOnline(true);
    expect([kind(), platform.sockets.length]).toEqual(["connecting", 3]);
    first.hint("network");
    expect(platform.sockets.length).toBe(3);
  });

  it("is opened anew from another network, and when the person comes back to a handshake that hangs", () => {
    const { platform, first, start, events } = firstSocketRig();
    start();
    platform.pass(1_000);
    first.hint("visible");
    expect(platform.sockets.length).toBe(1);
    first.hint("network");
    expect([platform.sockets.length, events]).toEqual([2, ["close 1006 of 0"]]);
    platform.pass(3_000);
    first.hint("visible");
    expect(platform.sockets.length).toBe(3);
  });

  it("opens nothing before it is started", () => {
    const { platform, first, phases } = firstSocketRig();
    first.setOnline(false);
    first.setOnline(true);
    first.hint("visible");
    expect([platform.sockets.length, phases]).toEqual([0, []]);
  });
});
