/** Channels on the first one's socket: PROTOCOL.md sections 3.10 and 4.5. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import { statusOf } from "../../shared/testing/mux/channel-status.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { A, connected, type Edge, hasSnapshots, setUp, useAll } from "../testing/channelled-edge.ts";
import type { ChannelledPhone } from "../testing/channelled-phone.ts";

describe("a channel on the first one's socket", () => {
  async function carried(edge: Edge): Promise<ChannelledPhone> {
    const phone = await connected(edge, 3);
    await useAll(phone);
    for (const index of [1, 2]) phone.cut(index);
    phone.session.channels.carryStranded();
    await settle();
    return phone;
  }

  it("goes on where it was, keeps the runtime awake, and gets a socket of its own again", async () => {
    const edge = setUp();
    const phone = await carried(edge);
    expect([edge.state.isActive, edge.timers.size]).toEqual([true, 0]);
    expect((await phone.fetch(A)).text).toBe("hello");
    for (const index of [1, 2]) {
      phone.connect(edge.server, index);
      await settle();
    }
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    expect([edge.state.isActive, hasSnapshots(edge, phone), phone.ended]).toEqual([false, [true, true, true], null]);
  });

  it("is waited for when that is lost, and goes on over the next", async () => {
    const edge = setUp();
    const phone = await carried(edge);
    phone.cut(0);
    expect([...edge.timers.values()]).toEqual([limits.sessionLinger]);
    phone.connect(edge.server, 0);
    phone.session.channels.carryStranded();
    await settle();
    expect([edge.timers.size, (await phone.fetch(A)).text, phone.ended]).toEqual([0, "hello", null]);
    expect(statusOf(phone.session).map(({ isCarried }) => isCarried)).toEqual([false, true, true]);
  });

  it("goes on over the next too if the edge has not noticed that the first was lost", async () => {
    const edge = setUp();
    const phone = await carried(edge);
    phone.connect(edge.server, 0);
    phone.session.channels.carryStranded();
    await settle();
    expect([edge.timers.size, (await phone.fetch(A)).text, phone.ended]).toEqual([0, "hello", null]);
  });

  it.each([
    ["of another channel", 2, 7],
    ["of another link", 1, 6],
  ])("cannot be begun with HELLO %s", async (_name, channel, link) => {
    const edge = setUp();
    const sessionId = new Uint8Array(16).fill(3);
    const transport = new ScriptedTransport();
    const hello = { type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false } as const;
    const place = { type: "carry", channel: 1, link: 7 } as const;
    edge.server.connect(transport).receive(messageOf(hello, place, { ...hello, channel, link }));
    expect(transport.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR);
    expect(edge.server.sessionCount).toBe(0);
  });

  it("cannot be begun twice in a message, nor without end", () => {
    const hello = (link: number, channel = {}) =>
      ({
        type: "hello",
        sessionId: new Uint8Array(16).fill(3),
        ...channel,
        received: 0,
        next: 0,
        link,
        resume: false,
      }) as const;
    const begin = (link: number) =>
      [{ type: "carry", channel: 1, link } as const, hello(link, { channel: 1 })] as const;
    for (const messages of [
      [messageOf(hello(0), ...begin(1), ...begin(2))],
      [
        messageOf(hello(0)),
        ...Array.from({ length: limits.carriedHellos + 1 }, (_, link) => messageOf(...begin(link + 1))),
      ],
    ]) {
      const edge = setUp();
      const transport = new ScriptedTransport();
      const connection = edge.server.connect(transport);
      for (const message of messages) connection.receive(message);
      const code = messages.length === 1 ? ErrorCode.PROTOCOL_ERROR : ErrorCode.ENHANCE_YOUR_CALM;
      expect([transport.closed?.code, edge.server.sessionCount]).toEqual([CLOSE_CODE_BASE + code, 0]);
    }
  });

  it("goes over the road that the phone has chosen where its HELLO was under way on two", async () => {
    const edge = setUp();
    const hello = {
      type: "hello",
      sessionId: new Uint8Array(16).fill(3),
      received: 0,
      next: 0,
      resume: false,
    } as const;
    const place = { type: "carry", channel: 1, link: 1 } as const;
    const opening = messageOf({ ...hello, link: 0 }, place, { ...hello, ...place, type: "hello" });
    const roads = [0, 1, 2].map(() => new ScriptedTransport());
    const [first, chosen, late] = roads.map((road) => edge.server.connect(road));
    first?.receive(opening);
    chosen?.receive(opening);
    chosen?.receive(messageOf(place, { type: "ping", token: 5 }));
    await settle();
    late?.receive(opening);
    await settle();
    expect(roads.map(({ closed }) => closed?.code)).toEqual([CLOSED_NORMALLY, undefined, CLOSED_NORMALLY]);
    expect(roads[1]?.takeFrames().map(({ type }) => type)).toEqual(["hello", "carry", "hello", "pong"]);
  });

  it("is not heard without HELLO, nor when that is older than the channel's newest", async () => {
    const edge = setUp();
    const sessionId = new Uint8Array(16).fill(3);
    const [first, own] = [new ScriptedTransport(), new ScriptedTransport()];
    const hello = { type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false } as const;
    const connection = edge.server.connect(first);
    connection.receive(messageOf(hello));
    connection.receive(messageOf({ type: "carry", channel: 1, link: 1 }, { type: "ping", token: 5 }));
    edge.server.connect(own).receive(messageOf({ ...hello, channel: 1, link: 3 }));
    connection.receive(messageOf({ type: "carry", channel: 1, link: 2 }, { ...hello, channel: 1, link: 2 }));
    await settle();
    expect([first.closed, own.closed, edge.server.sessionCount]).toEqual([null, null, 1]);
    expect(first.takeFrames().map(({ type }) => type)).toEqual(["hello"]);
  });
});
