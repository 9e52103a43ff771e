/** What origins of the real web say and want that no library on the way should have an opinion of, on every edge. */
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brotliDecoder } from "../../pwa/tunnel/coding/brotli-chunk.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { noise, readAll, sha256 } from "../testing/contract.ts";
import { streamOf } from "../testing/phone-session.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { REPLAYABLE_BODY_BYTES } from "../upstream/request-body.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let phone: TestPhone;

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true });
    closers.push(() => edge.close());
    phone = await connected();
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function connected(): Promise<TestPhone> {
    const fresh = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await fresh.connect();
    closers.push(() => fresh.close());
    return fresh;
  }

  async function originOf(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const { origin, close } = await startLocalOrigin(listener);
    closers.push(close);
    return origin;
  }

  it("shows a page whose status is none that HTTP knows", async () => {
    const origin = await originOf((_, response) => response.writeHead(999).end("denied"));
    expect(await phone.fetch(origin)).toMatchObject({ head: { status: 500 }, text: "denied" });
  });

  it.each(["gzip", "br"])("takes an empty body that says it is %s", async (coding) => {
    const origin = await originOf((_, response) => {
      response.writeHead(200, { "content-encoding": coding, "content-length": "0" }).end();
    });
    expect(await phone.fetch(origin)).toMatchObject({ head: { status: 200 }, text: "" });
  });

  it("passes the fields by which Cloudflare's challenges talk to their server, and no others of Cloudflare's", async () => {
    const origin = await originOf((request, response) => {
      const names = Object.keys(request.headers).filter((name) => name.startsWith("cf-"));
      response.writeHead(200, { "cf-chl-gen": "1", "cf-chl-out": "1", "cf-mitigated": "challenge", "cf-ray": "1" });
      response.end(names.sort().join(" "));
    });
    const sent = ["cf-challenge", "cf-chl", "cf-chl-ra", "cf-connecting-ip"].map((name) => [name, "1"] as const);
    const { head, text } = await phone.fetch(origin, { ...scriptFetch(origin), headers: sent });
    expect(text).toBe("cf-challenge cf-chl cf-chl-ra");
    const names = head.headers.map(([name]) => name).filter((name) => name.startsWith("cf-"));
    expect(names.sort()).toEqual(["cf-chl-gen", "cf-chl-out", "cf-mitigated"]);
  });

  it("knows a coding in any case", async () => {
    const origin = await originOf((_, response) => {
      response.writeHead(200, { "content-type": "text/css", "content-encoding": "GZIP" }).end(gzipSync("hello"));
    });
    expect((await phone.fetch(origin)).text).toBe("hello");
  });

  it.each(["application/octet-stream", "application/x-model", null])(
    "sends a body of type %s in no more bytes than its origin, which coded it",
    async (type) => {
      const body = await readFile(new URL("../../shared/PROTOCOL.md", import.meta.url));
      // As who codes what is asked for does.
      const br = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
      const codings: Record<string, Buffer> = { gzip: gzipSync(body), deflate: deflateSync(body), br };
      const origin = await originOf(({ url = "" }, response) => {
        response.writeHead(200, { ...(type && { "content-type": type }), "content-encoding": url.slice(1) });
        response.end(codings[url.slice(1)]);
      });
      const modern = await connected();
      modern.takeBrotli(await brotliDecoder());
      for (const [coding, asking] of [
        ["gzip", phone],
        ["deflate", phone],
        ["gzip", modern],
        ["br", modern],
      ] as const) {
        const before = asking.receivedBytes;
        const { body: came } = await asking.fetch(`${origin}/${coding}`, scriptFetch(origin));
        expect([coding, body.equals(came)]).toEqual([coding, true]);
        // The head, and heads of messages.
        expect(asking.receivedBytes - before).toBeLessThan((codings[coding]?.length ?? 0) + 600);
      }
    },
  );

  it.each([
    ["trailers", "200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n2\r\nok\r\n0\r\nx-t: 1\r\n\r\n"],
    ["a 204 with a body", "204 No Content\r\ncontent-length: 5\r\n\r\nhello"],
    ["a 204 in chunks", "204 No Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
  ])("gets what it asks for on a connection on which there was %s", async (_, odd) => {
    const origin = await originOf((request, response) => {
      if (request.url === "/odd") request.socket.write(`HTTP/1.1 ${odd}`);
      else response.end("next");
      request.socket.on("data", (bytes) => {
        if (bytes.includes("/next")) request.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext");
      });
    });
    await phone.fetch(`${origin}/odd`);
    expect((await phone.fetch(`${origin}/next`)).text).toBe("next");
  });

  it("sends large uploads with their length", async () => {
    const origin = await originOf((request, response) => {
      const { "content-length": length, "transfer-encoding": coding = "none" } = request.headers;
      readAll(request).then((body) => response.end(`${length} ${coding} ${sha256(body)}`), response.destroy);
    });
    const body = noise(REPLAYABLE_BODY_BYTES + 100_000);
    const { text } = await phone.fetch(origin, {
      ...scriptFetch(origin),
      method: "PUT",
      headers: [["content-length", String(body.length)]],
      body: streamOf(body),
    });
    expect(text).toBe(`${body.length} none ${sha256(body)}`);
  });

  describe("by its name", () => {
    const named = (origin: string) => origin.replace("127.0.0.1", "origin.localhost");

    it("lets an origin go that does not answer, when the phone gives up", async () => {
      const asked = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const origin = await originOf((request) => {
        request.socket.once("close", () => left.resolve());
        asked.resolve();
      });
      const exchange = await phone.start(named(origin));
      await asked.promise;
      exchange.cancel();
      await left.promise;
    });

    it("passes what both sides say while they say it", async () => {
      const origin = await originOf((request, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream" });
        request.pipe(response);
      });
      const body = noise(3_000_000);
      const { body: echoed } = await phone.fetch(`${named(origin)}/echo`, {
        ...scriptFetch(named(origin)),
        method: "POST",
        body: streamOf(body.subarray(0, 1_000_000), body.subarray(1_000_000)),
      });
      expect(sha256(echoed)).toBe(sha256(body));
    });
  });
});
