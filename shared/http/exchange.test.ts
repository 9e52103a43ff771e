/** Both ends of an HTTP exchange over linked sessions: what arrives, and how it fails. */
import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { bodyOf, ConsumerLog, CountedBody, exchangeRig, responseHead } from "../testing/http/exchange-rig.ts";
import { settle } from "../testing/turns.ts";
import type { RequestHandler } from "./exchange.ts";

const ok: RequestHandler = async () => ({ head: responseHead, body: null });

async function readAll(body: ReadableStream<Uint8Array> | null): Promise<string> {
  return body === null ? "" : new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

describe("an exchange", () => {
  test("carries both heads and both bodies", async () => {
    const rig = exchangeRig(async ({ head, body }) => ({
      head: { ...responseHead, status: 201, headers: [["x-method", head.method]] },
      body: bodyOf(`you sent ${await readAll(body)}`),
    }));
    const { consumer } = rig.fetch({ method: "POST", headers: [["content-type", "text/plain"]] }, bodyOf("hello"));
    await consumer.over;
    expect(rig.requests[0]?.head).toMatchObject({ method: "POST", headers: [["content-type", "text/plain"]] });
    expect(consumer.head).toMatchObject({ status: 201, headers: [["x-method", "POST"]], url: "https://a.example/" });
    expect(consumer.text).toBe("you sent hello");
    expect(consumer.events).toEqual(["head", "end"]);
    expect([rig.phone.streams.count, rig.edge.streams.count]).toEqual([0, 0]);
  });

  test("without bodies takes one frame each way", async () => {
    const rig = exchangeRig(ok);
    const { consumer } = rig.fetch();
    await consumer.over;
    expect(rig.requests[0]?.body).toBeNull();
    expect(consumer.events).toEqual(["head", "end"]);
  });

  test("streams: the first bytes arrive before the last were made", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const rig = exchangeRig(async () => ({ head: responseHead, body: readable }));
    const { consumer } = rig.fetch();
    await writer.write(new TextEncoder().encode("first"));
    await settle();
    expect(consumer.text).toBe("first");
    await writer.close();
    await consumer.over;
  });

  test("responds in the order of the origins, not of the requests", async () => {
    const release: (() => void)[] = [];
    const order: string[] = [];
    const rig = exchangeRig(async () => {
      await new Promise<void>((resolve) => release.push(resolve));
      return { head: responseHead, body: null };
    });
    for (const name of ["a", "b", "c"]) {
      const { consumer } = rig.fetch({ url: `https://a.example/${name}` });
      void consumer.over.then(() => order.push(name));
    }
    await settle();
    for (const index of [2, 0, 1]) {
      release[index]?.();
      await settle();
    }
    expect(order).toEqual(["c", "a", "b"]);
  });

  test("survives a link that is cut in its middle", async () => {
    const body = new CountedBody(3_000_000);
    const rig = exchangeRig(async () => ({ head: responseHead, body: body.stream }));
    const { consumer } = rig.fetch();
    for (let cuts = 0; cuts < 5; cuts += 1) {
      await settle(2);
      rig.link.connect();
    }
    await consumer.over;
    expect(consumer.bytes).toBe(3_000_000);
    expect(rig.requests).toHaveLength(1);
  });
});

describe("a deflated response", () => {
  test("is inflated for the consumer", async () => {
    const text = "the same words, the same words, the same words; ".repeat(5000);
    const rig = exchangeRig(async () => ({
      head: { ...responseHead, coding: "deflate-raw" },
      body: new Blob([deflateRawSync(text)]).stream(),
    }));
    const { consumer } = rig.fetch();
    await consumer.over;
    expect(consumer.text).toBe(text);
    expect(rig.link.bytes.down).toBeLessThan(text.length / 50);
  });

  test("that is none fails the exchange, and gives its credit back", async () => {
    const rig = exchangeRig(async () => ({
      head: { ...responseHead, coding: "deflate-raw" },
      body: new Blob([new Uint8Array(limits.streamCreditBytes / 2).fill(0xff)]).stream(),
    }));
    for (let round = 0; round < 12; round += 1) {
      const { consumer } = rig.fetch();
      await consumer.over;
      expect(consumer.error).toMatchObject({ code: ErrorCode.COMPRESSION_ERROR, scope: "stream", initiator: "peer" });
      expect(consumer.bytes).toBe(0);
    }
    await expect.poll(() => rig.phone.receiver.window.unread).toBe(0);
    expect(rig.ended).toEqual({ phone: null, edge: null });
  });

  test("that is cut off fails, although its stream ended well", async () => {
    const deflated = deflateRawSync("x".repeat(1000));
    const rig = exchangeRig(async () => ({
      head: { ...responseHead, coding: "deflate-raw" },
      body: new Blob([deflated.subarray(0, deflated.length - 2)]).stream(),
    }));
    const { consumer } = rig.fetch();
    await consumer.over;
    expect(consumer.events).toEqual(["head", "error"]);
    expect(consumer.error).toMatchObject({ code: ErrorCode.COMPRESSION_ERROR });
  });

  test("may be cancelled while it is decoded", async () => {
    const deflated = deflateRawSync(new Uint8Array(8_000_000));
    const rig = exchangeRig(async () => ({
      head: { ...responseHead, coding: "deflate-raw" },
      body: new Blob([deflated]).stream(),
    }));
    const consumer = new ConsumerLog();
    consumer.pace = () => new Promise(() => {});
    const { exchange } = rig.fetch({}, null, consumer);
    await expect.poll(() => consumer.chunks.length, { timeout: 10_000 }).toBe(1);
    exchange.cancel();
    await settle();
    expect(consumer.chunks).toHaveLength(1);
    expect(consumer.events).toEqual(["head"]);
    expect(rig.phone.streams.count).toBe(0);
  });
});

describe("cancelling", () => {
  test("before the answer aborts the request at the edge", async () => {
    const rig = exchangeRig(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
    const { consumer, exchange } = rig.fetch();
    await settle();
    exchange.cancel();
    exchange.cancel();
    await settle();
    expect(rig.requests[0]?.signal.aborted).toBe(true);
    expect(rig.requests[0]?.signal.reason).toMatchObject({ code: ErrorCode.CANCEL });
    expect(consumer.events).toEqual([]);
    expect(rig.edge.streams.count).toBe(0);
  });

  test("in the middle of the body stops the origin, also when it is silent", async () => {
    let cancelled: unknown = null;
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const rig = exchangeRig(async () => ({ head: responseHead, body: silent }));
    const { consumer, exchange } = rig.fetch();
    await settle();
    expect(consumer.bytes).toBe(10);
    exchange.cancel();
    await settle();
    expect(cancelled).toMatchObject({ code: ErrorCode.CANCEL });
    expect(consumer.events).toEqual(["head"]);
  });

  test("between the request and an answer that comes late gives the answer's body up", async () => {
    const body = new CountedBody(1000);
    let release = (): void => {};
    const rig = exchangeRig(async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { head: responseHead, body: body.stream };
    });
    const { exchange } = rig.fetch();
    await settle();
    exchange.cancel();
    await settle();
    release();
    await settle();
    expect(body.cancelled).not.toBeNull();
    expect(body.read).toBe(0);
  });

  test("stops the upload too", async () => {
    const upload = new CountedBody(10_000_000);
    const rig = exchangeRig(() => new Promise(() => {}));
    const { exchange } = rig.fetch({ method: "POST" }, upload.stream);
    await settle();
    exchange.cancel();
    await settle();
    expect(upload.cancelled).not.toBeNull();
    await expect(readAll(rig.requests[0]?.body ?? null)).rejects.toBeDefined();
  });
});

describe("failures", () => {
  test("of the edge's handler reach the phone by their code", async () => {
    const rig = exchangeRig(async () => {
      throw new RopewayError(ErrorCode.NAME_NOT_RESOLVED, "stream", "origin", "Cannot reach a.example: no such name");
    });
    const { consumer } = rig.fetch();
    await consumer.over;
    expect(consumer.error).toMatchObject({ code: ErrorCode.NAME_NOT_RESOLVED, scope: "stream" });
  });

  test("of any other kind, and those meant for the session, are internal errors of the stream", async () => {
    for (const thrown of [new TypeError("oops"), new RopewayError(ErrorCode.CANCEL, "session", "user", "x"), "text"]) {
      const rig = exchangeRig(async () => {
        throw thrown;
      });
      const { consumer } = rig.fetch();
      await consumer.over;
      expect(consumer.error).toMatchObject({ code: ErrorCode.INTERNAL_ERROR, scope: "stream" });
      expect(rig.ended).toEqual({ phone: null, edge: null });
    }
  });

  test("of the origin's body end a response that was under way", async () => {
    const failure = new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot read: reset");
    const rig = exchangeRig(async () => ({
      head: responseHead,
      body: new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(10)),
        pull: (controller) => controller.error(failure),
      }),
    }));
    const { consumer } = rig.fetch();
    await consumer.over;
    expect(consumer.events).toEqual(["head", "error"]);
    expect(consumer.error).toMatchObject({ code: ErrorCode.CONNECTION_RESET });
  });

  test("of the page's request body end the exchange at both ends", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError("gone")) });
    const rig = exchangeRig(async ({ body }) => ({ head: responseHead, body: bodyOf(await readAll(body)) }));
    const { consumer } = rig.fetch({ method: "POST" }, broken);
    await consumer.over;
    expect(consumer.error).toMatchObject({ code: ErrorCode.CANCEL, initiator: "user" });
    await settle();
    expect(rig.requests[0]?.signal.aborted).toBe(true);
  });

  test("of the consumer end the exchange, not the session", async () => {
    const rig = exchangeRig(async () => ({ head: responseHead, body: bodyOf("x") }));
    const consumer = new ConsumerLog();
    consumer.pace = () => Promise.reject(new Error("the page is gone"));
    rig.fetch({}, null, consumer);
    await consumer.over;
    expect(rig.ended).toEqual({ phone: null, edge: null });
    const thrower = new ConsumerLog();
    thrower.onHead = () => {
      throw new TypeError("oops");
    };
    rig.fetch({}, null, thrower);
    await thrower.over;
    expect(thrower.error).toMatchObject({ code: ErrorCode.INTERNAL_ERROR, scope: "stream" });
    expect(rig.ended).toEqual({ phone: null, edge: null });
  });

  test("of the session fail the exchange on both sides", async () => {
    const rig = exchangeRig(() => new Promise(() => {}));
    const { consumer } = rig.fetch();
    await settle();
    rig.edge.end(new RopewayError(ErrorCode.LINK_LOST, "session", "user", "Cannot go on: gone"));
    await consumer.over;
    expect(consumer.error).toMatchObject({ code: ErrorCode.LINK_LOST, scope: "session" });
    expect(rig.requests[0]?.signal.aborted).toBe(true);
  });

  test("heads above the limits fail their exchange, before anything is sent", async () => {
    const rig = exchangeRig(async () => ({
      head: { ...responseHead, headers: [["x", "y".repeat(limits.headBytes)]] },
      body: new CountedBody(10).stream,
    }));
    const upload = new CountedBody(10);
    const { consumer } = rig.fetch({ url: `https://a.example/?${"q".repeat(limits.headBytes)}` }, upload.stream);
    expect(consumer.events).toEqual([]);
    await consumer.over;
    expect(consumer.error).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM, initiator: "user" });
    expect(rig.requests).toEqual([]);
    const next = rig.fetch();
    await next.consumer.over;
    expect(next.consumer.error).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM, initiator: "peer" });
    expect(rig.ended).toEqual({ phone: null, edge: null });
  });

  test("the reason of the edge's error reaches the phone, and a cut one too", async () => {
    for (const [reason, heard] of [
      ["Cannot find a.example: the name does not resolve", "Cannot find a.example: the name does not resolve"],
      [`Cannot load ü: ${"x".repeat(1000)}`, `Cannot load ü: ${"x".repeat(496)}`],
    ] as const) {
      const rig = exchangeRig(async () => {
        throw new RopewayError(ErrorCode.NAME_NOT_RESOLVED, "stream", "origin", reason);
      });
      const { consumer } = rig.fetch();
      await consumer.over;
      expect(consumer.error).toMatchObject({ code: ErrorCode.NAME_NOT_RESOLVED, initiator: "peer", message: heard });
    }
  });

  test("a request that is none resets its stream, and reaches no handler", async () => {
    const rig = exchangeRig(ok);
    const stream = rig.phone.streams.openNow();
    const codes: number[] = [];
    stream.handler = { onHead() {}, onData() {}, onEnd() {}, onReset: (error) => codes.push(error.code) };
    stream.sendHead([[":method", "GET"]], true);
    await settle();
    expect(codes).toEqual([ErrorCode.PROTOCOL_ERROR]);
    expect(rig.requests).toEqual([]);
  });
});
