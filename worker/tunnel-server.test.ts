import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../shared/errors.ts";
import type { ServerRequest, ServerResponse } from "../shared/http/server-exchange.ts";
import { limits } from "../shared/limits.ts";
import { CLOSE_CODE_BASE } from "../shared/subprotocol.ts";
import { bodyOf, CountedBody, responseHead } from "../shared/testing/exchange-rig.ts";
import { messageOf, ScriptedTransport } from "../shared/testing/scripted-transport.ts";
import { settle } from "../shared/testing/turns.ts";
import { decodeMessage } from "../shared/wire/frame.ts";
import type { ConnectionSnapshot, FirstSnapshot, SessionConstants } from "./served-session.ts";
import { streamOf } from "./testing/phone-session.ts";
import { rememberingEdge } from "./testing/remembering-edge.ts";
import { WiredPhone } from "./testing/wired-phone.ts";

type Handle = (request: ServerRequest, constants: SessionConstants) => Promise<ServerResponse>;

const hello = async (): Promise<ServerResponse> => ({ head: responseHead, body: bodyOf("hello") });

function setUp(handle: Handle = hello) {
  const activity: boolean[] = [];
  return { ...rememberingEdge({ handle, onActive: (active) => activity.push(active) }), activity };
}

function snapshotOf(edge: ReturnType<typeof setUp>, phone: WiredPhone): FirstSnapshot | null {
  const snapshot = (phone.wire && edge.snapshots.get(phone.wire.transport)) ?? null;
  return snapshot !== null && "session" in snapshot ? snapshot : null;
}

describe("sessions of a phone", () => {
  it("opens one with its first HELLO and answers its requests with its constants", async () => {
    const seen: SessionConstants[] = [];
    const edge = setUp(async (_, constants) => {
      seen.push(constants);
      return hello();
    });
    const phone = new WiredPhone("Phone/7");
    phone.connect(edge.server);
    expect((await phone.fetch("https://a.example/")).text).toBe("hello");
    expect(seen).toEqual([{ userAgent: "Phone/7", acceptLanguage: "en" }]);
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

describe("an edge whose last frames the phone has not acknowledged", () => {
  /** An answer that the phone never gets. */
  async function unheard() {
    const edge = setUp(async () => hello());
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/first");
    phone.isDeaf = true;
    const response = phone.fetch("https://a.example/");
    await settle();
    return { edge, phone, response };
  }

  it("stays awake, and sends them again on the next link", async () => {
    const { edge, phone, response } = await unheard();
    expect(edge.activity).toEqual([true, false, true]);
    expect(snapshotOf(edge, phone)).toBeNull();
    phone.cut("phone");
    phone.isDeaf = false;
    phone.connect(edge.server);
    expect((await response).text).toBe("hello");
    await settle();
    expect(edge.activity).toEqual([true, false, true, false]);
    expect(edge.timers.size).toBe(0);
  });

  it("waits no longer than for a phone without a link", async () => {
    const { edge, phone } = await unheard();
    expect([...edge.timers]).toHaveLength(1);
    edge.runTimers();
    await settle();
    expect(edge.activity).toEqual([true, false, true, false]);
    expect(snapshotOf(edge, phone)).not.toBeNull();
  });
});

describe("a phone that comes back", () => {
  it("goes on with the session: the answer arrives, the request runs once", async () => {
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    const edge = setUp(async () => {
      requests++;
      await gate.promise;
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    const response = phone.fetch("https://a.example/", { method: "POST", body: "once" });
    await settle();
    phone.cut();
    expect([...edge.timers.values()]).toEqual([limits.sessionLinger]);
    gate.resolve();
    await settle();
    phone.connect(edge.server);
    expect((await response).text).toBe("hello");
    expect(edge.timers.size).toBe(0);
    expect(requests).toBe(1);
  });

  it("takes over from a socket that the edge believes in, and ignores what that one still delivers", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    const first = phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    phone.cut("phone");
    phone.connect(edge.server);
    expect((await phone.fetch("https://b.example/")).text).toBe("hello");
    expect(first.closed?.code).toBe(1000);
    const data = { type: "data", streamId: 99, end: true, payload: new Uint8Array(9) } as const;
    first.connection.receive(messageOf(data));
    first.connection.closed();
    expect(edge.timers.size).toBe(0);
    expect((await phone.fetch("https://c.example/")).text).toBe("hello");
    expect(phone.ended).toBeNull();
  });

  it("finds its session gone after the linger time, its exchanges cancelled", async () => {
    const signals: AbortSignal[] = [];
    const edge = setUp(({ head, signal }) => {
      if (head.url.endsWith("/first")) return hello();
      signals.push(signal);
      return new Promise(() => {});
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/first");
    const response = phone.fetch("https://a.example/");
    await settle();
    phone.cut();
    edge.runTimers();
    expect(signals[0]?.aborted).toBe(true);
    expect(edge.server.sessionCount).toBe(0);
    expect(edge.activity).toEqual([true, false, true, false]);
    response.catch(() => {});
    const wire = phone.connect(edge.server);
    await settle();
    // The phone has heard why, and may close; if it does not, the edge does.
    expect([phone.ended?.code, wire.closed, edge.server.sessionCount]).toEqual([ErrorCode.LINK_LOST, null, 0]);
    await expect(response).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    expect([...edge.timers.values()]).toEqual([limits.refusalTime]);
    edge.runTimers();
    expect(wire.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
  });

  it("goes on in a session that was lost before it heard anything, and says that its requests may have run", async () => {
    const seen: (boolean | undefined)[] = [];
    const edge = setUp(async ({ head }) => {
      seen.push(head.delivery?.isRepeat);
      return seen.length === 1 ? new Promise<ServerResponse>(() => {}) : hello();
    });
    const phone = new WiredPhone();
    phone.isDeaf = true;
    phone.connect(edge.server);
    const response = phone.fetch("https://a.example/");
    await settle();
    phone.cut();
    phone.isDeaf = false;
    phone.connect(edge.create());
    expect((await response).text).toBe("hello");
    await phone.fetch("https://a.example/later");
    expect(seen).toEqual([undefined, true, true]);
  });

  it("does not go on in one that was lost after it heard of it, though it had no frame yet", async () => {
    const edge = setUp(() => new Promise<ServerResponse>(() => {}));
    const phone = new WiredPhone();
    phone.connect(edge.server);
    const response = phone.fetch("https://a.example/");
    await settle();
    expect(phone.session.channel.received).toBe(0);
    phone.cut();
    phone.connect(edge.create());
    await expect(response).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    expect(edge.server.sessionCount).toBe(1);
  });

  it("says so after hibernation too", async () => {
    const seen: (boolean | undefined)[] = [];
    const edge = setUp(async ({ head }) => {
      seen.push(head.delivery?.isRepeat);
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    phone.cut();
    phone.connect(edge.create());
    await phone.fetch("https://a.example/");
    await settle();
    phone.restore(edge.create(), snapshotOf(edge, phone));
    await phone.fetch("https://a.example/");
    expect(seen).toEqual([true, true]);
  });

  it("finds its session where it was though it had heard nothing on it", async () => {
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    const edge = setUp(async () => {
      requests++;
      await gate.promise;
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    const response = phone.fetch("https://a.example/", { method: "POST", body: "pay" });
    await settle();
    for (const noticedBy of ["both", "phone"] as const) {
      phone.cut(noticedBy);
      phone.connect(edge.server);
      await settle();
    }
    gate.resolve();
    expect((await response).text).toBe("hello");
    expect(requests).toBe(1);
  });

  it("is refused, and its session ended, when it skips frames that are missing here", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    const { sessionId } = phone.session.channel;
    // The phone goes on where it was, then claims to have been heard further.
    const acknowledging = new ScriptedTransport();
    const { received, sent } = phone.session.channel;
    phone.cut();
    edge.server
      .connect(acknowledging)
      .receive(messageOf({ type: "hello", sessionId, received, next: sent, link: 0, resume: false }));
    expect(acknowledging.closed).toBeNull();
    const forgetful = new ScriptedTransport();
    edge.server
      .connect(forgetful)
      .receive(messageOf({ type: "hello", sessionId, received, next: sent + 1, link: 0, resume: true }));
    for (const { messages } of [forgetful, acknowledging]) {
      const last = [...decodeMessage(messages.at(-1) ?? new Uint8Array(0))].at(-1);
      expect(last).toMatchObject({ type: "go-away", code: ErrorCode.LINK_LOST });
    }
    edge.runTimers();
    expect(forgetful.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    expect(acknowledging.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    expect(edge.server.sessionCount).toBe(0);
    expect(edge.timers.size).toBe(0);
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

describe("snapshots", () => {
  it("is there once the session is idle, and lets it go on in a new life", async () => {
    const edge = setUp();
    const phone = new WiredPhone("Phone/7");
    phone.connect(edge.server);
    await phone.fetch("https://a.example/one");
    for (let life = 0; life < 3; life++) {
      await settle();
      const snapshot = snapshotOf(edge, phone);
      expect(snapshot?.constants.userAgent).toBe("Phone/7");
      phone.restore(edge.create(), snapshot);
      // Indexed by HPACK in the former life.
      expect((await phone.fetch("https://a.example/one")).text).toBe("hello");
      expect((await phone.fetch(`https://a.example/${life}`, { method: "POST", body: "x" })).text).toBe("hello");
    }
    expect(phone.ended).toBeNull();
  });

  it("is gone at once when an exchange begins, so that no half-run one is ever restored", async () => {
    const gate = Promise.withResolvers<void>();
    let whileHandling: ConnectionSnapshot | null | undefined;
    const edge = setUp(async () => {
      await Promise.resolve();
      whileHandling = snapshotOf(edge, phone);
      await gate.promise;
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await settle();
    expect(snapshotOf(edge, phone)).not.toBeNull();
    const response = phone.fetch("https://a.example/");
    await settle();
    expect(whileHandling).toBeNull();
    gate.resolve();
    await response;
    await settle();
    expect(snapshotOf(edge, phone)).not.toBeNull();
  });

  it("counts what is sent after the last exchange has ended", async () => {
    // An upload that is dropped: its credit goes back after the answer has ended.
    const edge = setUp(async () => ({ head: responseHead, body: null }));
    const phone = new WiredPhone();
    phone.connect(edge.server);
    for (let round = 0; round < 4; round++) {
      await phone.fetch("https://a.example/", { method: "POST", body: streamOf(new Uint8Array(200_000)) });
      await settle();
      phone.restore(edge.create(), snapshotOf(edge, phone));
    }
    phone.cut("phone");
    expect(phone.ended).toBeNull();
  });

  it("goes on in step after a life with uploads and downloads of many windows", async () => {
    const edge = setUp(async ({ body }) => {
      for await (const _ of body ?? []);
      return { head: responseHead, body: new CountedBody(3_000_000).stream };
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    for (let round = 0; round < 3; round++) {
      const body = new CountedBody(1_500_000);
      const response = await phone.fetch("https://a.example/", { method: "POST", body: body.stream });
      expect(response.body.length).toBe(3_000_000);
      await settle();
      const snapshot = snapshotOf(edge, phone);
      expect(snapshot?.session.channel).toMatchObject({ sent: expect.any(Number), received: expect.any(Number) });
      expect(snapshot?.session.channel.sent).toBeGreaterThanOrEqual(phone.session.channel.received);
      phone.restore(edge.create(), snapshot);
    }
  });

  it("lets a restored session be resumed on another socket", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    await settle();
    const server = edge.create();
    phone.restore(server, snapshotOf(edge, phone));
    phone.cut();
    expect(server.sessionCount).toBe(1);
    phone.connect(server);
    expect((await phone.fetch("https://a.example/")).text).toBe("hello");
  });

  it("is taken back from a socket that was replaced", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    const first = phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    await settle();
    phone.cut("phone");
    phone.connect(edge.server);
    await settle();
    expect(edge.snapshots.get(first.transport)).toBeNull();
    expect(snapshotOf(edge, phone)).not.toBeNull();
  });

  it.each([
    ["many small fields", Array.from({ length: 120 }, (_, index): [string, string] => [`a${index.toString(36)}`, ""])],
    ["few large fields", Array.from({ length: 4 }, (_, index): [string, string] => [`b${index}`, "v".repeat(900)])],
    ["fields beyond ASCII", Array.from({ length: 4 }, (_, index): [string, string] => [`c${index}`, "ü".repeat(450)])],
  ])("fits what a hibernated socket may carry, with tables full of %s", async (_, fields) => {
    const edge = setUp(async () => ({ head: { ...responseHead, headers: fields }, body: null }));
    const phone = new WiredPhone("界".repeat(2000));
    phone.connect(edge.server);
    phone.session.sendSessionHead([
      ["user-agent", "界".repeat(2000)],
      ["accept-language", "界".repeat(2000)],
    ]);
    await phone.fetch("https://a.example/", { headers: fields });
    await settle();
    expect(serialize(snapshotOf(edge, phone)).length).toBeGreaterThan(4000);
    expect(serialize(snapshotOf(edge, phone)).length).toBeLessThan(limits.attachmentBytes);
  });

  it("closes a socket that comes back without one", () => {
    const { server } = setUp();
    const transport = new ScriptedTransport();
    const [connection] = server.restore([[transport, null]]);
    expect(transport.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    connection?.receive(
      messageOf({ type: "hello", sessionId: new Uint8Array(16), received: 0, next: 0, link: 0, resume: false }),
    );
    connection?.closed();
    expect(server.sessionCount).toBe(0);
  });
});
