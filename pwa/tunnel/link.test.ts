import { describe, expect, it } from "vitest";
import { limits } from "../../shared/limits.ts";
import { KEEP_ALIVE, SUBPROTOCOL, TOKEN_PREFIX } from "../../shared/subprotocol.ts";
import { settle } from "../../shared/testing/turns.ts";
import type { Transport } from "../../shared/transport.ts";
import type { LinkPhase } from "../shell/browser-state.ts";
import { Link } from "./link.ts";
import { FakePlatform } from "./testing/fake-platform.ts";

function rig() {
  const platform = new FakePlatform();
  const phases: LinkPhase[] = [];
  const events: string[] = [];
  const transports: Transport[] = [];
  const link = new Link(
    {
      onOpen: (transport) => {
        transports.push(transport);
        events.push("open");
      },
      onMessage: (transport, message) => events.push(`message ${message.length} on ${transports.indexOf(transport)}`),
      onClose: (_, code) => events.push(`close ${code}`),
      onPhase: (phase) => phases.push(phase),
      onUnreachable: () => events.push("unreachable"),
    },
    platform,
  );
  return {
    platform,
    link,
    events,
    transports,
    phases,
    kind: () => phases.at(-1)?.kind,
    start: () => link.start("ws://edge/", "token"),
    /** An attempt that fails before the socket opens; what the edge is asked then is answered. */
    async fail() {
      platform.socket.lose();
      await settle(2);
    },
    retryDelay() {
      const phase = phases.at(-1);
      return phase?.kind === "waiting" ? phase.retryAt - platform.time : null;
    },
  };
}

describe("Link", () => {
  it("offers protocol and token, opens, and hands messages over with where they came from", () => {
    const { platform, link, events, transports, start, kind } = rig();
    start();
    expect(platform.socket.protocols).toEqual([SUBPROTOCOL, `${TOKEN_PREFIX}token`]);
    expect([kind(), transports.length, link.open]).toEqual(["connecting", 0, false]);
    platform.socket.open();
    platform.socket.receive(new ArrayBuffer(3));
    expect([kind(), link.open, link.traffic.opened]).toEqual(["open", true, 1]);
    expect(events).toEqual(["open", "message 3 on 0"]);
    expect(transports[0]?.send(Uint8Array.of(1))).toBe(true);
    platform.socket.lose();
    expect(transports[0]?.send(Uint8Array.of(1))).toBe(false);
  });

  it("tries again at once when an open socket is lost, and says its close code", () => {
    const { platform, events, start, retryDelay } = rig();
    start();
    platform.socket.open();
    platform.socket.lose(4016);
    expect(events).toEqual(["open", "close 4016"]);
    expect(retryDelay()).toBe(0);
    platform.pass(0);
    expect(platform.sockets).toHaveLength(2);
  });

  it.each([
    [0, 0.5],
    [1, 1],
  ])("waits longer with each failed attempt, up to the limit, at chance %s for %s of it", async (chance, share) => {
    const { platform, start, fail, retryDelay } = rig();
    platform.chance = chance;
    start();
    for (const ceiling of [600, 1200, 2400, 4800, 9600, limits.reconnectDelayMax, limits.reconnectDelayMax]) {
      await fail();
      expect(retryDelay()).toBe(ceiling * share);
      platform.pass(ceiling * share);
    }
    expect(platform.sockets).toHaveLength(8);
  });

  it("tells those who wait after three attempts, and goes on", async () => {
    const { platform, events, start, fail } = rig();
    platform.probed = "unreachable";
    start();
    for (const heard of [0, 0, 1]) {
      await fail();
      expect(events.filter((event) => event === "unreachable")).toHaveLength(heard);
      platform.pass(limits.reconnectDelayMax);
    }
    platform.socket.open();
    expect(events.at(-1)).toBe("open");
  });

  it("gives a handshake up that takes too long", async () => {
    const { platform, events, start, kind } = rig();
    start();
    platform.pass(limits.socketOpenTimeout);
    await settle(2);
    expect([events[0], platform.socket.readyState, kind()]).toEqual(["close 1006", WebSocket.CLOSED, "waiting"]);
  });

  it("stops at a refused token until it is started with another", async () => {
    const { platform, link, events, start, fail, kind } = rig();
    platform.probed = "refused";
    start();
    await fail();
    link.setOnline(false);
    link.setOnline(true);
    platform.pass(1_000_000);
    expect([kind(), platform.sockets.length, events.at(-1)]).toEqual(["refused", 1, "unreachable"]);
    link.start("ws://edge/", "other");
    expect(platform.socket.protocols[1]).toBe(`${TOKEN_PREFIX}other`);
  });

  it("keeps a silent link alive, and a busy one without a word", () => {
    const { platform, link, start } = rig();
    start();
    platform.socket.open();
    for (let time = 0; time < 100_000; time += 5_000) {
      platform.pass(5_000);
      platform.socket.receive(new ArrayBuffer(1));
    }
    expect(platform.socket.sent).toEqual([]);
    platform.pass(limits.pingInterval + 5_000);
    expect(platform.socket.sent).toEqual([KEEP_ALIVE]);
    platform.socket.receive(KEEP_ALIVE);
    expect([link.traffic.keepAliveBytesUp, link.traffic.keepAliveBytesDown]).toEqual([
      KEEP_ALIVE.length,
      KEEP_ALIVE.length,
    ]);
    platform.pass(limits.pingInterval);
    expect([platform.sockets.length, link.open]).toEqual([1, true]);
  });

  it("gives a link up that says nothing to a keep-alive, and listens to it no more", () => {
    const { platform, events, start } = rig();
    start();
    platform.socket.open();
    platform.pass(limits.pingInterval * 1.2 + limits.pingTimeout);
    expect(events).toEqual(["open", "close 1006"]);
    expect(platform.sockets.length).toBe(2);
    platform.sockets[0]?.receive(new ArrayBuffer(1));
    expect(events).toHaveLength(2);
  });

  it("says offline, and connects as soon as the network is back", async () => {
    const { platform, link, start, fail, kind } = rig();
    start();
    await fail();
    link.setOnline(false);
    expect(kind()).toBe("offline");
    platform.pass(600);
    await fail();
    expect(kind()).toBe("offline");
    link.setOnline(true);
    expect([kind(), platform.sockets.length]).toEqual(["connecting", 3]);
    link.retryNow();
    expect(platform.sockets.length).toBe(3);
  });

  it("opens nothing before it is started", () => {
    const { platform, link, phases } = rig();
    link.setOnline(false);
    link.setOnline(true);
    link.retryNow();
    expect([platform.sockets.length, phases]).toEqual([0, []]);
  });
});
