/** What every edge does, whatever it runs on: its HTTP side, and exchanges with real origins through its tunnel. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import {
  CONFIG_PATH,
  EdgeRequest,
  HEALTH_PATH,
  PAIR_PATH,
  SUBPROTOCOL,
  TUNNEL_PATH,
} from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/request-heads.ts";
import { VERSION } from "../../shared/version.ts";
import { askEdge, noise, readAll, sha256, until } from "../testing/contract.ts";
import { streamOf } from "../testing/phone-session.ts";
import { pairPhone, type Road, TestPhone } from "../testing/test-phone.ts";
import { REPLAYABLE_BODY_BYTES } from "../upstream/body/request-body.ts";
import { EXCHANGES_AWAITING_HEAD } from "../upstream/send/header-gate.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const log: string[] = [];
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let token: string;

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, log: (line) => log.push(line) });
    closers.push(() => edge.close());
    token = await pairPhone(edge.url, edge.accessKey);
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function connectedPhone(road: Road): Promise<TestPhone> {
    const connected = new TestPhone(edge.url, token, { road });
    await connected.connect();
    closers.push(() => connected.close());
    return connected;
  }

  /** An origin of its own for each test. */
  async function originOf(listener: Listener, ip?: string): Promise<string> {
    const { origin, close } = await startLocalOrigin(listener, ip === undefined ? {} : { ip });
    closers.push(close);
    return origin;
  }

  describe("over plain HTTP", () => {
    it("is well, and tells the app its configuration", async () => {
      expect(JSON.parse((await askEdge(edge.url, HEALTH_PATH)).text)).toEqual({
        status: "ok",
        version: VERSION,
        protocol: SUBPROTOCOL,
      });
      const { port } = new URL(edge.url);
      expect(JSON.parse((await askEdge(edge.url, CONFIG_PATH)).text)).toEqual({
        version: VERSION,
        slotHost: `ropeway.localhost:${port}`,
        demoUrl: null,
      });
    });

    it("serves the shell with its headers, and nothing twice", async () => {
      const first = await askEdge(edge.url, "/");
      expect(first.status).toBe(200);
      expect(first.headers["content-type"]).toMatch(/^text\/html/);
      expect(first.headers["content-security-policy"]).toContain("http://*.ropeway.localhost:");
      expect(first.headers["x-content-type-options"]).toBe("nosniff");
      expect(first.headers["cache-control"]).toContain("must-revalidate");
      expect(first.text).toContain("<html");
      const again = await askEdge(edge.url, "/", { headers: { "if-none-match": String(first.headers.etag) } });
      expect(again.status).toBe(304);
      expect(again.text).toBe("");
      const head = await askEdge(edge.url, "/", { method: "HEAD" });
      expect([head.status, head.text]).toEqual([200, ""]);
    });

    it("serves slots their boot page and keeps the rest of the app from them", async () => {
      const host = "slot1.ropeway.localhost";
      const boot = await askEdge(edge.url, "/.ropeway/boot", { host });
      expect(boot.status).toBe(200);
      expect(boot.headers["content-type"]).toMatch(/^text\/html/);
      expect(boot.headers["content-security-policy"]).toContain("frame-ancestors http://ropeway.localhost:");
      const page = await askEdge(edge.url, "/a?b", { host });
      expect([page.status, page.headers.location]).toEqual([302, "/.ropeway/boot?then=%2Fa%3Fb"]);
      expect((await askEdge(edge.url, "/a.js", { host, headers: { "sec-fetch-dest": "script" } })).status).toBe(404);
      expect((await askEdge(edge.url, PAIR_PATH, { host, method: "POST" })).status).toBe(404);
    });

    it.each(["/nothing", "/nothing.js", "/..%2f..%2fpackage.json", "/..%2fworker%2fworker.js", "/%00"])(
      "has no %s",
      async (path) => {
        expect((await askEdge(edge.url, path)).status).toBe(404);
      },
    );

    it("sends other hosts to its own", async () => {
      const response = await askEdge(edge.url, "/x?y", { host: "localhost" });
      const { port } = new URL(edge.url);
      expect([response.status, response.headers.location]).toEqual([302, `http://ropeway.localhost:${port}/x?y`]);
    });

    it("pairs with the right key only, and opens tunnels for its own tokens only", async () => {
      await expect(pairPhone(edge.url, `${edge.accessKey}x`)).rejects.toThrow("401");
      const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
      expect((await askEdge(edge.url, TUNNEL_PATH, bearer(token))).status).toBe(426);
      expect((await askEdge(edge.url, TUNNEL_PATH, bearer(`${token}x`))).status).toBe(401);
      const upgrade = async (protocols: string, headers: Record<string, string> = {}) =>
        askEdge(edge.url, TUNNEL_PATH, {
          headers: {
            connection: "Upgrade",
            upgrade: "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
            "sec-websocket-protocol": protocols,
            ...headers,
          },
        });
      const opened = await upgrade(`${SUBPROTOCOL},ropeway.token.${token}`);
      expect(opened.status).toBe(101);
      expect(opened.headers["sec-websocket-protocol"]).toBe(SUBPROTOCOL);
      expect(opened.headers).not.toHaveProperty("sec-websocket-extensions");
      expect((await upgrade(`${SUBPROTOCOL}, ropeway.token.${token}x`)).status).toBe(401);
      expect((await upgrade(SUBPROTOCOL)).status).toBe(401);
      expect((await upgrade(`ropeway.9, ropeway.token.${token}`)).status).toBe(400);
      const foreign = { origin: "http://evil.example" };
      expect((await upgrade(`${SUBPROTOCOL}, ropeway.token.${token}`, foreign)).status).toBe(403);
    });
  });

  describe.each(["websocket", "fetch"] as const)("through the tunnel over %s", (road) => {
    let phone: TestPhone;
    beforeAll(async () => {
      phone = await connectedPhone(road);
    });

    it("sends what a browser sends and brings what the origin answers", async () => {
      let seen: IncomingHttpHeaders = {};
      const origin = await originOf((request, response) => {
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
      const origin = await originOf((request, response) => held.set(request.url ?? "", response));
      const count = 200;
      const answers = Array.from({ length: count }, (_, index) => phone.fetch(`${origin}/${index}`));
      await until(() => held.size === count);
      for (let index = count - 1; index >= 0; index--) {
        held.get(`/${index}`)?.end(`answer ${index}`);
        expect((await answers[index])?.text).toBe(`answer ${index}`);
      }
    });

    it("brings the first bytes before the origin has sent the last, compressed or not", async () => {
      for (const type of ["text/event-stream", "application/octet-stream"]) {
        let finish = () => {};
        const origin = await originOf((_, response) => {
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
      const origin = await originOf((request, response) => {
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
      const origin = await originOf((request, response) => {
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
      const origin = await originOf((request, response) => {
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
      const origin = await originOf((request, response) => {
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
      const origin = await originOf((request, response) => {
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

    it("passes no hop-by-hop fields and none of the edge's network, either way", async () => {
      let seen: IncomingHttpHeaders = {};
      const origin = await originOf((request, response) => {
        seen = request.headers;
        response.writeHead(200, {
          connection: "x-hop, keep-alive",
          "x-hop": "1",
          "keep-alive": "timeout=9",
          "proxy-authenticate": "Basic",
          trailer: "x-later",
          "cf-ray": "1",
          "cf-cache-status": "HIT",
          "set-cookie": "a=b",
          "x-end": "1",
        });
        response.end();
      });
      const { head } = await phone.fetch(`${origin}/`, {
        ...scriptFetch(origin),
        headers: [
          ["connection", "x-hop"],
          ["x-hop", "1"],
          ["keep-alive", "timeout=9"],
          ["te", "trailers"],
          ["upgrade", "h2c"],
          ["proxy-authorization", "Basic eDp5"],
          ["transfer-encoding", "chunked"],
          ["cf-connecting-ip", "192.0.2.1"],
          ["cf-ray", "1"],
          ["x-forwarded-for", "192.0.2.1"],
          ["cookie", "forged=1"],
          ["x-end", "1"],
        ],
      });
      const received = Object.keys(seen);
      const hops = ["x-hop", "keep-alive", "te", "upgrade", "proxy-authorization", "transfer-encoding", "cookie"];
      for (const name of [...hops, "x-forwarded-for"]) expect(received).not.toContain(name);
      expect(received.filter((name) => name.startsWith("cf-"))).toEqual([]);
      expect(seen["x-end"]).toBe("1");
      const names = head.headers.map(([name]) => name);
      for (const name of ["connection", "x-hop", "keep-alive", "proxy-authenticate", "trailer", "set-cookie"]) {
        expect(names).not.toContain(name);
      }
      expect(names.filter((name) => name.startsWith("cf-"))).toEqual([]);
      expect(names).toContain("x-end");
    });

    it("follows redirects with their rules for methods", async () => {
      const origin = await originOf((request, response) => {
        readAll(request).then((body) => {
          const status = Number(request.url?.slice(1));
          if (status > 0) response.writeHead(status, { location: "/end" }).end();
          else response.end(`${request.method} ${body} ${request.headers["content-type"] ?? "-"}`);
        }, response.destroy);
      });
      const post = { method: "POST", headers: [["content-type", "text/plain"]] as const };
      const expected = {
        301: "GET  -",
        302: "GET  -",
        303: "GET  -",
        307: "POST x text/plain",
        308: "POST x text/plain",
      };
      for (const [status, text] of Object.entries(expected)) {
        const response = await phone.fetch(`${origin}/${status}`, { ...post, body: "x" });
        expect(response.text, status).toBe(text);
        expect(response.head).toMatchObject({ redirected: true, url: `${origin}/end` });
      }
      const manual = await phone.fetch(`${origin}/302`, { redirect: "manual" });
      expect(manual.head).toMatchObject({ status: 302, redirected: false });
    });

    it("keeps cookies over redirects, and those of scripts, apart by site", async () => {
      const cookies: string[] = [];
      const listener: Listener = (request, response) => {
        cookies.push(`${request.url} ${request.headers.cookie ?? ""}`);
        if (request.url === "/in")
          response.writeHead(302, { location: "/home", "set-cookie": ["a=1", "b=2; HttpOnly"] });
        response.end();
      };
      const [origin, other] = [await originOf(listener, "127.0.0.3"), await originOf(listener, "127.0.0.4")];
      const { head } = await phone.fetch(`${origin}/in`);
      expect(head.scriptCookies).toMatchObject([{ name: "a", value: "1", hostOnly: true }]);
      await phone.fetch(EdgeRequest.SCRIPT_COOKIE, {
        ...scriptFetch(origin),
        method: "PUT",
        headers: [
          ["document-url", `${origin}/home`],
          ["cookie-string", encodeURIComponent("c=ü; path=/")],
        ],
      });
      await phone.fetch(`${origin}/again`);
      await phone.fetch(`${origin}/framed`, { ...scriptFetch(other), mode: "no-cors", credentials: "include" });
      const second = await connectedPhone(road);
      await second.fetch(`${origin}/window`);
      await second.fetch(EdgeRequest.SITE_DATA, { ...scriptFetch(origin), origin: null, method: "DELETE" });
      await phone.fetch(`${origin}/cleared`);
      const all = `a=1; b=2; c=${Buffer.from("ü").toString("latin1")}`;
      expect(cookies).toEqual(["/in ", "/home a=1; b=2", `/again ${all}`, "/framed ", `/window ${all}`, "/cleared "]);
    });

    it("asks by a preflight first where a page may not simply send, and denies what the origin denies", async () => {
      const seen: string[] = [];
      const api = await originOf((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.origin}`);
        if (request.url === "/open") {
          response.setHeader("access-control-allow-origin", String(request.headers.origin));
          response.setHeader("access-control-allow-methods", "PUT");
          response.setHeader("access-control-allow-headers", "x-own");
        }
        response.end("done");
      }, "127.0.0.5");
      const page = "http://127.0.0.6";
      const put = { ...scriptFetch(page), method: "PUT", headers: [["x-own", "1"]] as const };
      expect((await phone.fetch(`${api}/open`, { ...put, body: "x" })).text).toBe("done");
      await expect(phone.fetch(`${api}/closed`, { ...put, body: "x" })).rejects.toMatchObject({ code: 0x27 });
      await expect(phone.fetch(`${api}/read`, scriptFetch(page))).rejects.toMatchObject({ code: 0x27 });
      expect(seen).toEqual([
        `OPTIONS /open ${page}`,
        `PUT /open ${page}`,
        `OPTIONS /closed ${page}`,
        `GET /read ${page}`,
      ]);
    });

    it("reaches names below localhost", async () => {
      let reached = 0;
      let stopped = 0;
      const origin = await originOf((request, response) => {
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

  it("has said nothing of keys and tokens", () => {
    expect(log.join("\n")).not.toContain(edge.accessKey);
    expect(log.join("\n")).not.toContain(token);
  });
});
