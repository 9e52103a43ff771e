import { expect, test } from "vitest";
import * as limits from "../limits.ts";
import { FetchSocket, type FetchSocketPlatform } from "../phone-socket.ts";
import { encodeRecord, type FetchRecord, RecordDecoder } from "./record.ts";

interface Posted {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly records: FetchRecord[];
  answer(status: number): void;
}

/** An edge of which the test decides each answer. */
class ScriptedEdge implements FetchSocketPlatform {
  time = 0;
  readonly posts: Posted[] = [];
  opening: { readonly url: string; readonly headers: Record<string, string>; readonly signal: AbortSignal } | null =
    null;
  readonly #opened = Promise.withResolvers<Response>();
  #down: ReadableStreamDefaultController<Uint8Array> | null = null;
  timers: (() => void)[] = [];

  fetch(url: string, init: RequestInit): Promise<Response> {
    const headers = init.headers as Record<string, string>;
    const signal = init.signal as AbortSignal;
    if (url.endsWith("/down")) {
      this.opening = { url, headers, signal };
      return this.#opened.promise;
    }
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    signal.addEventListener("abort", () => reject(signal.reason));
    const records = [...new RecordDecoder().push(init.body as Uint8Array)];
    const answer = (status: number) => resolve(new Response(null, { status }));
    this.posts.push({ url, headers, records, answer });
    return promise;
  }

  now(): number {
    return this.time;
  }

  setTimer(task: () => void): () => void {
    this.timers.push(task);
    return () => {
      this.timers = this.timers.filter((each) => each !== task);
    };
  }

  answer(status = 200): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#down = controller;
      },
    });
    this.#opened.resolve(new Response(body, { status }));
  }

  write(...records: readonly FetchRecord[]): void {
    for (const record of records) this.#down?.enqueue(encodeRecord(record));
  }

  writeBytes(bytes: Uint8Array): void {
    this.#down?.enqueue(bytes);
  }

  end(): void {
    this.#down?.close();
  }
}

const OPENED: FetchRecord = { type: "open", protocol: "ropeway.2" };

function setUp() {
  const edge = new ScriptedEdge();
  const opening = Uint8Array.of(0xa0, 0, 1, 9);
  const events: unknown[] = [];
  const socket = new FetchSocket(
    { url: "wss://edge.example/.ropeway/tunnel", token: "device.sign", opening },
    {
      onOpen: () => events.push("open"),
      onMessage: (message) => events.push(typeof message === "string" ? message : [...message]),
      onClose: (code, isClean) => events.push([code, isClean ? "clean" : "broken"]),
    },
    edge,
  );
  return { edge, socket, events };
}

async function opened() {
  const all = setUp();
  all.edge.answer();
  all.edge.write(OPENED);
  await turns();
  return all;
}

async function turns(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}

function binary(...bytes: number[]): FetchRecord {
  return { type: "binary", message: Uint8Array.from(bytes) };
}

test("it opens by a POST that offers what a handshake offers, and never in the URL", async () => {
  const { edge, socket, events } = setUp();
  expect(edge.opening?.url).toBe("https://edge.example/.ropeway/tunnel/down");
  expect(edge.opening?.headers["ropeway-protocol"]).toBe(
    "ropeway.2, ropeway.token.device.sign, ropeway.opening.oAABCQ",
  );
  expect(edge.opening?.headers["ropeway-socket"]).toMatch(/^[\w-]{22}$/);
  edge.answer();
  await turns();
  expect([socket.send("x"), events]).toEqual([false, []]);
  edge.write(OPENED);
  await turns();
  expect([socket.send("x"), events]).toEqual([true, ["open"]]);
});

test("messages come in order, however the response is cut", async () => {
  const { edge, events } = await opened();
  const bytes = encodeRecord(binary(1, 2, 3));
  for (const byte of bytes) edge.writeBytes(Uint8Array.of(byte));
  edge.write(binary(), { type: "text", text: "alive" });
  await turns();
  expect(events).toEqual(["open", [1, 2, 3], [], "alive"]);
});

test("one POST is under way at a time, numbered, and the next carries what gathered meanwhile", async () => {
  const { edge, socket } = await opened();
  const reused = Uint8Array.of(1);
  socket.send(reused);
  reused[0] = 9;
  socket.send("alive");
  await turns();
  expect(edge.posts.map(({ records }) => records)).toEqual([[binary(1), { type: "text", text: "alive" }]]);
  for (let value = 2; value < 5; value += 1) socket.send(Uint8Array.of(value));
  await turns();
  expect(edge.posts.length).toBe(1);
  edge.posts[0]?.answer(204);
  await turns();
  expect(edge.posts[1]?.records).toEqual([binary(2), binary(3), binary(4)]);
  expect(edge.posts.map(({ headers }) => headers["ropeway-batch"])).toEqual(["0", "1"]);
  expect(edge.posts[0]?.headers).toMatchObject({
    authorization: "Bearer device.sign",
    "ropeway-socket": edge.opening?.headers["ropeway-socket"],
  });
});

test("no batch is above the limit", async () => {
  const { edge, socket } = await opened();
  const count = 12;
  for (let sent = 0; sent < count; sent += 1) socket.send(new Uint8Array(limits.messageBytes));
  for (let turn = 0; turn < count; turn += 1) {
    await turns();
    edge.posts[turn]?.answer(204);
  }
  expect(edge.posts.flatMap(({ records }) => records).length).toBe(count);
  for (const { records } of edge.posts)
    expect(records.length * limits.messageBytes).toBeLessThan(limits.fetchBatchBytes);
});

test.each([0, 401, 502])("a POST that ends with %d is a lost socket", async (status) => {
  const { edge, socket, events } = await opened();
  socket.send("x");
  await turns();
  if (status === 0) edge.end();
  else edge.posts[0]?.answer(status);
  await turns();
  expect(events).toEqual(["open", [1006, "broken"]]);
  expect(edge.opening?.signal.aborted).toBe(true);
  expect(socket.send("x")).toBe(false);
});

test.each([400, 410])("an edge that closes says why, also when a POST hears of it first, by %d", async (status) => {
  const { edge, socket, events } = await opened();
  socket.send("x");
  await turns();
  edge.posts[0]?.answer(status);
  await turns();
  expect(events).toEqual(["open"]);
  edge.write({ type: "close", code: 4042, reason: "lost" });
  await turns();
  expect(events).toEqual(["open", [4042, "clean"]]);
  expect(edge.timers).toEqual([]);
});

test("a socket that is gone is lost after a while if nothing says why", async () => {
  const { edge, socket, events } = await opened();
  socket.send("x");
  await turns();
  edge.posts[0]?.answer(410);
  await turns();
  for (const timer of edge.timers) timer();
  expect(events).toEqual(["open", [1006, "broken"]]);
});

test("closing sends what waits, then the close, and ends the response", async () => {
  const { edge, socket, events } = await opened();
  socket.send(Uint8Array.of(1));
  socket.close(4001, "bye");
  expect(socket.send(Uint8Array.of(2))).toBe(false);
  await turns();
  expect(edge.posts[0]?.records).toEqual([binary(1), { type: "close", code: 4001, reason: "bye" }]);
  edge.posts[0]?.answer(204);
  await turns();
  expect(events).toEqual(["open"]);
  expect(edge.opening?.signal.aborted).toBe(true);
});

test("closing before it is open gives up, and tells nothing", async () => {
  const { edge, socket, events } = setUp();
  socket.close();
  await turns();
  expect(events).toEqual([]);
  expect(edge.opening?.signal.aborted).toBe(true);
});

test.each([
  ["another status", (edge: ScriptedEdge) => edge.answer(401)],
  [
    "a portal's page",
    (edge: ScriptedEdge) => {
      edge.answer();
      edge.writeBytes(new TextEncoder().encode("<!doctype html><title>Log in</title>"));
    },
  ],
  [
    "another protocol",
    (edge: ScriptedEdge) => {
      edge.answer();
      edge.write({ type: "open", protocol: "ropeway.9" });
    },
  ],
  [
    "a message before the opening",
    (edge: ScriptedEdge) => {
      edge.answer();
      edge.write(binary(1));
    },
  ],
  [
    "an end without anything",
    (edge: ScriptedEdge) => {
      edge.answer();
      edge.end();
    },
  ],
])("it does not open by %s", async (_name, answer) => {
  const { edge, events } = setUp();
  answer(edge);
  await turns();
  expect(events).toEqual([[1006, "broken"]]);
});

test("a message above the limit loses the socket", async () => {
  const { edge, events } = await opened();
  edge.writeBytes(Uint8Array.of(2, 0x80, 0x10, 0, 1));
  await turns();
  expect(events).toEqual(["open", [1006, "broken"]]);
});
