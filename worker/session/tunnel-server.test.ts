import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { PhoneTraits } from "../../shared/http/phone-traits.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import { bodyOf, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { hello, setUp, snapshotOf } from "../testing/server-rig.ts";
import { WiredPhone } from "../testing/wired-phone.ts";
import type { SurvivingSocket } from "./tunnel-server.ts";

describe("sessions of a phone", () => {
  it("opens one with its first HELLO and answers its requests with its constants", async () => {
    const seen: PhoneTraits[] = [];
    const edge = setUp(async (_, constants) => {
      seen.push(constants);
      return hello();
    });
    const phone = new WiredPhone("Phone/7");
    phone.connect(edge.server);
    expect((await phone.fetch("https://a.example/")).text).toBe("hello");
    expect(seen).toEqual([{ userAgent: "Phone/7", acceptLanguage: "en", accept: {} }]);
    expect(edge.server.sessionCount).toBe(1);
  });

  it("cuts constants that are long", async () => {
    let length = 0;
    const edge = setUp(async (_, { userAgent }) => {
      length = userAgent.length;
      return hello();
    });
    const phone = new WiredPhone("U".repeat(5000));
    phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    expect(length).toBe(1024);
  });

  it("keeps the sessions of a phone's windows apart", async () => {
    const edge = setUp(async (_, { userAgent }) => ({ head: responseHead, body: bodyOf(userAgent) }));
    const phones = ["One", "Two"].map((name) => new WiredPhone(name));
    for (const phone of phones) phone.connect(edge.server);
    const texts = await Promise.all(phones.map(async (phone) => (await phone.fetch("https://a.example/")).text));
    expect(texts).toEqual(["One", "Two"]);
    expect(edge.server.sessionCount).toBe(2);
  });

  it("begins no more requests while many that were given up have no answer yet", async () => {
    let begun = 0;
    const edge = setUp(() => {
      begun += 1;
      return new Promise(() => {});
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    for (let index = 0; index < 3 * limits.concurrentStreams; index += 1) {
      const { response, cancel } = await phone.start("https://a.example/");
      response.catch(() => {});
      cancel();
      if (index % 64 === 0) await settle();
    }
    await expect(phone.fetch("https://a.example/")).rejects.toMatchObject({ code: ErrorCode.REFUSED_STREAM });
    expect(begun).toBe(2 * limits.concurrentStreams);
  });

  it("says while any exchange is under way, once each time", async () => {
    const gate = Promise.withResolvers<void>();
    const edge = setUp(async () => {
      await gate.promise;
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    const all = Promise.all([phone.fetch("https://a.example/"), phone.fetch("https://b.example/")]);
    await settle();
    expect(edge.activity).toEqual([true]);
    gate.resolve();
    await all;
    await settle();
    expect(edge.activity).toEqual([true, false]);
  });
});

describe("too many sessions", () => {
  const fill = async (edge: ReturnType<typeof setUp>) => {
    const phones = Array.from({ length: limits.sessionsPerPhone }, () => new WiredPhone());
    for (const phone of phones) phone.connect(edge.server);
    await settle();
    return phones;
  };

  it("refuses the one above the limit while all are in use", async () => {
    const edge = setUp();
    const phones = await fill(edge);
    const late = new WiredPhone();
    const wire = late.connect(edge.server);
    await settle();
    expect(wire.closed).toMatchObject({ code: CLOSE_CODE_BASE + ErrorCode.ENHANCE_YOUR_CALM });
    expect(edge.server.sessionCount).toBe(limits.sessionsPerPhone);
    expect((await phones[0]?.fetch("https://a.example/"))?.text).toBe("hello");
  });

  it("drops one that waits for its phone in favour of a new one", async () => {
    const edge = setUp();
    const phones = await fill(edge);
    phones[3]?.cut();
    const late = new WiredPhone();
    late.connect(edge.server);
    expect((await late.fetch("https://a.example/")).text).toBe("hello");
    expect(edge.server.sessionCount).toBe(limits.sessionsPerPhone);
    expect(edge.timers.size).toBe(0);
  });
});

describe("too many sessions of phones that may be gone", () => {
  const request = async (phone: WiredPhone) => (await phone.fetch("https://a.example/")).text;
  const isEnded = ({ wire }: WiredPhone): boolean => wire?.closed?.code === CLOSE_CODE_BASE + ErrorCode.LINK_LOST;

  /** The first was heard longest ago, but has sent a keep-alive since; the next ones in their order. */
  const fill = async (edge: ReturnType<typeof setUp>) => {
    const phones = Array.from({ length: limits.sessionsPerPhone }, () => new WiredPhone());
    for (const phone of phones) {
      phone.connect(edge.server);
      await request(phone);
      await settle();
      edge.clock.time += 10;
    }
    edge.clock.time += limits.silentSessionTime;
    phones[0]?.wire?.connection.keptAlive();
    return phones;
  };

  it("makes room by the end of the one at rest that was heard longest ago", async () => {
    const edge = setUp();
    const phones = await fill(edge);
    const late = new WiredPhone();
    late.connect(edge.server);
    expect(await request(late)).toBe("hello");
    expect(phones.map(isEnded)).toEqual([false, true, false, false, false, false, false, false]);
  });

  it("goes by when they were heard before it lost its memory, too", async () => {
    const edge = setUp();
    const phones = await fill(edge);
    const sockets = phones.flatMap((phone): SurvivingSocket[] =>
      phone.wire ? [[phone.wire.transport, snapshotOf(edge, phone)]] : [],
    );
    const kept = new Set([phones[0]?.wire?.transport]);
    const server = edge.create((transport) => (kept.has(transport) ? edge.clock.time : null));
    server.restore(sockets);
    const late = new WiredPhone();
    late.connect(server);
    expect(await request(late)).toBe("hello");
    expect(phones.map(isEnded)).toEqual([false, true, false, false, false, false, false, false]);
  });

  it("ends none that it heard lately, nor one that waits for a response", async () => {
    let answered: Promise<void> | undefined;
    const edge = setUp(async () => {
      await answered;
      return hello();
    });
    const phones = await fill(edge);
    const gate = Promise.withResolvers<void>();
    answered = gate.promise;
    const waiting = phones[1] && request(phones[1]);
    await settle();
    edge.clock.time += limits.silentSessionTime;
    for (const [index, phone] of phones.entries()) if (index !== 1) phone.wire?.connection.keptAlive();
    const late = new WiredPhone();
    const wire = late.connect(edge.server);
    await settle();
    expect(wire.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.ENHANCE_YOUR_CALM);
    gate.resolve();
    expect([await waiting, phones.some(isEnded)]).toEqual(["hello", false]);
  });

  it("ends one with a response that its phone does not read, once it was silent for as long as one without a socket", async () => {
    const edge = setUp(async () => ({ head: responseHead, body: new ReadableStream() }));
    const phones = Array.from({ length: limits.sessionsPerPhone }, () => new WiredPhone());
    for (const phone of phones) {
      phone.connect(edge.server);
      request(phone).catch(() => {});
      await settle();
    }
    edge.clock.time += limits.sessionLinger - 1;
    const early = new WiredPhone().connect(edge.server);
    await settle();
    expect(early.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.ENHANCE_YOUR_CALM);
    edge.clock.time += 1;
    const late = new WiredPhone().connect(edge.server);
    await settle();
    expect([late.closed, phones.map(isEnded)]).toEqual([null, phones.map((_, index) => index === 0)]);
  });
});

describe("hostile beginnings", () => {
  const id = new Uint8Array(16);
  it.each([
    ["nothing", new Uint8Array(0), ErrorCode.PROTOCOL_ERROR],
    ["bytes that are no frame", Uint8Array.of(0xff, 0xff, 0xff), null],
    ["a frame that is not HELLO", messageOf({ type: "ack", received: 0 }), ErrorCode.PROTOCOL_ERROR],
    ["a message that is too long", new Uint8Array(limits.messageBytes + 1), null],
    [
      "a session of another life",
      messageOf({ type: "hello", sessionId: id, received: 3, next: 0, link: 0, resume: false }),
      ErrorCode.LINK_LOST,
    ],
    [
      "a session that the phone has heard of",
      messageOf({ type: "hello", sessionId: id, received: 0, next: 0, link: 0, resume: true, isGreeted: true }),
      ErrorCode.LINK_LOST,
    ],
    [
      "frames before its first",
      messageOf({ type: "hello", sessionId: id, received: 0, next: 7, link: 0, resume: false }),
      ErrorCode.LINK_LOST,
    ],
  ])("closes the socket upon %s, with a code and a reason that fits", (_, message, code) => {
    const { server, timers, runTimers } = setUp();
    const transport = new ScriptedTransport();
    const connection = server.connect(transport);
    connection.receive(message);
    if (code === ErrorCode.LINK_LOST) runTimers();
    if (code === null) expect(transport.closed?.code).toBeGreaterThan(CLOSE_CODE_BASE);
    else expect(transport.closed?.code).toBe(CLOSE_CODE_BASE + code);
    expect(new TextEncoder().encode(transport.closed?.reason).length).toBeLessThanOrEqual(123);
    expect(server.sessionCount).toBe(0);
    // What follows on a refused socket is not listened to.
    connection.receive(messageOf({ type: "hello", sessionId: id, received: 0, next: 0, link: 0, resume: false }));
    expect(server.sessionCount).toBe(0);
    connection.closed();
    expect(timers.size).toBe(0);
  });

  it("does nothing for a socket that closes without a word", () => {
    const { server, timers } = setUp();
    server.connect(new ScriptedTransport()).closed();
    expect(server.sessionCount).toBe(0);
    expect(timers.size).toBe(0);
  });

  it("ends a session whose peer breaks the protocol, and forgets it", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    const wire = phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    wire.connection.receive(Uint8Array.of(0xff, 0xff, 0xff));
    expect(wire.closed?.code).toBeGreaterThan(CLOSE_CODE_BASE);
    expect(edge.server.sessionCount).toBe(0);
    expect(edge.snapshots.get(wire.transport)).toBeNull();
  });
});
