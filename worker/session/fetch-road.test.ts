import { describe, expect, it } from "vitest";
import { encodeRecord, type FetchRecord, RecordDecoder } from "../../shared/fetch-road/record.ts";
import * as limits from "../../shared/limits.ts";
import { endsSession, offeredProtocols } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { concat } from "../../shared/wire/frame.ts";
import { FetchRoad } from "./fetch-road.ts";

const EDGE = "https://edge.example/.ropeway/tunnel";
const ALIVE: FetchRecord = { type: "text", text: "ropeway.keep-alive" };
const OPENED: FetchRecord = { type: "open", protocol: "ropeway.2" };

function setUp() {
  const received: number[][] = [];
  const transports: Transport[] = [];
  const closed: Transport[] = [];
  const keptAlive: Transport[] = [];
  const named = new Set<string>();
  const phone = { isUnread: false };
  const clock = { time: 0, timers: new Map<() => void, number>() };
  const road = new FetchRoad({
    connect(transport) {
      transports.push(transport);
      return {
        receive: (message) => received.push([...message]),
        keptAlive: () => keptAlive.push(transport),
        finish() {},
        closed: () => closed.push(transport),
      };
    },
    isUnread: () => phone.isUnread,
    isFirst: async (name) => named.size < named.add(name).size,
    now: () => clock.time,
    setTimer(task, delay) {
      clock.timers.set(task, clock.time + delay);
      return () => clock.timers.delete(task);
    },
  });
  const pass = (time: number) => {
    clock.time += time;
    for (const [task, at] of [...clock.timers]) {
      if (at > clock.time || !clock.timers.delete(task)) continue;
      task();
    }
  };
  const open = (id = "A".repeat(22), opening: Uint8Array | null = null, more: Record<string, string> = {}) => {
    const offered = { "ropeway-socket": id, "ropeway-protocol": offeredProtocols("device.sign", opening).join(", ") };
    return road.answer(new Request(`${EDGE}/down`, { method: "POST", headers: { ...offered, ...more } }));
  };
  const post = async (batch: number | string, body: BodyInit, id = "A".repeat(22)) => {
    const init = { method: "POST", headers: { "ropeway-socket": id, "ropeway-batch": String(batch) }, body };
    return (await road.answer(new Request(`${EDGE}/up`, { ...init, duplex: "half" } as RequestInit))).status;
  };
  return { road, received, transports, closed, keptAlive, clock, phone, pass, open, post };
}

function batch(...records: readonly FetchRecord[]): Uint8Array<ArrayBuffer> {
  return concat(...records.map((record) => encodeRecord(record))) as Uint8Array<ArrayBuffer>;
}

function binary(...bytes: number[]): FetchRecord {
  return { type: "binary", message: Uint8Array.from(bytes) };
}

/** All that a response brings until it ends. */
async function recordsOf(response: Response): Promise<FetchRecord[]> {
  return [...new RecordDecoder().push(new Uint8Array(await response.arrayBuffer()))];
}

describe("a socket of the fetch road", () => {
  it("opens with a response that nothing on the way may keep or code, and says so first", async () => {
    const { open, transports } = setUp();
    const response = await open();
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
    transports[0]?.send(Uint8Array.of(1, 2));
    transports[0]?.close(4002, "over");
    expect(transports[0]?.send(Uint8Array.of(3))).toBe(false);
    expect(await recordsOf(response)).toEqual([OPENED, binary(1, 2), { type: "close", code: 4002, reason: "over" }]);
  });

  it("acts on the opening before it answers", async () => {
    const { open, received } = setUp();
    await open(undefined, Uint8Array.of(7, 8));
    expect(received).toEqual([[7, 8]]);
  });

  it("acts on an opening once, whenever it comes again, and never before its handshake was over", async () => {
    const { open, post, received, closed } = setUp();
    const opening = Uint8Array.of(7, 8);
    const statuses = (responses: readonly Response[]) => responses.map(({ status }) => status);
    expect(statuses(await Promise.all([open("B".repeat(22), opening), open("B".repeat(22), opening)]))).toEqual([
      200, 409,
    ]);
    await post(0, batch({ type: "close", code: 1000, reason: "" }), "B".repeat(22));
    expect(closed.length).toBe(1);
    expect(statuses([await open("B".repeat(22), opening)])).toEqual([409]);
    expect(statuses([await open("C".repeat(22), opening, { "early-data": "1" })])).toEqual([425]);
    expect(received).toEqual([[7, 8]]);
    // It was told to come again.
    expect(statuses([await open("C".repeat(22), opening)])).toEqual([200]);
  });

  it("is one, also where another of its name opens while the log is written", async () => {
    const { open, transports } = setUp();
    const responses = await Promise.all([open("B".repeat(22), Uint8Array.of(7)), open("B".repeat(22))]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(transports.length).toBe(1);
  });

  it("sends a copy of what it is given", async () => {
    const { open, transports } = setUp();
    const response = await open();
    const reused = Uint8Array.of(1);
    transports[0]?.send(reused);
    reused[0] = 9;
    transports[0]?.close(1000, "");
    expect((await recordsOf(response))[1]).toEqual(binary(1));
  });

  it("hands over the messages of batches in order and answers keep-alives", async () => {
    const { open, post, received, transports, keptAlive } = setUp();
    const response = await open();
    expect(await post(0, batch(binary(1), ALIVE, binary(2)))).toBe(204);
    expect(keptAlive).toEqual(transports);
    expect(await post(1, batch(binary(3)))).toBe(204);
    expect(received).toEqual([[1], [2], [3]]);
    transports[0]?.close(1000, "");
    expect((await recordsOf(response)).slice(0, 2)).toEqual([OPENED, ALIVE]);
  });

  it("acts once on a batch that comes twice, one after the other or at once", async () => {
    const { open, post, received } = setUp();
    await open();
    expect(await post(0, batch(binary(1)))).toBe(204);
    expect(await post(0, batch(binary(1)))).toBe(204);
    const twice = [post(1, batch(binary(2))), post(1, batch(binary(2)))];
    expect(await Promise.all(twice)).toEqual([204, 204]);
    expect(received).toEqual([[1], [2]]);
  });

  it("acts on nothing of a batch that was cut, and on all of it when it comes again", async () => {
    const { open, post, received } = setUp();
    await open();
    const cut = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(batch(binary(1)));
        controller.error(new Error("reset"));
      },
    });
    expect(await post(0, cut)).toBe(400);
    expect(received).toEqual([]);
    expect(await post(0, batch(binary(1), binary(2)))).toBe(204);
    expect(received).toEqual([[1], [2]]);
  });

  it.each<[string, number | string, Uint8Array<ArrayBuffer>]>([
    ["a batch out of its turn", 1, batch(binary(1))],
    ["a batch that ends in a record", 0, batch(binary(1, 2, 3)).slice(0, -1)],
    ["a kind that is not known", 0, Uint8Array.of(0x3c)],
    ["a declared length above the limit", 0, Uint8Array.of(2, 0x80, 0x10, 0, 1)],
    ["another text", 0, batch({ type: "text", text: "hello" })],
    ["an opening", 0, batch(OPENED)],
    ["a batch above the limit", 0, new Uint8Array(limits.fetchBatchBytes + 1)],
  ])("closes for %s", async (name, number, body) => {
    const { open, post, closed, road } = setUp();
    const response = await open();
    expect(await post(number, body)).toBe(400);
    const last = (await recordsOf(response)).at(-1);
    expect(last, name).toMatchObject({ type: "close", code: 4001 });
    expect([closed.length, road.size]).toEqual([1, 0]);
    expect(await post(0, batch(ALIVE))).toBe(410);
  });

  it("keeps no more of a body than it may, and lets no endless rest of it pass", async () => {
    const { open, post, closed } = setUp();
    await open();
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    expect(await post(0, endless)).toBe(400);
    expect(pulled * 64 * 1024).toBeLessThan(2 * limits.fetchBatchBytes + limits.fetchQueueBytes);
    expect(closed.length).toBe(1);
  });

  it("reads few batches at a time", async () => {
    const { open, post, closed } = setUp();
    await open();
    const silent = () => new ReadableStream<Uint8Array>();
    void post(0, silent());
    void post(0, silent());
    expect(await post(0, batch(ALIVE))).toBe(400);
    expect(closed.length).toBe(1);
  });

  it("is over when the phone says so, or drops the response", async () => {
    const { open, post, closed, road } = setUp();
    const first = await open();
    expect(await post(0, batch({ type: "close", code: 1000, reason: "" }))).toBe(204);
    expect(await recordsOf(first)).toEqual([OPENED]);
    const second = await open();
    await second.body?.cancel();
    expect([closed.length, road.size]).toEqual([2, 0]);
  });

  it("is over when nothing is heard of the phone, and not before", async () => {
    const { open, post, closed, pass, clock } = setUp();
    const response = await open();
    pass(limits.fetchIdleTime - 1);
    expect(await post(0, batch(ALIVE))).toBe(204);
    pass(limits.fetchIdleTime - 1);
    expect(closed.length).toBe(0);
    pass(limits.fetchIdleTime);
    expect(closed.length).toBe(1);
    expect((await recordsOf(response)).at(-1)).toMatchObject({ type: "close", code: 1001 });
    pass(limits.refusalTime);
    expect(clock.timers.size).toBe(0);
  });

  it("keeps a bounded amount for a phone that does not read", async () => {
    const { open, transports, closed } = setUp();
    await open();
    const message = new Uint8Array(limits.messageBytes);
    let sent = 0;
    while (transports[0]?.send(message)) sent += message.length;
    expect(sent).toBeLessThanOrEqual(limits.fetchQueueBytes + limits.messageBytes);
    expect(sent).toBeGreaterThan(limits.retainedBytes);
    expect(closed.length).toBe(1);
  });
});

describe("the sockets of one phone", () => {
  it("are bounded: the one that was silent longest goes", async () => {
    const { open, post, road, transports, closed, pass } = setUp();
    const id = (index: number) => String(index).padStart(22, "A");
    const downs: Response[] = [];
    for (let index = 0; index < limits.fetchSocketsPerPhone; index += 1) downs.push(await open(id(index)));
    pass(1);
    await post(0, batch(ALIVE), id(0));
    await open(id(99));
    expect(road.size).toBe(limits.fetchSocketsPerPhone);
    expect(closed).toEqual([transports[1]]);
    const [last] = (await recordsOf(downs[1] as Response)).slice(-1);
    expect(last).toMatchObject({ type: "close", code: 1013 });
    expect(endsSession(1013)).toBe(false);
  });

  it("keep nothing for a phone that does not read once they are over", async () => {
    const { open, post, transports, clock, pass } = setUp();
    const down = await open();
    const message = new Uint8Array(100_000);
    expect(transports[0]?.send(message)).toBe(true);
    await post(0, batch({ type: "close", code: 1000, reason: "" }));
    await expect(down.arrayBuffer()).rejects.toThrow("the phone does not read");

    const last = await open("B".repeat(22));
    transports[1]?.send(new Uint8Array(1000));
    transports[1]?.close(1000, "replaced");
    pass(limits.refusalTime);
    await expect(last.arrayBuffer()).rejects.toThrow("the phone does not read");
    expect(clock.timers.size).toBe(0);
  });

  it("are given up when short records alone fill the queue", async () => {
    const { open, transports, closed } = setUp();
    await open();
    let count = 0;
    while (transports[0]?.send(Uint8Array.of(0))) count += 1;
    expect(count).toBeLessThan(limits.fetchQueueBytes / limits.retainedFrameBytes);
    expect(closed).toHaveLength(1);
  });

  it("are refused to a phone that leaves much unread", async () => {
    const { open, phone, road } = setUp();
    phone.isUnread = true;
    expect((await open()).status).toBe(429);
    expect(road.size).toBe(0);
  });

  it("read a batch that comes byte by byte", async () => {
    const { open, post, received } = setUp();
    await open();
    const bytes = batch(binary(...Array.from({ length: 9_000 }, (_, index) => index % 256)));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array(new ArrayBuffer(64), 0, 1).fill(byte));
        controller.close();
      },
    });
    expect(await post(0, body)).toBe(204);
    expect(received.map((message) => message.length)).toEqual([9_000]);
  });

  it.each([
    ["no id", ""],
    ["a short id", "A"],
    ["another alphabet", "*".repeat(22)],
  ])("are refused with %s", async (_name, id) => {
    const { open, post } = setUp();
    expect((await open(id)).status).toBe(400);
    expect(await post(0, batch(ALIVE), id)).toBe(400);
  });

  it("are opened once, and take numbered batches only", async () => {
    const { open, post } = setUp();
    expect((await open()).status).toBe(200);
    expect((await open()).status).toBe(409);
    for (const number of ["", "-1", "x", "1e3", "9".repeat(16)]) expect(await post(number, batch(ALIVE))).toBe(400);
  });
});
