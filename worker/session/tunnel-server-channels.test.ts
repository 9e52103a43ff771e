/** Sessions of several channels: PROTOCOL.md section 4.5. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import {
  A,
  connected,
  type Edge,
  hasSnapshots,
  hello,
  setUp,
  useAll,
  usedChannels,
} from "../testing/channelled-edge.ts";
import type { ChannelledPhone } from "../testing/channelled-phone.ts";

const LOST = CLOSE_CODE_BASE + ErrorCode.LINK_LOST;
describe("snapshots of several sockets", () => {
  it("are there when the session is idle, and gone when it is not, all together", async () => {
    const gate = Promise.withResolvers<void>();
    const edge = setUp(async () => {
      await gate.promise;
      return hello();
    });
    const phone = await connected(edge, 3);
    expect(hasSnapshots(edge, phone)).toEqual([true, true, true]);
    const response = phone.fetch(A);
    await settle();
    expect([hasSnapshots(edge, phone), edge.state.isActive]).toEqual([[false, false, false], true]);
    gate.resolve();
    await response;
    await settle();
    expect([hasSnapshots(edge, phone), edge.state.isActive]).toEqual([[true, true, true], false]);
  });

  it.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[2, 0, 3, 1]]])(
    "let all channels go on in a new life, whatever the order of the sockets: %s",
    async (order) => {
      const edge = setUp();
      const phone = await connected(edge, 4);
      for (let life = 0; life < 3; life += 1) {
        expect(await useAll(phone)).toEqual(Array(8).fill("hello"));
        phone.restore(edge.create(), edge.snapshots, order);
      }
      expect(await useAll(phone)).toEqual(Array(8).fill("hello"));
      expect([usedChannels(phone), phone.ended]).toEqual([4, null]);
      expect([...phone.wires.values()].every(({ closed }) => closed === null)).toBe(true);
    },
  );

  it("let a channel be resumed on another socket after that", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots);
    phone.cut(1);
    phone.connect(server, 1);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    expect([usedChannels(phone), phone.ended]).toEqual([3, null]);
  });

  it("end the session if a channel comes back of whose socket there is none", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots, [0, 2]);
    expect(server.sessionCount).toBe(1);
    phone.wires.delete(1);
    phone.connect(server, 1);
    await settle();
    expect([phone.ended?.code, server.sessionCount]).toEqual([ErrorCode.LINK_LOST, 0]);
  });

  it("are of no use without the first channel's: those sockets are closed", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots, [1, 2]);
    expect([1, 2].map((index) => phone.wires.get(index)?.closed?.code)).toEqual([LOST, LOST]);
    expect(server.sessionCount).toBe(0);
  });

  it("keep the sessions of a phone's windows apart", async () => {
    const edge = setUp();
    const [one, other] = [await connected(edge, 2), await connected(edge, 3)];
    await useAll(one);
    await useAll(other);
    const server = edge.create();
    const sockets = [...other.wires.values(), ...one.wires.values()].reverse();
    const pairs = sockets.map(({ transport }) => [transport, edge.snapshots.get(transport) ?? null] as const);
    for (const [position, connection] of server.restore(pairs).entries()) {
      const wire = sockets[position];
      if (wire !== undefined) wire.connection = connection;
    }
    expect(await useAll(one)).toEqual(Array(4).fill("hello"));
    expect(await useAll(other)).toEqual(Array(6).fill("hello"));
    expect([server.sessionCount, one.ended, other.ended]).toEqual([2, null, null]);
  });
});

describe("a channel whose socket is lost", () => {
  it("keeps the runtime awake until it is there again", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    phone.cut(1);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([true, [false, false]]);
    phone.connect(edge.server, 1);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([false, [true, true, true]]);
    expect(edge.timers.size).toBe(0);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });

  it("is waited for no longer than sessions are, which goes on without it", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(2);
    expect([...edge.timers.values()]).toEqual([limits.sessionLinger]);
    edge.runTimers();
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount, edge.timers.size]).toEqual([false, 1, 0]);
    expect(hasSnapshots(edge, phone)).toEqual([true, true]);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
  });

  it("ends the session if it is the first, and does not come back", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(0);
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount]).toEqual([true, 1]);
    edge.runTimers();
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount, phone.ended?.code]).toEqual([false, 0, ErrorCode.LINK_LOST]);
  });

  it("lets the others go on, the first too", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(0);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    phone.connect(edge.server, 0);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });
});

describe("a session that lost all its sockets", () => {
  it("is kept for a while from the last", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    phone.cut(0);
    phone.cut(1);
    await settle();
    expect([edge.server.sessionCount, edge.state.isActive, [...edge.timers.values()]]).toEqual([
      1,
      false,
      [limits.sessionLinger],
    ]);
    edge.runTimers();
    expect(edge.server.sessionCount).toBe(0);
  });

  it("does not sleep before all have come back, the first last", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    for (const index of [0, 1, 2]) phone.cut(index);
    for (const index of [2, 1]) phone.connect(edge.server, index);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([true, [false, false]]);
    phone.connect(edge.server, 0);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([false, 0]);
    expect(hasSnapshots(edge, phone)).toEqual([true, true, true]);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });
});

describe("a channel that the phone has ended", () => {
  it("does not keep the runtime awake, and begins anew, also in another life", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    await phone.retire(2);
    await settle();
    expect([edge.state.isActive, edge.timers.size, hasSnapshots(edge, phone)]).toEqual([false, 0, [true, true]]);
    phone.connect(edge.server, 2);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    await phone.retire(1);
    await settle();
    const server = edge.create();
    phone.restore(server, edge.snapshots);
    phone.connect(server, 1);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    expect([usedChannels(phone), phone.ended]).toEqual([3, null]);
  });

  it("does not keep the runtime awake for what the phone has, but never said so", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    if (wire === undefined) throw new Error("the channel has no socket");
    const { connection } = wire;
    // The request gets through, and what the phone says after that does not.
    let left = 1;
    wire.connection = { ...connection, receive: (message) => (left-- > 0 ? connection.receive(message) : undefined) };
    await Promise.all([0, 1].map((name) => phone.fetch(`${A}/${name}`)));
    await settle();
    expect([left < 1, edge.state.isActive]).toEqual([true, true]);
    await phone.retire(1);
    await settle();
    expect([edge.state.isActive, edge.timers.size, hasSnapshots(edge, phone)]).toEqual([false, 0, [true]]);
  });

  it("is closed by the edge, and not used any more", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    await phone.retire(1);
    expect(wire?.closed?.code).toBe(CLOSED_NORMALLY);
    expect(await useAll(phone)).toEqual(Array(2).fill("hello"));
  });

  it("is waited for if nobody knows whether the phone heard that", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    await phone.retire(1, false);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([true, 1]);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect([edge.state.isActive, edge.timers.size, phone.ended]).toEqual([false, 0, null]);
  });

  it("may be resumed by a phone that confirmed the end and did not learn that it had come", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    wire?.connection.finish();
    wire?.connection.closed(true);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([false, 0]);
    phone.cut(1);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect(phone.ended).toBeNull();
  });

  it("may be resumed by a phone that did not hear of the end", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    phone.wires.get(1)?.connection.finish();
    phone.cut(1);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect([edge.state.isActive, edge.timers.size, phone.ended]).toEqual([false, 0, null]);
  });
});

describe("a HELLO that was overtaken by a later link's", () => {
  it.each([0, 1])("harms nothing on channel %d", async (index) => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    const { sessionId } = phone.session.channel;
    const late = messageOf({
      type: "hello",
      sessionId,
      channel: index,
      received: 0,
      next: 0,
      link: 0,
      resume: index === 0,
    });
    await useAll(phone);
    phone.cut(index);
    phone.connect(edge.server, index);
    await useAll(phone);
    const transport = new ScriptedTransport();
    edge.server.connect(transport).receive(late);
    expect(transport.closed?.code).toBe(CLOSED_NORMALLY);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect([phone.ended, edge.server.sessionCount]).toEqual([null, 1]);
  });
});

describe("a HELLO that was under way on two roads", () => {
  const helloOf = (phone: ChannelledPhone, link: number): Uint8Array => {
    const { sessionId } = phone.session.channel;
    return messageOf({ type: "hello", sessionId, received: 0, next: 0, link, resume: link > 0 });
  };

  it("is not acted on when the phone has said more on the other", async () => {
    const edge = setUp();
    const phone = await connected(edge, 1);
    expect((await phone.fetch(A)).text).toBe("hello");
    await settle();
    const late = new ScriptedTransport();
    edge.server.connect(late).receive(helloOf(phone, 0));
    await settle();
    expect([late.closed?.code, phone.wires.get(0)?.closed]).toEqual([CLOSED_NORMALLY, null]);
    expect([(await phone.fetch(A)).text, phone.ended, edge.server.sessionCount]).toEqual(["hello", null, 1]);
    // Nor once the one that the phone has chosen is gone.
    phone.cut(0);
    const later = new ScriptedTransport();
    edge.server.connect(later).receive(helloOf(phone, 0));
    phone.connect(edge.server, 0);
    expect([(await phone.fetch(A)).text, later.closed?.code]).toEqual(["hello", CLOSED_NORMALLY]);
  });

  it("is the road's that it comes on last while the phone has said nothing more", async () => {
    const edge = setUp();
    const phone = await connected(edge, 0);
    const roads = [new ScriptedTransport(), new ScriptedTransport()];
    for (const road of roads) edge.server.connect(road).receive(helloOf(phone, 0));
    await settle();
    expect(roads.map(({ closed }) => closed?.code)).toEqual([CLOSED_NORMALLY, undefined]);
  });

  it("is still told apart after hibernation, from the next message on", async () => {
    const edge = setUp();
    const phone = await connected(edge, 1);
    await phone.fetch(A);
    await settle();
    const server = edge.create();
    phone.restore(server, edge.snapshots);
    expect((await phone.fetch(A)).text).toBe("hello");
    const late = new ScriptedTransport();
    server.connect(late).receive(helloOf(phone, 0));
    expect([late.closed?.code, (await phone.fetch(A)).text, phone.ended]).toEqual([CLOSED_NORMALLY, "hello", null]);
  });
});

describe("hostile phones", () => {
  const sessionId = new Uint8Array(16).fill(7);
  const say = (channel: number, { received = 0, next = 0, link = 0, resume = false } = {}): Uint8Array =>
    messageOf({ type: "hello", sessionId, channel, received, next, link, resume });
  const open = (edge: Edge, message: Uint8Array): ScriptedTransport => {
    const transport = new ScriptedTransport();
    edge.server.connect(transport).receive(message);
    return transport;
  };

  it("cannot begin a session with a further channel", () => {
    const edge = setUp();
    const transport = open(edge, say(1));
    expect(transport.takeFrames()).toMatchObject([{ type: "go-away", code: ErrorCode.LINK_LOST }]);
    edge.runTimers();
    expect([transport.closed?.code, edge.server.sessionCount]).toEqual([LOST, 0]);
  });

  it.each([
    ["beyond the limit", say(limits.channels)],
    ["far beyond it", say(limits.channels * 1_000)],
    ["of which the edge should have got something", say(2, { next: 1 })],
    ["that they say was there before", say(2, { resume: true })],
  ])("cannot open a channel %s", (_name, message) => {
    const edge = setUp();
    open(edge, messageOf({ type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false }));
    const transport = open(edge, message);
    edge.runTimers();
    expect([transport.closed?.code, edge.server.sessionCount]).toEqual([LOST, 0]);
  });

  it("may open the same channel as often as they like: the last has it", () => {
    const edge = setUp();
    open(edge, messageOf({ type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false }));
    const sockets = Array.from({ length: 50 }, () => open(edge, say(1)));
    expect(sockets.map(({ closed }) => closed === null)).toEqual([...Array(49).fill(false), true]);
    expect([edge.server.sessionCount, edge.timers.size]).toEqual([1, 0]);
  });

  it("are not heard on a socket that they opened before the channel's newest, though it comes after it", async () => {
    const edge = setUp();
    open(edge, messageOf({ type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false }));
    const newer = open(edge, say(1, { link: 2 }));
    const late = open(edge, say(1, { link: 1 }));
    await settle();
    expect([late.closed?.code, newer.closed, edge.server.sessionCount]).toEqual([CLOSED_NORMALLY, null, 1]);
  });

  it("do not bring back a channel that they have retired, by a socket that got through late", async () => {
    const edge = setUp();
    open(edge, messageOf({ type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false }));
    const socket = new ScriptedTransport();
    const connection = edge.server.connect(socket);
    connection.receive(say(1, { link: 2 }));
    connection.finish();
    connection.closed(true);
    const late = open(edge, say(1, { link: 1 }));
    const fresh = open(edge, say(1, { link: 3 }));
    await settle();
    expect([socket.closed?.code, late.closed?.code, fresh.closed]).toEqual([CLOSED_NORMALLY, CLOSED_NORMALLY, null]);
  });
});
