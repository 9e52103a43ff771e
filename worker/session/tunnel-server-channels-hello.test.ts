/** HELLOs of several channels that come late, twice, or of hostile phones: PROTOCOL.md section 4.5. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { A, connected, type Edge, setUp, useAll } from "../testing/channelled-edge.ts";
import type { ChannelledPhone } from "../testing/channelled-phone.ts";

const LOST = CLOSE_CODE_BASE + ErrorCode.LINK_LOST;

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
