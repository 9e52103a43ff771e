import { describe, expect, it } from "vitest";
import { KEEP_ALIVE, OPENING_PREFIX, parseOffer, SUBPROTOCOL, TOKEN_PREFIX } from "../../../shared/subprotocol.ts";
import { Random } from "../../../shared/testing/random.ts";
import { messageOf } from "../../../shared/testing/scripted-transport.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Transport } from "../../../shared/transport.ts";
import type { LinkPhase } from "../../messages/link.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { SOCKET_OPEN_TIMEOUT } from "./attempt-time.ts";
import { FirstSocket } from "./first-socket.ts";
import { RECONNECT_DELAY_MAX, SocketContext } from "./socket-keeper.ts";
import { PING_INTERVAL, PROBE_TIMEOUT_MAX, PROBE_TIMEOUT_MIN } from "./socket-watch.ts";

const EARLY = messageOf({ type: "ack", received: 7 });

function rig({ opening = [] }: { opening?: readonly Uint8Array[] } = {}) {
  const platform = new FakePlatform();
  const phases: LinkPhase[] = [];
  const events: string[] = [];
  const transports: Transport[] = [];
  const state = { isAwaiting: false, uploadDelay: 0, spares: 0 };
  const context = new SocketContext(platform, {
    isAwaiting: () => state.isAwaiting,
    uploadDelay: () => state.uploadDelay,
  });
  const first = new FirstSocket(
    {
      onDialling: (transport) => {
        transports.push(transport);
        for (const message of opening) transport.send(message);
      },
      onMessage: (transport, message) => events.push(`message ${message.length} on ${transports.indexOf(transport)}`),
      onClose: (transport, code) => events.push(`close ${code} of ${transports.indexOf(transport)}`),
      onOpened() {},
      onPhase: (phase) => phases.push(phase),
      onSpare: () => {
        state.spares += 1;
      },
      onRefused: () => events.push("refused"),
    },
    platform,
    context,
  );
  return {
    platform,
    first,
    context,
    events,
    transports,
    phases,
    state,
    kind: () => phases.at(-1)?.kind,
    start: () => first.start("ws://edge/", "token"),
    open: () => {
      first.start("ws://edge/", "token");
      platform.socket.open();
    },
    /** An attempt that fails before the socket opens; what the edge is asked then is answered. */
    async fail() {
      platform.socket.lose();
      await settle(2);
    },
    retryDelay() {
      const phase = phases.at(-1);
      return phase?.kind === "waiting" ? phase.retryAt - platform.time : null;
    },
    /** What the socket was opened with, beyond version and token. */
    opening: () => parseOffer(platform.socket.protocols.join(",")).opening,
  };
}

describe("the handshake", () => {
  it("offers protocol and token, opens, and hands messages over with where they came from", () => {
    const { platform, first, context, events, transports, start, kind } = rig();
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
    const { platform, transports, start, opening } = rig({ opening: [EARLY, EARLY] });
    start();
    expect(opening()).toEqual(EARLY);
    transports[0]?.send(Uint8Array.of(1));
    expect(platform.socket.sent).toEqual([]);
    platform.socket.open();
    expect(platform.socket.sent).toEqual([EARLY, Uint8Array.of(1)]);
  });

  it("carries nothing the next time where it failed though the edge can be reached, and the other way round", async () => {
    const { platform, start, opening, fail } = rig({ opening: [EARLY] });
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
    const { platform, events, start, kind } = rig();
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
    const { platform, events, open, retryDelay } = rig();
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
    const { platform, start, fail, retryDelay } = rig();
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
    const { platform, first, start, fail, retryDelay } = rig();
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
    const { platform, start, retryDelay } = rig();
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
    const { platform, start } = rig();
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
      const one = rig();
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
    const { platform, first, events, start, fail, kind } = rig();
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
    const { platform, first, start, fail, kind } = rig();
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
    const { platform, first, start, events } = rig();
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
    const { platform, first, phases } = rig();
    first.setOnline(false);
    first.setOnline(true);
    first.hint("visible");
    expect([platform.sockets.length, phases]).toEqual([0, []]);
  });
});

describe("a link that is silent", () => {
  it("is kept alive, and a busy one without a word", () => {
    const { platform, first, context, open } = rig();
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
    const { platform, events, open } = rig();
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
    const { platform, state, first, open } = rig();
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
    const { platform, state, first, open, phases, kind } = rig();
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

  describe("that is awaited", () => {
    /** @param handshake milliseconds that one takes. */
    function stalled(handshake = 2_000) {
      const all = rig({ opening: [EARLY] });
      all.start();
      all.platform.pass(handshake);
      all.platform.socket.open();
      all.state.isAwaiting = true;
      all.first.awaiting();
      while (all.platform.sockets.length < 2) all.platform.pass(10);
      expect(all.kind()).toBe("stalled");
      const [old, spare] = all.platform.sockets;
      if (old === undefined || spare === undefined) throw new Error("there is no spare socket");
      return { ...all, old, spare };
    }

    it("gives way to another that is open before it goes on", () => {
      const { platform, old, spare, events, transports, kind, opening } = stalled();
      expect([opening(), transports.length]).toEqual([null, 1]);
      platform.pass(700);
      spare.open();
      expect([events, kind(), old.readyState]).toEqual([["close 1006 of 0"], "open", WebSocket.CLOSED]);
      expect(spare.sent).toEqual([EARLY]);
      spare.receive(new ArrayBuffer(2));
      expect([events.at(-1), transports.length, platform.sockets.length]).toEqual(["message 2 on 1", 2, 2]);
    });

    it("stays when it goes on by itself, and no other is opened for a while", () => {
      const { platform, old, spare, events, transports, kind } = stalled();
      old.receive(new ArrayBuffer(1));
      expect([kind(), spare.readyState, transports.length]).toEqual(["open", WebSocket.CLOSED, 1]);
      expect(events).toEqual(["message 1 on 0"]);
      platform.pass(4 * PROBE_TIMEOUT_MIN);
      // Given up as if there had been none.
      expect(events.at(-1)).toBe("close 1006 of 0");
      expect([kind(), platform.sockets.length]).toEqual(["connecting", 3]);
    });

    it("is given up for one that is not open yet, which then has the time of any", () => {
      const { platform, first, spare, events, transports, kind } = stalled();
      platform.pass(PROBE_TIMEOUT_MIN / 2);
      expect([events, kind(), transports.length]).toEqual([["close 1006 of 0"], "connecting", 2]);
      transports[1]?.send(Uint8Array.of(1));
      expect([platform.sockets.length, spare.sent]).toEqual([2, []]);
      spare.open();
      expect([spare.sent, first.isOpen]).toEqual([[EARLY, Uint8Array.of(1)], true]);
      spare.lose();
      platform.pass(0);
      expect([events.at(-1), platform.sockets.length]).toEqual(["close 1006 of 1", 3]);
    });

    it("is given up for a new one if the other should have been open by then", () => {
      const { platform, spare, events, opening, kind } = stalled(300);
      while (kind() === "stalled") platform.pass(10);
      expect([events, platform.sockets.length, kind()]).toEqual([["close 1006 of 0"], 3, "connecting"]);
      expect([spare.readyState, opening()]).toEqual([WebSocket.CLOSED, EARLY]);
    });

    it("leaves nothing behind when the other fails or takes too long, or the link is opened elsewhere", () => {
      const failing = stalled();
      failing.spare.lose();
      failing.platform.pass(PROBE_TIMEOUT_MIN / 2);
      expect([failing.events, failing.platform.sockets.length]).toEqual([["close 1006 of 0"], 3]);

      const endless = stalled();
      endless.platform.pass(6_500);
      expect(endless.events).toEqual(["close 1006 of 0", "close 1006 of 1"]);
      expect([endless.spare.readyState, endless.platform.sockets.length]).toEqual([WebSocket.CLOSED, 3]);

      const elsewhere = stalled();
      elsewhere.start();
      expect([elsewhere.old.readyState, elsewhere.spare.readyState]).toEqual([WebSocket.CLOSED, WebSocket.CLOSED]);
      expect([elsewhere.platform.sockets.length, elsewhere.transports.length]).toEqual([3, 2]);
    });

    it("begins another at once when the network changes: the first one's packets left from the old address", () => {
      const { platform, first, spare, state } = stalled();
      platform.pass(500);
      first.hint("network");
      expect([spare.readyState, platform.sockets.length, state.spares]).toEqual([WebSocket.CLOSED, 3, 2]);
      first.hint("network");
      expect(platform.sockets).toHaveLength(3);
    });

    it("has one as soon as a request waits, if none did when it stalled", () => {
      const { platform, first, open, state, kind } = rig();
      open();
      first.hint("visible");
      platform.pass(PROBE_TIMEOUT_MIN / 2);
      expect([kind(), platform.sockets.length, first.isDialling]).toEqual(["stalled", 1, false]);
      state.isAwaiting = true;
      first.awaiting();
      expect([platform.sockets.length, first.isDialling]).toEqual([2, true]);
    });

    it("does not blame frames in the handshake for the failure of one that had none", async () => {
      const { platform, spare, kind, opening, fail } = stalled();
      platform.pass(PROBE_TIMEOUT_MIN / 2);
      expect([kind(), platform.socket]).toEqual(["connecting", spare]);
      await fail();
      platform.pass(1_000);
      expect([platform.sockets.length, opening()]).toEqual([3, EARLY]);
    });

    it("has none while the device is offline", () => {
      const { platform, first, open, state, kind } = rig();
      open();
      first.setOnline(false);
      state.isAwaiting = true;
      first.awaiting();
      platform.pass(PROBE_TIMEOUT_MIN - 1);
      expect([kind(), platform.sockets.length]).toEqual(["stalled", 1]);
    });
  });

  it("gets as much time as its round trips took before", () => {
    const { platform, context, open, events } = rig();
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
    const { platform, state, open, events, kind } = rig();
    open();
    state.uploadDelay = 40_000;
    platform.pass(PING_INTERVAL + 40_000);
    expect([events, kind()]).toEqual([[], "open"]);
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(events).toHaveLength(1);
  });

  it.each(["network", "visible"] as const)("is asked at once upon a hint: %s", (hint) => {
    const { platform, first, open, events } = rig();
    open();
    platform.pass(5_000);
    first.hint(hint);
    first.hint(hint);
    expect(platform.socket.sent).toEqual([KEEP_ALIVE]);
    platform.pass(PROBE_TIMEOUT_MIN);
    expect(events).toEqual(["close 1006 of 0"]);
  });

  it("is asked anew after a sleep, whatever was asked before it", () => {
    const { platform, open, events } = rig();
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
