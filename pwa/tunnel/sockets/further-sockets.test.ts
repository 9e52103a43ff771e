import { describe, expect, it } from "vitest";
import type { Attachment } from "../../../shared/mux/pipe/channel.ts";
import { END_OF_LINK, KEEP_ALIVE, parseOffer } from "../../../shared/subprotocol.ts";
import { messageOf } from "../../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Transport } from "../../../shared/transport.ts";
import { FakePlatform, type FakeSocket } from "../testing/fake-platform.ts";
import { FurtherSockets } from "./further-sockets.ts";
import {
  PING_INTERVAL,
  PROBE_TIMEOUT_MIN,
  RECONNECT_DELAY_MAX,
  SOCKET_OPEN_TIMEOUT,
  SOCKET_OPEN_TIMEOUT_MIN,
  SocketContext,
} from "./socket-keeper.ts";

const NONE: ReadonlySet<number> = new Set();
const FRAME = messageOf({ type: "ping", token: 7 });

/** Sockets whose owner wants what `state` says, and writes down what it is told. */
function rig() {
  const platform = new FakePlatform();
  const events: string[] = [];
  const transports = new Map<number, Transport>();
  const attachments = new Map<number, Attachment>();
  const state = {
    wanted: 1,
    lost: NONE,
    isReachable: true,
    busy: NONE,
    isAwaiting: false,
  };
  const context = new SocketContext(platform, { isAwaiting: () => state.isAwaiting, uploadDelay: () => 0 });
  const further = new FurtherSockets(
    {
      onTransport(index, transport) {
        events.push(`transport ${index}`);
        transports.set(index, transport);
        const attachment = { receive() {}, detach: () => true };
        attachments.set(index, attachment);
        return attachment;
      },
      onMessage(attachment, message) {
        const [index] = [...attachments].find(([, known]) => known === attachment) ?? [];
        events.push(`${message.length} bytes on ${index}`);
      },
      onClose(index, attachment, code, isConfirmed) {
        events.push(`${isConfirmed ? "confirmed " : ""}close ${code} of ${index}`);
        if (attachments.get(index) === attachment) transports.delete(index);
        update();
      },
      onRetry: () => update(),
      isBusy: (index) => state.busy.has(index),
    },
    platform,
    context,
  );
  const update = (): void =>
    further.update(state.wanted, state.lost, state.isReachable, (index) => events.push(`closing ${index}`));
  const want = (change: Partial<typeof state>): void => {
    Object.assign(state, change);
    update();
  };
  const socket = (number: number): FakeSocket => {
    const found = platform.furtherSockets.at(number);
    if (found === undefined) throw new Error(`Cannot use socket ${number}: it was not opened`);
    return found;
  };
  /** One open socket, that of channel 1. */
  const opened = (): FakeSocket => {
    want({ wanted: 2 });
    socket(0).open();
    socket(0).receive(FRAME.slice().buffer);
    return socket(0);
  };
  further.start("ws://edge/", "token");
  return { platform, events, transports, state, context, further, want, socket, opened };
}

const count = ({ platform }: ReturnType<typeof rig>): number => platform.furtherSockets.length;

describe("sockets of further channels", () => {
  it("are opened as many as are wanted, once the first channel's is open", () => {
    const test = rig();
    test.want({ wanted: 3, isReachable: false });
    expect(count(test)).toBe(0);
    test.want({ isReachable: true });
    test.want({});
    expect([count(test), test.events, test.further.openCount]).toEqual([2, [], 0]);
    for (const socket of test.platform.furtherSockets) socket.open();
    expect([test.events, test.further.openCount]).toEqual([["transport 1", "transport 2"], 2]);
    expect(test.context.traffic.opened).toBe(2);
    expect(parseOffer(test.socket(0).protocols.join(","))).toMatchObject({ token: "token", opening: null });
  });

  it("are opened for channels that lost theirs, wanted or not, once the first channel's is open", () => {
    const test = rig();
    test.want({ lost: new Set([2]), isReachable: false });
    expect(count(test)).toBe(0);
    test.want({ isReachable: true });
    expect([count(test), test.events]).toEqual([1, []]);
    test.socket(0).open();
    expect(test.events).toEqual(["transport 2"]);
  });

  it("give way while they are being opened, when the first channel's has to be opened again", () => {
    const test = rig();
    const socket = test.opened();
    test.want({ wanted: 3 });
    test.further.giveWay();
    expect([socket.readyState, test.socket(1).readyState]).toEqual([WebSocket.OPEN, WebSocket.CLOSED]);
    test.want({});
    expect(count(test)).toBe(3);
  });

  it("carry messages both ways, and count what only keeps them alive", () => {
    const test = rig();
    const socket = test.opened();
    test.transports.get(1)?.send(FRAME);
    expect([socket.sent, test.events]).toEqual([[FRAME], ["transport 1", `${FRAME.length} bytes on 1`]]);
    test.platform.pass(PING_INTERVAL);
    expect(socket.sent.at(-1)).toBe(KEEP_ALIVE);
    socket.receive(KEEP_ALIVE);
    const bytes = KEEP_ALIVE.length;
    expect(test.context.traffic).toMatchObject({ keepAliveBytesUp: bytes, keepAliveBytesDown: bytes });
  });

  it("are given up when their handshake takes too long", () => {
    const test = rig();
    test.want({ wanted: 2 });
    test.platform.pass(SOCKET_OPEN_TIMEOUT - 1);
    expect(test.socket(0).readyState).toBe(WebSocket.CONNECTING);
    test.platform.pass(1);
    expect([test.events, test.socket(0).readyState]).toEqual([[], WebSocket.CLOSED]);
    test.platform.pass(500);
    expect(count(test)).toBe(2);
  });

  it("are given up sooner where round trips are short", () => {
    const test = rig();
    test.context.rtt.sample(50);
    test.want({ wanted: 2 });
    test.platform.pass(SOCKET_OPEN_TIMEOUT_MIN);
    expect(test.socket(0).readyState).toBe(WebSocket.CLOSED);
  });

  it("say nothing of one that nobody was given", () => {
    const test = rig();
    test.want({ wanted: 2 });
    test.socket(0).lose();
    expect(test.events).toEqual([]);
  });

  it("are closed by whoever was given them", async () => {
    const test = rig();
    const socket = test.opened();
    test.want({ wanted: 1, busy: new Set([1]) });
    test.transports.get(1)?.close(4007, "over");
    await settle(1);
    expect([socket.closedWith, test.events.at(-1)]).toEqual([4007, "close 4007 of 1"]);
  });
});

describe("a socket that fails", () => {
  it("is tried again less and less often", () => {
    const test = rig();
    test.want({ wanted: 2 });
    const delays: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const before = count(test);
      const lostAt = test.platform.time;
      test.socket(-1).lose();
      test.want({});
      while (count(test) === before) test.platform.pass(50);
      delays.push(test.platform.time - lostAt);
    }
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, RECONNECT_DELAY_MAX, RECONNECT_DELAY_MAX]);
  });

  it("is tried again soon if it worked before", () => {
    const test = rig();
    test.opened().lose();
    expect(count(test)).toBe(1);
    test.platform.pass(100);
    expect(count(test)).toBe(2);
  });

  it("counts as failed if it opens and nothing ever comes on it", () => {
    const test = rig();
    test.want({ wanted: 2 });
    for (const delay of [500, 1_000]) {
      const before = count(test);
      test.socket(-1).open();
      test.socket(-1).lose();
      test.platform.pass(delay - 1);
      expect(count(test)).toBe(before);
      test.platform.pass(1);
      expect(count(test)).toBe(before + 1);
    }
  });

  it("is tried again at once when the edge can be reached", () => {
    const test = rig();
    test.want({ wanted: 2 });
    for (const delay of [500, 1_000, 2_000]) {
      test.socket(-1).lose();
      test.platform.pass(delay);
    }
    test.socket(-1).lose();
    const before = count(test);
    test.further.reachable(100);
    test.want({});
    expect(count(test)).toBe(before + 1);
    // Nothing of the wait that was is left.
    test.platform.pass(RECONNECT_DELAY_MAX);
    expect(count(test)).toBe(before + 1);
  });

  it("is given up for another if its handshake began long before one that was answered", () => {
    const test = rig();
    test.want({ wanted: 2 });
    test.platform.pass(3_000);
    test.further.reachable(2_000);
    expect(test.socket(0).readyState).toBe(WebSocket.CONNECTING);
    test.further.reachable(300);
    test.want({});
    expect([count(test), test.socket(0).readyState, test.events]).toEqual([2, WebSocket.CLOSED, []]);
  });

  it("ends with the code that the edge gave", () => {
    const test = rig();
    test.opened().lose(4007);
    expect(test.events.at(-1)).toBe("close 4007 of 1");
  });
});

describe("the end of a socket that is not wanted any more", () => {
  it("is asked of the edge, whose last messages still come, and confirmed by its close", () => {
    const test = rig();
    const socket = test.opened();
    test.want({ wanted: 1 });
    test.want({});
    expect([socket.sent, test.events.at(-1)]).toEqual([[END_OF_LINK], "closing 1"]);
    socket.receive(FRAME.slice().buffer);
    socket.lose(1000, true);
    expect(test.events.slice(-3)).toEqual(["closing 1", `${FRAME.length} bytes on 1`, "confirmed close 1000 of 1"]);
    expect(test.further.openCount).toBe(0);
    test.platform.pass(60_000);
    expect(count(test)).toBe(1);
    test.want({ wanted: 2 });
    expect(count(test)).toBe(2);
  });

  it("waits until nothing is under way on it", () => {
    const test = rig();
    const socket = test.opened();
    test.want({ wanted: 1, busy: new Set([1]) });
    expect(socket.sent).toEqual([]);
    test.want({ busy: NONE });
    expect(socket.sent).toEqual([END_OF_LINK]);
  });

  it.each([
    ["is lost", (socket: FakeSocket) => socket.lose(1006)],
    ["is closed by somebody in between", (socket: FakeSocket) => socket.lose(1001, true)],
    ["breaks while it closes", (socket: FakeSocket) => socket.lose(1000, false)],
  ])("is not confirmed when the socket %s", (_name, end) => {
    const test = rig();
    const socket = test.opened();
    test.want({ wanted: 1 });
    end(socket);
    expect(test.events.at(-1)).toMatch(/^close \d+ of 1$/);
  });

  it("is not confirmed when the edge takes too long, and not asked again at once", () => {
    const test = rig();
    test.context.rtt.sample(50);
    const socket = test.opened();
    test.want({ wanted: 1 });
    test.further.check();
    test.further.awaiting();
    expect(socket.sent).toEqual([END_OF_LINK]);
    test.platform.pass(5_000);
    expect([test.events.at(-1), socket.readyState]).toEqual(["close 1006 of 1", WebSocket.CLOSED]);
    test.want({ lost: new Set([1]) });
    expect(count(test)).toBe(1);
    test.platform.pass(500);
    expect(count(test)).toBe(2);
  });
});

describe("silence", () => {
  const PATIENCE = 3 * PROBE_TIMEOUT_MIN;

  it("is asked about soon while something is awaited, and is the end of the socket", () => {
    const test = rig();
    test.context.rtt.sample(100);
    const socket = test.opened();
    test.want({ isAwaiting: true });
    test.further.awaiting();
    test.platform.pass(PATIENCE);
    expect(socket.sent).toEqual([KEEP_ALIVE]);
    expect(test.events).toContain("close 1006 of 1");
  });

  it("means nothing while nothing is awaited", () => {
    const test = rig();
    test.context.rtt.sample(100);
    const socket = test.opened();
    test.platform.pass(PATIENCE);
    expect([socket.sent, test.further.openCount]).toEqual([[], 1]);
  });

  it("is asked about when the network may have changed", () => {
    const test = rig();
    test.context.rtt.sample(100);
    const socket = test.opened();
    test.further.check();
    expect(socket.sent).toEqual([KEEP_ALIVE]);
    test.platform.pass(PROBE_TIMEOUT_MIN);
    expect(test.events.at(-1)).toBe("close 1006 of 1");
  });
});

it("drops all, those that are opened or closed or waited for too", () => {
  const test = rig();
  test.want({ wanted: 5 });
  const [opened, closing, failed, opening] = test.platform.furtherSockets as [
    FakeSocket,
    FakeSocket,
    FakeSocket,
    FakeSocket,
  ];
  opened.open();
  closing.open();
  failed.lose();
  test.want({ wanted: 2 });
  expect(closing.sent).toEqual([END_OF_LINK]);
  test.want({ wanted: 1, busy: new Set([1]) });
  test.further.drop();
  expect(test.events.slice(-2)).toEqual(["close 1006 of 1", "close 1006 of 2"]);
  expect([opened, closing, opening].map(({ readyState }) => readyState)).toEqual(Array(3).fill(WebSocket.CLOSED));
  test.want({ wanted: 2 });
  test.platform.pass(SOCKET_OPEN_TIMEOUT_MIN - 1);
  expect(count(test)).toBe(5);
});

it("opens none where WebSockets do not pass", () => {
  const test = rig();
  test.platform.takesFurtherSockets = false;
  test.want({ wanted: 4, lost: new Set([1]) });
  expect([count(test), test.events]).toEqual([0, []]);
});
