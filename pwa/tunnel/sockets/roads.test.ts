import { describe, expect, it } from "vitest";
import * as limits from "../../../shared/limits.ts";
import type { SocketOffer } from "../../../shared/phone-socket.ts";
import { offeredProtocols } from "../../../shared/subprotocol.ts";
import type { Road } from "../../messages/tunnel-messages.ts";
import { FakePlatform, FakeSocket } from "../testing/fake-platform.ts";
import { Roads } from "./roads.ts";
import { SOCKET_OPEN_TIMEOUT, SOCKET_OPEN_TIMEOUT_MIN } from "./socket-keeper.ts";

const OPENING = Uint8Array.of(0x80, 1, 2, 3);
const OFFER = { url: "wss://edge.example/.ropeway/tunnel", token: "device.sign", opening: OPENING };
const BARE_OFFER = { ...OFFER, opening: null };
const WHOLE = offeredProtocols("device.sign", OPENING);
const BARE = offeredProtocols("device.sign", null);

interface Tried {
  readonly road: Road;
  readonly socket: FakeSocket;
}

/** Roads on which a test decides what passes. */
function setUp() {
  const platform = new FakePlatform();
  const tried: Tried[] = [];
  const network = { name: "", roundTrip: null as number | null };
  const roads = new Roads({
    dial(road, offer, listener) {
      const socket = new FakeSocket(offer, listener);
      tried.push({ road, socket });
      return socket;
    },
    now: () => platform.time,
    random: () => 0,
    setTimer: (task, delay) => platform.setTimer(task, delay),
    network: () => network.name,
    roundTrip: () => network.roundTrip,
  });
  const connect = (offer: SocketOffer = OFFER, isSpare = false, onOpen = () => {}) => {
    const events: unknown[] = [];
    const socket = roads.dial(
      offer,
      {
        onOpen() {
          events.push("open");
          onOpen();
        },
        onMessage: (message) => events.push(typeof message === "string" ? message : [...message]),
        onClose: (code) => events.push(code),
      },
      isSpare,
    );
    return { socket, events };
  };
  const last = (): FakeSocket => {
    const one = tried.at(-1);
    if (one === undefined) throw new Error("Cannot use the socket: none was tried");
    return one.socket;
  };
  const triedRoads = () => tried.map(({ road }) => road);
  /** On the fetch road, by a WebSocket that was refused. */
  const connectByFetch = () => {
    const connected = connect();
    last().lose();
    last().open();
    return connected;
  };
  return { platform, roads, network, tried, connect, last, triedRoads, connectByFetch };
}

describe("a socket's road", () => {
  it("is WebSocket where that opens in time, and nothing else is tried", () => {
    const { platform, roads, connect, last, tried, triedRoads } = setUp();
    const { socket, events } = connect();
    expect(last().protocols).toEqual(WHOLE);
    platform.pass(limits.webSocketPatience - 1);
    last().open();
    platform.pass(60_000);
    expect([triedRoads(), events, roads.current]).toEqual([["websocket"], ["open"], "websocket"]);
    socket.send(Uint8Array.of(1));
    last().receive("hello");
    expect([tried[0]?.socket.sent, events]).toEqual([[Uint8Array.of(1)], ["open", "hello"]]);
    expect(socket.send("more")).toBe(true);
  });

  it("is the fetch road at once where WebSocket is refused", () => {
    const { roads, connect, last, triedRoads, tried } = setUp();
    const { events } = connect();
    last().lose();
    expect([triedRoads(), events]).toEqual([["websocket", "fetch"], []]);
    // Nothing else is under way that could carry it.
    expect(last().protocols).toEqual(WHOLE);
    last().open();
    expect([events, roads.current, tried[1]?.socket.sent]).toEqual([["open"], "fetch", []]);
  });

  it("is tried beside WebSocket after a second, without the frames that ride there, and brings them first", () => {
    const { platform, connect, last, triedRoads, tried } = setUp();
    const { socket, events } = connect(OFFER, false, () => socket.send("next"));
    platform.pass(limits.webSocketPatience);
    expect(triedRoads()).toEqual(["websocket", "fetch"]);
    expect(last().protocols).toEqual(BARE);
    platform.pass(200);
    last().open();
    // 300 ms and twice what the fetch road took: a WebSocket that is only slow is there by then.
    platform.pass(699);
    expect(tried[1]?.socket.sent).toEqual([]);
    platform.pass(1);
    expect(tried[1]?.socket.sent).toEqual([OPENING, "next"]);
    expect(tried[0]?.socket.readyState).toBe(WebSocket.CLOSED);
    expect(events).toEqual(["open"]);
  });

  it("is WebSocket if that opens soon after the fetch road, and the fetch road as soon as WebSocket is refused", () => {
    for (const opens of [true, false]) {
      const { platform, roads, connect, tried } = setUp();
      const { events } = connect();
      platform.pass(limits.webSocketPatience);
      platform.pass(500);
      tried[1]?.socket.open();
      platform.pass(1_000);
      expect(events).toEqual([]);
      if (opens) tried[0]?.socket.open();
      else tried[0]?.socket.lose();
      expect([events, roads.current]).toEqual([["open"], opens ? "websocket" : "fetch"]);
    }
  });

  it("is WebSocket if the fetch road closes while it waits for that", () => {
    const { platform, roads, connect, tried } = setUp();
    const { events } = connect();
    platform.pass(limits.webSocketPatience);
    tried[1]?.socket.open();
    tried[1]?.socket.lose();
    platform.pass(10_000);
    expect([events, tried[0]?.socket.readyState, tried[1]?.socket.sent]).toEqual([[], WebSocket.CONNECTING, []]);
    tried[0]?.socket.open();
    expect([events, roads.current]).toEqual([["open"], "websocket"]);
  });

  it("is WebSocket if that opens first though it took longer", () => {
    const { platform, connect, tried } = setUp();
    const { events } = connect();
    platform.pass(3_000);
    tried[0]?.socket.open();
    expect(events).toEqual(["open"]);
    expect(tried[1]?.socket.readyState).toBe(WebSocket.CLOSED);
    expect(tried[0]?.socket.sent).toEqual([]);
  });

  it("waits longer for the first where round trips are long, and where handshakes were", () => {
    const { platform, network, connect, last, triedRoads } = setUp();
    network.roundTrip = 1_200;
    connect();
    platform.pass(3_500);
    expect(triedRoads()).toEqual(["websocket"]);
    last().open();
    network.roundTrip = null;
    connect();
    platform.pass(5_000);
    expect(triedRoads()).toEqual(["websocket", "websocket"]);
    platform.pass(300);
    expect(triedRoads()).toEqual(["websocket", "websocket", "fetch"]);
  });

  it("is none where both are refused, which it says once", () => {
    const { platform, connect, tried } = setUp();
    const { socket, events } = connect();
    platform.pass(limits.webSocketPatience);
    tried[0]?.socket.lose();
    expect(events).toEqual([]);
    tried[1]?.socket.lose();
    platform.pass(60_000);
    expect([events, socket.send("more"), tried.length]).toEqual([[1006], false, 2]);
  });

  it("is the fetch road as soon as that opens, if it was first: the edge speaks at once", () => {
    const { platform, roads, last, connect, connectByFetch, tried, triedRoads } = setUp();
    connectByFetch().socket.close();
    const { events } = connect();
    platform.pass(limits.webSocketPatience);
    expect(triedRoads().slice(2)).toEqual(["fetch", "websocket"]);
    tried[2]?.socket.open();
    tried[2]?.socket.receive("hello");
    tried[2]?.socket.receive("answer");
    expect([events, roads.current]).toEqual([["open", "hello", "answer"], "fetch"]);
    expect([tried[2]?.socket.sent, tried[3]?.socket.readyState]).toEqual([[], WebSocket.CLOSED]);
    // WebSocket had less time: that is no failure, and it is tried again when it would have been.
    platform.pass(30_000);
    expect([triedRoads().slice(4), last().readyState]).toEqual([["websocket"], WebSocket.CONNECTING]);
  });

  it("takes both at once after an attempt that was given up before either opened", () => {
    const { platform, connect, tried, triedRoads } = setUp();
    const { socket, events } = connect();
    socket.close();
    expect([events, tried[0]?.socket.readyState]).toEqual([[], WebSocket.CLOSED]);
    connect();
    platform.pass(0);
    expect(triedRoads()).toEqual(["websocket", "websocket", "fetch"]);
  });
});

describe("a first flight", () => {
  it("goes by fetch at once, beside a WebSocket that says nothing, and goes on there", () => {
    const { platform, roads, connect, tried, triedRoads } = setUp();
    roads.flyFirst();
    const { socket, events } = connect();
    platform.pass(0);
    expect(triedRoads()).toEqual(["fetch", "websocket"]);
    expect(tried.map(({ socket: each }) => each.protocols)).toEqual([WHOLE, BARE]);
    tried[0]?.socket.open();
    tried[0]?.socket.receive("answer");
    expect([events, roads.current, roads.takesWebSockets]).toEqual([["open", "answer"], "fetch", true]);
    expect([tried[1]?.socket.readyState, socket.roundTrips]).toEqual([WebSocket.CLOSED, 2]);
  });

  it("lands on a WebSocket in the first quiet moment after the page has loaded", () => {
    const { platform, roads, connect, last, tried, triedRoads } = setUp();
    roads.flyFirst();
    const { socket, events } = connect();
    platform.pass(0);
    tried[0]?.socket.open();
    platform.pass(4_500);
    socket.send(Uint8Array.of(1));
    platform.pass(500);
    expect([triedRoads().slice(2), last().protocols]).toEqual([["websocket"], BARE]);
    last().open();
    platform.pass(1_400);
    expect(events).toEqual(["open"]);
    platform.pass(100);
    expect(events).toEqual(["open", 1012]);
    connect();
    platform.pass(limits.webSocketPatience - 1);
    expect([triedRoads().slice(3), last().protocols]).toEqual([["websocket"], WHOLE]);
  });

  it("begins the WebSocket where that opens first, or the fetch fails", () => {
    for (const fails of [true, false]) {
      const { platform, roads, connect, tried, triedRoads } = setUp();
      roads.flyFirst();
      const { events, socket } = connect();
      platform.pass(0);
      if (fails) tried[0]?.socket.lose();
      expect(events).toEqual([]);
      tried[1]?.socket.open();
      expect([events, roads.current, tried[1]?.socket.sent]).toEqual([["open"], "websocket", [OPENING]]);
      expect([tried[0]?.socket.readyState, socket.roundTrips]).toEqual([WebSocket.CLOSED, 3]);
      platform.pass(600_000);
      expect(triedRoads()).toEqual(["fetch", "websocket"]);
    }
  });

  it("is one: the next goes by WebSocket, and none goes where there is nothing to say", () => {
    const { platform, roads, connect, tried, triedRoads } = setUp();
    roads.flyFirst();
    connect(BARE_OFFER);
    platform.pass(0);
    expect(triedRoads()).toEqual(["websocket"]);
    tried[0]?.socket.open();
    roads.flyFirst();
    connect().socket.close();
    connect();
    expect(triedRoads()).toEqual(["websocket", "fetch", "websocket"]);
  });

  it("says that no WebSocket is of use where that is refused beside it", () => {
    const { platform, roads, connect, tried } = setUp();
    roads.flyFirst();
    connect();
    platform.pass(0);
    tried[1]?.socket.lose();
    tried[0]?.socket.open();
    expect([roads.current, roads.takesWebSockets]).toEqual(["fetch", false]);
  });
});

describe("a network where WebSocket worked", () => {
  it("gets WebSocket alone while attempts end in silence, and both roads in one of three", () => {
    const { platform, connect, last, triedRoads } = setUp();
    connect();
    last().open();
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const { socket } = connect();
      platform.pass(5_000);
      socket.close();
    }
    const lone = ["websocket", "websocket"];
    const both = ["websocket", "fetch"];
    expect(triedRoads()).toEqual(["websocket", ...both, ...lone, ...both, ...lone, ...both]);
  });

  it("gets the fetch road at once in those attempts, however long the last opening took", () => {
    const { platform, roads, connect, tried } = setUp();
    connect();
    // It waited for the link to come back.
    platform.pass(3_400);
    tried[0]?.socket.open();
    const attempt = (opensFetch: boolean) => {
      const before = tried.length;
      const { socket } = connect();
      platform.pass(500);
      const fetch = tried.slice(before).find(({ road }) => road === "fetch");
      if (opensFetch) fetch?.socket.open();
      platform.pass(SOCKET_OPEN_TIMEOUT_MIN - 500);
      if (roads.current !== "fetch") socket.close();
    };
    for (let count = 0; count < 3; count += 1) attempt(false);
    expect(roads.current).toBe("websocket");
    attempt(true);
    expect(roads.current).toBe("fetch");
  });

  it("is no such network any more once it changed", () => {
    const { platform, roads, connect, last, triedRoads } = setUp();
    connect();
    last().open();
    const { socket } = connect();
    socket.close();
    roads.networkChanged();
    connect();
    platform.pass(0);
    expect(triedRoads()).toEqual(["websocket", "websocket", "websocket", "fetch"]);
  });
});

describe("what is remembered", () => {
  it("is that a network lets no WebSocket through", () => {
    const { network, connect, connectByFetch, triedRoads, last } = setUp();
    connectByFetch();
    connect();
    expect(triedRoads().at(-1)).toBe("fetch");
    expect(last().protocols).toEqual(WHOLE);
    network.name = "cellular";
    connect();
    expect(triedRoads().at(-1)).toBe("websocket");
  });

  it("is forgotten when the fetch road ends nowhere too", () => {
    const { connect, connectByFetch, triedRoads, last } = setUp();
    connectByFetch();
    connect();
    last().lose();
    expect(triedRoads().at(-1)).toBe("websocket");
    last().lose();
    connect();
    expect(triedRoads().at(-1)).toBe("websocket");
  });

  it("is that nothing ever came on the last two WebSockets", () => {
    const { connect, triedRoads, last } = setUp();
    for (let turn = 0; turn < 2; turn += 1) {
      const { socket } = connect();
      last().open();
      socket.close();
    }
    connect();
    expect(triedRoads()).toEqual(["websocket", "websocket", "fetch"]);
  });
});

describe("on the fetch road", () => {
  it("WebSocket is tried again by a socket that says nothing, and the link moves when it is quiet", () => {
    const { platform, connect, connectByFetch, last, tried, triedRoads } = setUp();
    const { socket, events } = connectByFetch();
    platform.pass(29_500);
    socket.send(Uint8Array.of(1));
    platform.pass(500);
    expect(triedRoads()).toEqual(["websocket", "fetch", "websocket"]);
    expect(last().protocols).toEqual(BARE);
    last().open();
    expect([last().readyState, last().sent, events]).toEqual([WebSocket.CLOSED, [], ["open"]]);
    platform.pass(1_000);
    last().receive("not heard");
    tried[1]?.socket.receive(new ArrayBuffer(1));
    platform.pass(1_900);
    expect(events.length).toBe(2);
    platform.pass(100);
    expect(events.at(-1)).toBe(1012);
    expect(tried[1]?.socket.readyState).toBe(WebSocket.CLOSED);
    connect();
    expect(triedRoads().at(-1)).toBe("websocket");
    platform.pass(600_000);
    expect(tried.length).toBe(5);
  });

  it("a trial that fails, or ends in silence, is repeated after minutes", () => {
    const { platform, connectByFetch, last, tried } = setUp();
    connectByFetch();
    platform.pass(30_000);
    last().lose();
    platform.pass(limits.webSocketRetryTime - 1);
    expect(tried.length).toBe(3);
    platform.pass(1);
    expect(tried.length).toBe(4);
    platform.pass(SOCKET_OPEN_TIMEOUT);
    expect(last().readyState).toBe(WebSocket.CLOSED);
    platform.pass(limits.webSocketRetryTime);
    expect(tried.length).toBe(5);
  });

  it("a trial follows at once when the network changes, and none when the socket is over", () => {
    const { platform, roads, connectByFetch, tried } = setUp();
    const { socket } = connectByFetch();
    roads.networkChanged();
    platform.pass(0);
    expect(tried.length).toBe(3);
    socket.close();
    expect(tried[2]?.socket.readyState).toBe(WebSocket.CLOSED);
    roads.networkChanged();
    platform.pass(600_000);
    expect(tried.length).toBe(3);
  });

  it("a WebSocket that was refused with frames in its handshake, and opens without, carries none from then on", () => {
    const { platform, connect, connectByFetch, last } = setUp();
    connectByFetch();
    platform.pass(30_000);
    last().open();
    platform.pass(5_000);
    connect();
    expect(last().protocols).toEqual(BARE);
    last().open();
    expect(last().sent).toEqual([OPENING]);
  });
});

describe("a spare socket", () => {
  it("leaves the trial of WebSocket to the one that goes on", () => {
    const { platform, connect, connectByFetch, triedRoads } = setUp();
    connectByFetch();
    const spare = connect(BARE_OFFER, true);
    platform.pass(500);
    spare.socket.close();
    const before = triedRoads().length;
    platform.pass(600_000);
    expect(triedRoads().slice(before)).toContain("websocket");
  });

  it("keeps its own trial when the one that it replaces is closed", () => {
    const { platform, connect, connectByFetch, last, triedRoads } = setUp();
    const stalled = connectByFetch();
    const spare = connect(BARE_OFFER, true);
    last().open();
    stalled.socket.close();
    expect(spare.events).toEqual(["open"]);
    const before = triedRoads().length;
    platform.pass(600_000);
    expect(triedRoads().slice(before)).toContain("websocket");
  });

  it("is a WebSocket alone where that worked, and says nothing of the network when it is not needed", () => {
    const { platform, connect, last, triedRoads } = setUp();
    connect();
    last().open();
    const spare = connect(BARE_OFFER, true);
    platform.pass(SOCKET_OPEN_TIMEOUT - 1);
    expect(triedRoads()).toEqual(["websocket", "websocket"]);
    spare.socket.close();
    const before = triedRoads().length;
    connect();
    platform.pass(limits.webSocketPatience);
    expect(triedRoads().slice(before)).toEqual(["websocket", "fetch"]);
  });
});
