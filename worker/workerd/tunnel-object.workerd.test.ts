/** The Durable Object, in workerd, by way of the worker's own entry. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, KEEP_ALIVE } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import {
  attachmentsOf,
  closing,
  type Device,
  openSocket,
  pairDevice,
  untilIdle,
} from "../testing/object-device.workerd.ts";
import { PhoneSession, streamOf } from "../testing/phone-session.ts";
import { UpstreamFetcher } from "./entry-workers.ts";
import { EXCHANGES_AWAITING_HEAD } from "./fetch-workerd.ts";
import { objectSentLogStore } from "./object-state.ts";
import { StateDisk } from "./state-disk.ts";

class ObjectPhone extends PhoneSession {
  socket: WebSocket | null = null;

  async connect(token: string): Promise<void> {
    const socket = await openSocket(token);
    const transport: Transport = {
      send(message) {
        socket.send(message);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") this.session.channel.receive(new Uint8Array(data as ArrayBuffer), transport);
    });
    socket.addEventListener("close", () => this.session.channel.detach(transport));
    this.socket = socket;
    this.session.channel.attach(transport);
  }
}

async function connectedPhone(userAgent?: string): Promise<ObjectPhone & Device> {
  const device = await pairDevice();
  const phone = new ObjectPhone(userAgent);
  await phone.connect(device.token);
  return Object.assign(phone, device);
}

/** The web, as far as these tests go. */
let answer: (request: Request) => Response | Promise<Response>;
const requests: Request[] = [];

beforeEach(() => {
  requests.length = 0;
  answer = (request) => new Response(`answer to ${new URL(request.url).pathname}`);
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    requests.push(request);
    return answer(request);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const A = "http://a.example";

describe("the tunnel", () => {
  it("opens one object per device, whatever the number of its sockets", async () => {
    const [one, other] = [await connectedPhone(), await connectedPhone()];
    const second = new ObjectPhone();
    await second.connect(one.token);
    for (const phone of [one, other, second]) expect((await phone.fetch(`${A}/x`)).text).toBe("answer to /x");
    expect(await attachmentsOf(one)).toHaveLength(2);
    expect(await attachmentsOf(other)).toHaveLength(1);
  });

  it("answers what keeps the link alive, without waking the object", async () => {
    const phone = await connectedPhone();
    await phone.fetch(A);
    const answered = new Promise((resolve) => {
      phone.socket?.addEventListener("message", ({ data }) => typeof data === "string" && resolve(data));
    });
    await untilIdle(phone);
    await evictDurableObject(phone.stub);
    const woken = vi.spyOn(phone.session.channel, "receive");
    phone.socket?.send(KEEP_ALIVE);
    expect(await answered).toBe(KEEP_ALIVE);
    expect(woken).not.toHaveBeenCalled();
    // Nobody is there to be evicted.
    await expect(evictDurableObject(phone.stub)).rejects.toThrow();
  });

  it("takes no other text", async () => {
    const phone = await connectedPhone();
    const closed = closing(phone.socket as WebSocket);
    phone.socket?.send("hello");
    expect(await closed).toBe(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR);
  });

  it("takes no message above the limit", async () => {
    const phone = await connectedPhone();
    const closed = closing(phone.socket as WebSocket);
    phone.socket?.send(new Uint8Array(limits.messageBytes + 1));
    expect(await closed).toBeGreaterThan(CLOSE_CODE_BASE);
  });
});

describe("hibernation", () => {
  it("lets the session go on: tables, counters, credit and constants", async () => {
    const phone = await connectedPhone("Sleeper/1");
    for (let life = 0; life < 4; life++) {
      answer = async (request) => new Response((await request.text()) + request.headers.get("user-agent"));
      const body = new Uint8Array(300_000).fill(97 + life);
      // Twice, so that the second head comes from the table of the former life.
      for (let round = 0; round < 2; round++) {
        const response = await phone.fetch(`${A}/upload`, { method: "POST", body: streamOf(body) });
        expect(response.body.length).toBe(body.length + "Sleeper/1".length);
        expect(response.text.endsWith("Sleeper/1")).toBe(true);
      }
      await untilIdle(phone);
      await evictDurableObject(phone.stub, { webSockets: "hibernate" });
    }
    expect((await phone.fetch(`${A}/upload`)).text).toBe("Sleeper/1");
    expect(phone.ended).toBeNull();
  });

  it("wakes for all sockets of a phone", async () => {
    const phone = await connectedPhone("One/1");
    const second = new ObjectPhone("Two/2");
    await second.connect(phone.token);
    answer = (request) => new Response(request.headers.get("user-agent"));
    for (let life = 0; life < 2; life++) {
      expect((await phone.fetch(A)).text).toBe("One/1");
      expect((await second.fetch(A)).text).toBe("Two/2");
      await untilIdle(phone);
      await evictDurableObject(phone.stub);
    }
  });

  it("tells the phone to open a new session when the sockets go too", async () => {
    const phone = await connectedPhone();
    await phone.fetch(A);
    await untilIdle(phone);
    const lost = closing(phone.socket as WebSocket);
    await evictDurableObject(phone.stub, { webSockets: "close" });
    await lost;
    await phone.connect(phone.token);
    expect(await closing(phone.socket as WebSocket)).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    const fresh = new ObjectPhone();
    await fresh.connect(phone.token);
    expect((await fresh.fetch(`${A}/x`)).text).toBe("answer to /x");
  });

  it("keeps no snapshot while an exchange is under way, in any gap of it", async () => {
    const phone = await connectedPhone();
    const gate = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    answer = async () => {
      await gate.promise;
      const { readable, writable } = new TransformStream();
      void (async () => {
        const writer = writable.getWriter();
        await writer.write(new TextEncoder().encode("first"));
        await last.promise;
        await writer.close();
      })();
      return new Response(readable);
    };
    await phone.fetch("ropeway:///site-data", { method: "DELETE", topLevelOrigin: A });
    await untilIdle(phone);
    const exchange = await phone.start(`${A}/slow`);
    await vi.waitFor(() => expect(requests).toHaveLength(1), 20_000);
    expect(await attachmentsOf(phone)).toEqual([null]);
    gate.resolve();
    await exchange.head;
    expect(await attachmentsOf(phone)).toEqual([null]);
    last.resolve();
    expect((await exchange.response).text).toBe("first");
    await untilIdle(phone);
  });

  it.each(["before the answer", "after the head"])("waits for an exchange that is under way: %s", async (gap) => {
    const phone = await connectedPhone();
    await phone.fetch(`${A}/whole`);
    const gate = Promise.withResolvers<void>();
    answer = async () => {
      if (gap === "before the answer") await gate.promise;
      const late = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await gate.promise;
          controller.enqueue(new TextEncoder().encode("whole"));
          controller.close();
        },
      });
      return new Response(late);
    };
    const exchange = await phone.start(A);
    if (gap === "after the head") await exchange.head;
    else await vi.waitFor(() => expect(requests).toHaveLength(2), 20_000);
    const evicted = evictDurableObject(phone.stub);
    gate.resolve();
    expect((await exchange.response).text).toBe("whole");
    await evicted;
    expect((await phone.fetch(A)).text).toBe("whole");
  });

  it("ends a session that was lost in the middle of an exchange when its socket wakes the object", async () => {
    const phone = await connectedPhone();
    await phone.fetch(A);
    await untilIdle(phone);
    // As the exchange's begin has left it.
    await runInDurableObject(phone.stub, (_, state) => {
      for (const socket of state.getWebSockets()) socket.serializeAttachment(null);
    });
    await evictDurableObject(phone.stub);
    const lost = closing(phone.socket as WebSocket);
    phone.session.channel.ping(1);
    expect(await lost).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    const fresh = new ObjectPhone();
    await fresh.connect(phone.token);
    expect((await fresh.fetch(`${A}/x`)).text).toBe("answer to /x");
  });

  it("fits the attachment at its largest", async () => {
    const phone = await connectedPhone("U".repeat(5000));
    // Tables full of the shortest entries there are, both ways.
    const fields = Array.from({ length: 200 }, (_, index) => [`x-${index.toString(36)}`, ""] as const);
    answer = () => new Response("x", { headers: fields.map(([name]) => [name, "1"] as [string, string]) });
    for (let round = 0; round < 3; round++) await phone.fetch(`${A}/${round}`, { headers: fields });
    // Then of the longest.
    const long = Array.from({ length: 3 }, (_, index) => [`y-${index}`, "v".repeat(1200)] as const);
    answer = () => new Response("x", { headers: long.map(([name, value]) => [name, value] as [string, string]) });
    for (const headers of [fields, long]) {
      await phone.fetch(A, { headers });
      await untilIdle(phone);
      const [attachment] = await attachmentsOf(phone);
      expect(JSON.stringify(attachment).length).toBeGreaterThan(2000);
      await evictDurableObject(phone.stub);
    }
    expect((await phone.fetch(A)).text).toBe("x");
  });
});

describe("more sessions than a phone may have", () => {
  it("end one of which nothing is heard any more, keep-alives that the runtime answers included", async () => {
    const present = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(present - limits.silentSessionTime);
    const device = await pairDevice();
    const connect = async (): Promise<ObjectPhone> => {
      const phone = new ObjectPhone();
      await phone.connect(device.token);
      return phone;
    };
    const phones: ObjectPhone[] = [];
    while (phones.length < limits.sessionsPerPhone) phones.push(await connect());
    for (const phone of phones) await phone.fetch(A);
    await untilIdle(device);
    clock.mockRestore();
    for (const phone of phones.toSpliced(3, 1)) {
      const answered = new Promise((resolve) => phone.socket?.addEventListener("message", resolve));
      phone.socket?.send(KEEP_ALIVE);
      await answered;
    }
    await evictDurableObject(device.stub);
    const ended = closing(phones[3]?.socket as WebSocket);
    expect((await (await connect()).fetch(A)).text).toBe("answer to /");
    expect(await ended).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    const refused = await connect();
    expect(await closing(refused.socket as WebSocket)).toBe(CLOSE_CODE_BASE + ErrorCode.ENHANCE_YOUR_CALM);
    expect((await phones[0]?.fetch(`${A}/on`))?.text).toBe("answer to /on");
  });
});

describe("more exchanges than may wait for their heads", () => {
  it("go through the loopback, and only those", async () => {
    const phone = await connectedPhone();
    const loopback = vi.spyOn(UpstreamFetcher.prototype, "fetch");
    const gate = Promise.withResolvers<void>();
    answer = async (request) => {
      await gate.promise;
      return new Response(`answer to ${new URL(request.url).pathname}`);
    };
    const count = 20;
    const exchanges = Array.from({ length: count }, (_, index) => phone.fetch(`${A}/${index}`));
    await vi.waitFor(() => expect(requests).toHaveLength(count), 20_000);
    expect(count - loopback.mock.calls.length).toBeLessThanOrEqual(EXCHANGES_AWAITING_HEAD);
    expect(loopback.mock.calls.length).toBeLessThan(count);
    gate.resolve();
    const texts = (await Promise.all(exchanges)).map(({ text }) => text);
    expect(texts).toEqual(Array.from({ length: count }, (_, index) => `answer to /${index}`));
    loopback.mockClear();
    await phone.fetch(`${A}/alone`);
    expect(loopback).not.toHaveBeenCalled();
  });
});

describe("cookies", () => {
  const cookieOf = async (phone: PhoneSession): Promise<string> => {
    answer = (request) => new Response(request.headers.get("cookie"));
    return (await phone.fetch(A)).text;
  };

  it("are there after the object was evicted with its sockets open, and for the next session", async () => {
    const phone = await connectedPhone();
    answer = () => new Response("", { headers: { "set-cookie": "kept=1; Path=/" } });
    await phone.fetch(A);
    await untilIdle(phone);
    await evictDurableObject(phone.stub);
    expect(await cookieOf(phone)).toBe("kept=1");
    const next = new ObjectPhone();
    await next.connect(phone.token);
    expect(await cookieOf(next)).toBe("kept=1");
  });

  it("are stored when the socket closes, not some time later", async () => {
    const phone = await connectedPhone();
    // Nothing is written by time here.
    await phone.fetch(A);
    answer = () => new Response("", { headers: { "set-cookie": "flushed=1; Path=/" } });
    await phone.fetch(A);
    phone.socket?.close(1000, "bye");
    await vi.waitFor(async () => {
      const stored = await runInDurableObject(phone.stub, (_, state) => state.storage.list({ prefix: "cookies/" }));
      expect([...stored.values()].join()).toContain("flushed");
    }, 20_000);
  });

  it("of endless sites are deleted where they are too many", async () => {
    const phone = await connectedPhone();
    const keys = () =>
      runInDurableObject(phone.stub, async (_, { storage }) => [
        ...(await storage.list({ prefix: "cookies/" })).keys(),
      ]);
    await runInDurableObject(phone.stub, async (_, { storage }) => {
      for (let i = 0; i < 80; i++) await storage.put(`cookies/https://site${i}.example`, "x".repeat(60_000));
    });
    answer = () => new Response("", { headers: { "set-cookie": "own=1; Path=/" } });
    await phone.fetch(A);
    phone.socket?.close(1000, "bye");
    await vi.waitFor(async () => expect((await keys()).length).toBeLessThan(80), 20_000);
    expect(await keys()).toContain(`cookies/${A}`);
  });

  it("are another device's business", async () => {
    const [one, other] = [await connectedPhone(), await connectedPhone()];
    answer = () => new Response("", { headers: { "set-cookie": "own=1; Path=/" } });
    await one.fetch(A);
    expect(await cookieOf(one)).toBe("own=1");
    expect(await cookieOf(other)).toBe("");
  });
});

describe("the log of what was sent", () => {
  const once = { id: "AAAAAAAAAAA", isRepeat: false, continuation: null };
  const again = { ...once, isRepeat: true };

  it("outlives the object's memory: what was sent is not sent again", async () => {
    const phone = await connectedPhone();
    await phone.fetch(`${A}/pay`, { method: "POST", delivery: once });
    await untilIdle(phone);
    await evictDurableObject(phone.stub);
    const repeat = phone.fetch(`${A}/pay`, { method: "POST", delivery: again });
    await expect(repeat).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    await phone.fetch(`${A}/pay`, { method: "POST", delivery: { ...again, id: "BBBBBBBBBBB" } });
    expect(requests).toHaveLength(2);
  });

  it("is bounded, by time and count, and knows what it dropped early", async () => {
    const { stub } = await pairDevice();
    await runInDurableObject(stub, async (_, state) => {
      const store = objectSentLogStore(state.storage, new StateDisk({}));
      for (let time = 1; time <= 9; time++) expect(await store.add(`id-${time}`, time)).toBe(true);
      expect([await store.add("id-9", 10), await store.coversFrom()]).toEqual([false, 0]);
      await store.prune(4, 100);
      expect([await store.has("id-3"), await store.has("id-4"), await store.coversFrom()]).toEqual([false, true, 0]);
      await store.prune(4, 2);
      expect([await store.has("id-7"), await store.has("id-8"), await store.coversFrom()]).toEqual([false, true, 7]);
    });
  });
});
