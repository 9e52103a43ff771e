/** Exchanges with real origins through the tunnel of an edge, whatever it runs on. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { brotliDecoder } from "../../pwa/tunnel/coding/brotli-chunk.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { has, READS_MARKED } from "../../shared/http/phone-fields.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { READ_MARKS } from "../../shared/web/read-marks.ts";
import { noise, readAll, sha256, until } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { streamOf, type TestRequest } from "../testing/phone-session.ts";
import type { TestPhone } from "../testing/test-phone.ts";
import { REPLAYABLE_BODY_BYTES } from "../upstream/request-body.ts";
import { EXCHANGES_AWAITING_HEAD } from "../workerd/fetch-workerd.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  describe.each(["websocket", "fetch"] as const)("through the tunnel over %s", (road) => {
    let phone: TestPhone;
    beforeAll(async () => {
      phone = await edge.connectedPhone(road);
    });

    it("sends what a browser sends and brings what the origin answers", async () => {
      let seen: IncomingHttpHeaders = {};
      const origin = await edge.originOf((request, response) => {
        seen = request.headers;
        response.writeHead(418, { "content-type": "text/plain", "x-own": "a, b" }).end("short and stout");
      });
      const { head, text } = await phone.fetch(`${origin}/pot?full`);
      expect(text).toBe("short and stout");
      expect(head).toMatchObject({ status: 418, url: `${origin}/pot?full`, redirected: false });
      expect(head.headers).toContainEqual(["x-own", "a, b"]);
      expect(seen.host).toBe(new URL(origin).host);
      expect(seen["user-agent"]).toBe("TestPhone/1");
      expect(seen["accept-language"]).toBe("en");
      expect(seen.accept).toContain("text/html");
    });

    it("answers 200 requests at once, last first", async () => {
      const held = new Map<string, ServerResponse>();
      const origin = await edge.originOf((request, response) => held.set(request.url ?? "", response));
      const count = 200;
      const answers = Array.from({ length: count }, (_, index) => phone.fetch(`${origin}/${index}`));
      await until(() => held.size === count);
      for (let index = count - 1; index >= 0; index--) {
        held.get(`/${index}`)?.end(`answer ${index}`);
        expect((await answers[index])?.text).toBe(`answer ${index}`);
      }
    });

    it("marks where a script and a document read their place, for a phone that wishes it, and no origin hears of that", async () => {
      const [read, marked] = ["say(location.host)", `say(${READ_MARKS.open}location${READ_MARKS.close}.host)`];
      const asked: string[] = [];
      const origin = await edge.originOf(({ url, rawHeaders }, response) => {
        asked.push(rawHeaders.join());
        const [type, body] = url === "/script" ? ["text/javascript", read] : ["text/html", `<script>${read}</script>`];
        response.writeHead(200, { "content-type": type }).end(body);
      });
      const ask = async (request: TestRequest, path: string) => {
        const { head, text } = await phone.fetch(origin + path, request);
        return [text, has(head.headers, READS_MARKED)];
      };
      const script: TestRequest = { ...scriptFetch(origin), destination: "script", mode: "no-cors" };
      expect(await ask({ ...script, marksReads: true }, "/script")).toEqual([READ_MARKS.prelude + marked, true]);
      expect(await ask({ marksReads: true }, "/")).toEqual([`<script>${READ_MARKS.prelude}${marked}</script>`, true]);
      expect(await ask(script, "/script")).toEqual([read, false]);
      expect(await ask({}, "/")).toEqual([`<script>${read}</script>`, false]);
      expect(asked).toHaveLength(4);
      expect(asked.join()).not.toMatch(/ropeway/i);
    });

    it("brings text in brotli to a phone that takes it, byte for byte, whatever the origin coded it in", async () => {
      const brotliPhone = await edge.connectedPhone(road);
      brotliPhone.takeBrotli(await brotliDecoder());
      const text = Array.from({ length: 9_000 }, (_, index) => `<li id="${index % 977}">${index}</li>`).join("\n");
      const forms: Record<string, Buffer> = {
        gzip: gzipSync(text),
        br: brotliCompressSync(text),
        identity: Buffer.from(text),
      };
      const origin = await edge.originOf((request, response) => {
        const coding = (request.url ?? "").slice(1);
        response.writeHead(200, { "content-type": "text/html", "content-encoding": coding }).end(forms[coding]);
      });
      for (const coding of Object.keys(forms)) {
        const { head, text: got } = await brotliPhone.fetch(`${origin}/${coding}`);
        expect(head.coding).toBe("br");
        expect(got).toBe(text);
        expect((await phone.fetch(`${origin}/${coding}`)).head.coding).toBe("deflate-raw");
      }
    });

    it("brings what origins coded beforehand, many at once, byte for byte", async () => {
      const brotliPhone = await edge.connectedPhone(road);
      brotliPhone.takeBrotli(await brotliDecoder());
      const texts = Array.from(
        { length: 20 },
        (_, index) => `${index} and ${"once upon a time ".repeat(3_000 + index)}`,
      );
      const origin = await edge.originOf((request, response) => {
        const body = brotliCompressSync(texts[Number(request.url?.slice(1))] ?? "");
        const headers = { "content-type": "text/css", "content-encoding": "br", "content-length": body.length };
        setTimeout(() => response.writeHead(200, headers).end(body), 50);
      });
      const got = await Promise.all(texts.map((_, index) => brotliPhone.fetch(`${origin}/${index}`)));
      expect(got.map(({ text }) => text)).toEqual(texts);
    });

    it("brings the first bytes before the origin has sent the last, compressed or not", async () => {
      for (const type of ["text/event-stream", "application/octet-stream"]) {
        let finish = () => {};
        const origin = await edge.originOf((_, response) => {
          response.writeHead(200, { "content-type": type }).write("first ");
          finish = () => response.end("last");
        });
        const arrived: string[] = [];
        const onChunk = (chunk: Uint8Array) => {
          arrived.push(new TextDecoder().decode(chunk));
          return undefined;
        };
        const exchange = await phone.start(origin, { ...scriptFetch(origin), onChunk });
        await until(() => arrived.join("") === "first ");
        finish();
        expect((await exchange.response).text).toBe("first last");
      }
    });

    it("undoes codings that nobody asked for, and says of which it cannot", async () => {
      const text = "once upon a time ".repeat(3_000);
      const coded: Record<string, readonly [coding: string, body: Buffer]> = {
        "/gzip": ["gzip", gzipSync(text)],
        "/x-gzip": ["x-gzip", gzipSync(text)],
        "/deflate": ["deflate", deflateSync(text)],
        "/raw": ["deflate", Buffer.concat([deflateRawSync(text), Buffer.alloc(3_000)])],
        "/both": ["deflate, gzip", gzipSync(deflateSync(text))],
        "/none": ["none", Buffer.from(text)],
        "/zstd": ["zstd", Buffer.from(text)],
      };
      const origin = await edge.originOf((request, response) => {
        const [coding, body] = coded[request.url ?? ""] ?? [];
        response.writeHead(200, { "content-type": "text/plain", "content-encoding": coding }).end(body);
      });
      for (const path of Object.keys(coded)) {
        const answer = phone.fetch(origin + path);
        if (path === "/zstd") await expect(answer).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_FAILED });
        else expect((await answer).text, path).toBe(text);
      }
    });

    it("brings large bodies whole", async () => {
      const body = noise(3_000_000);
      const origin = await edge.originOf((request, response) => {
        response.writeHead(200, { "content-type": request.url === "/text" ? "text/plain" : "image/png" }).end(body);
      });
      for (const path of ["/text", "/image"]) {
        const response = await phone.fetch(origin + path);
        expect(sha256(response.body)).toBe(sha256(body));
      }
    });

    it("streams an upload: the origin has the first bytes before the phone has sent the last", async () => {
      const body = noise(REPLAYABLE_BODY_BYTES * 3);
      let received = 0;
      const origin = await edge.originOf((request, response) => {
        request.on("data", (chunk: Buffer) => {
          received += chunk.length;
        });
        readAll(request).then((whole) => response.end(sha256(whole)), response.destroy);
      });
      let offset = 0;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (offset > body.length - 200_000) await until(() => received > 0);
          const chunk = body.subarray(offset, offset + 50_000);
          offset += chunk.length;
          if (chunk.length === 0) controller.close();
          else controller.enqueue(chunk);
        },
      });
      const { text } = await phone.fetch(`${origin}/`, { ...scriptFetch(origin), method: "POST", body: stream });
      expect(text).toBe(sha256(body));
    });

    it("sends small uploads with their length", async () => {
      const origin = await edge.originOf((request, response) => {
        const { "content-length": length, "content-type": type } = request.headers;
        readAll(request).then((body) => response.end(`${length} ${type} ${body}`), response.destroy);
      });
      const { text } = await phone.fetch(origin, {
        method: "POST",
        headers: [["content-type", "text/plain"]],
        body: streamOf(Buffer.from("one "), Buffer.from("two")),
      });
      expect(text).toBe("7 text/plain one two");
    });

    it("stops the origin when the page cancels, before and after the head, however many wait", async () => {
      const count = EXCHANGES_AWAITING_HEAD * 2;
      let [waiting, closed] = [0, 0];
      const origin = await edge.originOf((request, response) => {
        waiting++;
        response.on("close", () => closed++);
        if (request.url !== "/body") return;
        response.writeHead(200, { "content-type": "image/png" });
        const write = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on("drain", write);
        write();
      });
      const paths = Array.from({ length: count }, (_, index) => (index === 0 ? "/body" : "/silent"));
      const exchanges = await Promise.all(paths.map((path) => phone.start(origin + path)));
      await exchanges[0]?.head;
      await until(() => waiting === count);
      for (const exchange of exchanges) exchange.cancel();
      await until(() => closed === count);
    });

    it("reaches names below localhost", async () => {
      let reached = 0;
      let stopped = 0;
      const origin = await edge.originOf((request, response) => {
        if (request.url === "/silent") {
          reached++;
          response.on("close", () => stopped++);
          return;
        }
        readAll(request).then((body) => {
          response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
          response.end(gzipSync(`${request.headers.host} ${request.url} ${sha256(body)}`));
        }, response.destroy);
      });
      const { port } = new URL(origin);
      const body = noise(1_500_000);
      for (const name of ["localhost", "app.localhost", "a.b.localhost"]) {
        const url = `http://${name}:${port}`;
        const request = { ...scriptFetch(url), method: "POST", body: streamOf(body) };
        expect((await phone.fetch(`${url}/x?y`, request)).text).toBe(`${name}:${port} /x?y ${sha256(body)}`);
      }
      const silent = await phone.start(`http://app.localhost:${port}/silent`);
      await until(() => reached === 1);
      silent.cancel();
      await until(() => stopped === 1);
      await expect(phone.fetch("http://app.localhost:2/")).rejects.toMatchObject({ code: 0x21 });
    });
  });

  it("has said nothing of keys and tokens", () => edge.expectNoSecretTold());
});
