import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { ServerResponse } from "../../shared/http/exchange.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { decodeMessage } from "../../shared/wire/frame.ts";
import { hello, setUp, snapshotOf } from "../testing/server-rig.ts";
import { WiredPhone } from "../testing/wired-phone.ts";

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

/** A POST that its origin has and does not answer before the gate opens. */
async function underWay() {
  const gate = Promise.withResolvers<void>();
  const requests: string[] = [];
  const edge = setUp(async ({ head }) => {
    requests.push(head.url);
    await gate.promise;
    return hello();
  });
  const phone = new WiredPhone();
  phone.connect(edge.server);
  const response = phone.fetch("https://a.example/", { method: "POST", body: "once" });
  await settle();
  return { edge, phone, gate, response, requests };
}

describe("a phone that comes back", () => {
  it("goes on with the session: the answer arrives, the request runs once", async () => {
    const { edge, phone, gate, response, requests } = await underWay();
    phone.cut();
    expect([...edge.timers.values()]).toEqual([limits.sessionLinger]);
    gate.resolve();
    await settle();
    phone.connect(edge.server);
    expect((await response).text).toBe("hello");
    expect(edge.timers.size).toBe(0);
    expect(requests).toHaveLength(1);
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
    await settle();
    // It has acknowledged that: all that it says from now on is said for the first time.
    await phone.fetch("https://a.example/later");
    expect(seen).toEqual([undefined, true, undefined]);
  });

  it("takes requests for repeats until the phone acknowledges, also on a further link", async () => {
    const seen: (boolean | undefined)[] = [];
    const edge = setUp(async ({ head }) => {
      seen.push(head.delivery?.isRepeat);
      return new Promise<ServerResponse>(() => {});
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    phone.cut();
    const server = edge.create();
    phone.connect(server);
    for (const path of ["one", "two"]) void phone.fetch(`https://a.example/${path}`).catch(() => {});
    await settle();
    phone.cut();
    phone.connect(server);
    void phone.fetch("https://a.example/three").catch(() => {});
    await settle();
    expect(seen).toEqual([true, true, true]);
  });

  it("does not go on in one that was lost after it heard of it, though it had no frame yet", async () => {
    const edge = setUp(() => new Promise<ServerResponse>(() => {}));
    const phone = new WiredPhone();
    phone.connect(edge.server);
    const response = phone.fetch("https://a.example/");
    await settle();
    expect(phone.session.channel.arrived.received).toBe(0);
    phone.cut();
    phone.connect(edge.create());
    await expect(response).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    expect(edge.server.sessionCount).toBe(1);
  });

  it("knows after hibernation what the phone has acknowledged", async () => {
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
    expect(seen).toEqual([true, undefined]);
  });

  it("finds its session where it was though it had heard nothing on it", async () => {
    const { edge, phone, gate, response, requests } = await underWay();
    for (const noticedBy of ["both", "phone"] as const) {
      phone.cut(noticedBy);
      phone.connect(edge.server);
      await settle();
    }
    gate.resolve();
    expect((await response).text).toBe("hello");
    expect(requests).toHaveLength(1);
  });

  it("is refused, and its session ended, when it skips frames that are missing here", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    const { sessionId } = phone.session.channel;
    // The phone goes on where it was, then claims to have been heard further.
    const acknowledging = new ScriptedTransport();
    const { arrived, retained } = phone.session.channel;
    const { received } = arrived;
    const { sent } = retained;
    phone.cut();
    edge.server
      .connect(acknowledging)
      .receive(messageOf({ type: "hello", sessionId, received, next: sent, link: 1, resume: false }));
    expect(acknowledging.closed).toBeNull();
    const forgetful = new ScriptedTransport();
    edge.server
      .connect(forgetful)
      .receive(messageOf({ type: "hello", sessionId, received, next: sent + 1, link: 2, resume: true }));
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
