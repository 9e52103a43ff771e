/** The upstream with Node's own fetch and a real HTTP server: what fakes cannot show. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, createInflateRaw, gzipSync, inflateRawSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { setTimer } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { REPLAYABLE_BODY_BYTES } from "../upstream/request-body.ts";
import { fakeWeb, fetchOf, navigationTo, requestFor } from "../upstream/testing/fake-web.ts";
import { type LocalOrigin, startLocalOrigin } from "../upstream/testing/local-origin.ts";
import type { Upstream, UpstreamRequest } from "../upstream/upstream.ts";
import { deliver } from "./deliver.ts";
import { References } from "./references.ts";

const origins: LocalOrigin[] = [];
afterEach(async () => {
  await Promise.all(origins.splice(0).map((origin) => origin.close()));
});

async function setUp(listener: (request: IncomingMessage, response: ServerResponse) => void) {
  const local = await startLocalOrigin(listener);
  origins.push(local);
  const { upstream } = fakeWeb({}, { allowPrivate: true, fetch: (request) => fetch(request) });
  const page = { origin: local.origin, topLevelOrigin: local.origin };
  return { upstream, page, url: (path: string) => local.origin + path };
}

/** As the phone gets it. */
const delivered = async (upstream: Upstream, request: UpstreamRequest) =>
  deliver(await upstream(request), { request, observer: null, refer: new References(setTimer).refer });

const readAll = async (body: ReadableStream<Uint8Array> | null) =>
  Buffer.from(await new Response(body as BodyInit | null).arrayBuffer());

describe("with a real origin", () => {
  it("undoes the origin's coding, and uses the link's", async () => {
    const text = "hello ".repeat(5000);
    const codings: Record<string, Buffer> = { gzip: gzipSync(text), br: brotliCompressSync(text) };
    const { upstream, url } = await setUp((request, response) => {
      const coding = request.url?.slice(1) ?? "";
      const body = codings[coding];
      response.writeHead(200, {
        "content-type": "text/css",
        "content-encoding": coding,
        "content-length": body?.length ?? 0,
      });
      response.end(request.method === "HEAD" ? undefined : body);
    });
    for (const coding of Object.keys(codings)) {
      const response = await delivered(upstream, navigationTo(url(`/${coding}`)));
      expect(response.head.coding).toBe("deflate-raw");
      const names = response.head.headers.map(([name]) => name);
      expect(names).not.toContain("content-encoding");
      expect(names).not.toContain("content-length");
      expect(inflateRawSync(await readAll(response.body)).toString()).toBe(text);
      const bodiless = await upstream(navigationTo(url(`/${coding}`), { method: "HEAD" }));
      expect(bodiless.body).toBeNull();
      expect(bodiless.head.headers.map(([name]) => name)).not.toContain("content-length");
    }
  });

  it("brings the first event before the origin has sent the second", async () => {
    const { upstream, url, page } = await setUp((request, response) => {
      if (request.url === "/next") {
        streams.shift()?.("data: second\n\n");
        response.end();
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: first\n\n");
      streams.push((text) => response.end(text));
    });
    const streams: ((text: string) => void)[] = [];
    const { body } = await delivered(upstream, fetchOf(url("/events"), page));
    const inflate = createInflateRaw();
    let text = "";
    inflate.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    const reader = body?.getReader();
    const readUntil = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const result = await reader?.read();
        if (result === undefined || result.done) return;
        await new Promise<void>((resolve) => inflate.write(result.value, () => resolve()));
      }
    };
    await readUntil("first\n\n");
    expect(text).toBe("data: first\n\n");
    await readAll((await upstream(fetchOf(url("/next"), page))).body);
    await readUntil("second\n\n");
    expect(text).toBe("data: first\n\ndata: second\n\n");
  });

  it.each(["the phone aborts", "the reader cancels"])("stops the origin when %s", async (way) => {
    let stopped = () => {};
    const closed = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const { upstream, url } = await setUp((_, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      const block = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(block));
      };
      response.on("drain", more).on("close", stopped);
      more();
    });
    const controller = new AbortController();
    const { body } = await upstream({ ...navigationTo(url("/endless")), signal: controller.signal });
    const reader = body?.getReader();
    await reader?.read();
    if (way === "the reader cancels") {
      await reader?.cancel();
    } else {
      controller.abort();
      const rest = (async () => {
        while ((await reader?.read())?.done === false);
      })();
      await expect(rest).rejects.toMatchObject({ code: ErrorCode.CANCEL });
    }
    await closed;
  });

  it("sends small bodies with a length and large ones as they come", async () => {
    const seen: { length: string | undefined; received: number }[] = [];
    const { upstream, url, page } = await setUp((request, response) => {
      let received = 0;
      request.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      request.on("end", () => {
        seen.push({ length: request.headers["content-length"], received });
        response.end("ok");
      });
    });
    const upload = (bytes: number) =>
      upstream({
        ...fetchOf(url("/upload"), { method: "POST", ...page }),
        body: new Response(new Uint8Array(bytes)).body as ReadableStream<Uint8Array>,
      });
    await upload(5);
    await upload(3 * REPLAYABLE_BODY_BYTES);
    expect(seen).toEqual([
      { length: "5", received: 5 },
      { length: undefined, received: 3 * REPLAYABLE_BODY_BYTES },
    ]);
  });

  it("shows the origin a browser at its real URL", async () => {
    const { upstream, url, page } = await setUp((request, response) => response.end(JSON.stringify(request.headers)));
    const response = await upstream(
      requestFor({ url: url("/x"), ...page, referrer: url("/page"), headers: [["x-forwarded-for", "1.2.3.4"]] }),
    );
    const seen = JSON.parse((await readAll(response.body)).toString()) as Record<string, string>;
    expect(seen).toMatchObject({
      host: new URL(page.origin).host,
      referer: url("/page"),
      "user-agent": "Phone/1.0",
      "sec-fetch-site": "same-origin",
    });
    expect(seen).not.toHaveProperty("x-forwarded-for");
  });

  it("types what the platform throws, before and after the head", async () => {
    const { upstream, url } = await setUp((request, response) => {
      if (request.url === "/reset") return request.socket.destroy();
      response.writeHead(200, { "content-type": "image/png", "content-length": 1000 });
      return response.write("half", () => request.socket.destroy());
    });
    await expect(upstream(navigationTo(url("/reset")))).rejects.toMatchObject({ code: ErrorCode.CONNECTION_RESET });
    const { body } = await upstream(navigationTo(url("/half")));
    const reader = body?.getReader();
    const rest = (async () => {
      while ((await reader?.read())?.done === false);
    })();
    await expect(rest).rejects.toMatchObject({ code: ErrorCode.CONNECTION_RESET });

    const gone = await startLocalOrigin(() => {});
    await gone.close();
    await expect(upstream(navigationTo(gone.origin))).rejects.toMatchObject({ code: ErrorCode.CONNECTION_REFUSED });
    await expect(upstream(navigationTo("http://no-such-name.invalid/"))).rejects.toMatchObject({
      code: ErrorCode.NAME_NOT_RESOLVED,
    });
  });

  it("reaches no local origin unless that is allowed", async () => {
    const { url } = await setUp((_, response) => response.end("internal"));
    const { upstream } = fakeWeb({}, { fetch: (request) => fetch(request) });
    await expect(upstream(navigationTo(url("/")))).rejects.toMatchObject({ code: ErrorCode.DESTINATION_FORBIDDEN });
  });
});
