/** What every edge gives a page of another origin of its own site, with cookies and all, and what it keeps. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import type { Destination } from "../../shared/http/heads.ts";
import { noise } from "../testing/contract.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { SNIFFED_BYTES } from "../upstream/opaque.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const denied = { code: ErrorCode.CORS_DENIED };

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let phone: TestPhone;
  let bank: string;
  let page: { origin: string; topLevelOrigin: string; mode: "no-cors"; credentials: "include" };
  /** Paths and cookies of what was asked for. */
  const asked: string[] = [];
  const film = Buffer.concat([Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0", "latin1"), noise(200_000)]);
  const picture = Buffer.concat([Buffer.from("GIF89a"), noise(200_000)]);

  function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    const { cookie = "" } = headers;
    asked.push(`${url} ${cookie}`);
    const send = (type: string, body: string | Buffer, fields: Record<string, string> = {}) =>
      response.writeHead(200, { "content-type": type, ...fields }).end(body);
    switch (url) {
      case "/login":
        return void send("text/html", "in", { "set-cookie": "session=4711; HttpOnly; SameSite=Strict" });
      case "/account":
        return void send("text/html", "<p>4711");
      case "/api":
        return void send("text/plain", gzipSync('{"balance":4711}'), { "content-encoding": "gzip" });
      case "/plain":
        return void send("text/plain", cookie === "" ? "run()" : "balance=4711");
      case "/face":
        return void send("image/png", picture, { "cross-origin-resource-policy": "same-origin" });
      case "/picture":
        return void send("image/png", picture, { "x-balance": "4711" });
      case "/film": {
        const [, first = "0", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
        const part = film.subarray(Number(first), last === "" ? film.length : Number(last) + 1);
        const range = `bytes ${first}-${Number(first) + part.length - 1}/${film.length}`;
        return void response.writeHead(206, { "content-type": "video/mp4", "content-range": range }).end(part);
      }
      default:
        return void response.writeHead(404).end();
    }
  }

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, log: () => {} });
    const { origin, close } = await startLocalOrigin(answer);
    const { port } = new URL(origin);
    bank = `http://bank.x.localhost:${port}`;
    const evil = `http://evil.x.localhost:${port}`;
    page = { origin: evil, topLevelOrigin: evil, mode: "no-cors", credentials: "include" };
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(
      () => phone.close(),
      () => edge.close(),
      close,
    );
    await phone.fetch(`${bank}/login`);
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  const ask = (path: string, destination: Destination, headers: [string, string][] = []) =>
    phone.fetch(bank + path, { ...page, destination, headers });

  it("keeps documents, JSON, and what is for its own origin only, whatever the page says that it is for", async () => {
    for (const path of ["/account", "/api", "/face"]) {
      for (const destination of ["image", "script", "style", "video"] as const) {
        await expect(ask(path, destination)).rejects.toMatchObject(denied);
      }
    }
    for (const destination of ["", "document", "iframe", "object", "font"] as const) {
      expect(await ask("/account", destination)).toMatchObject({ head: { status: 200, headers: [] }, text: "" });
    }
    expect(asked).toContain("/account session=4711");
  });

  it("gives text that may be a script as strangers get it", async () => {
    asked.length = 0;
    expect((await ask("/plain", "script")).text).toBe("run()");
    expect(asked).toEqual(["/plain session=4711", "/plain "]);
  });

  it("gives pictures and films, the latter in ranges too", async () => {
    const { head, body } = await ask("/picture", "image");
    expect(picture.equals(body)).toBe(true);
    expect(head.headers.map(([name]) => name)).not.toContain("x-balance");
    const range = { destination: "video" as const, headers: [["range", "bytes=100000-"]] as [string, string][] };
    const later = await ask("/film", range.destination, range.headers);
    expect(later.head.status).toBe(206);
    expect(film.subarray(100_000).equals(later.body)).toBe(true);
    expect(asked.slice(-2)).toEqual(["/film session=4711", "/film session=4711"]);
    await expect(ask("/picture", "image", [["range", `bytes=${SNIFFED_BYTES}-`]])).resolves.toMatchObject({
      head: { status: 200 },
    });
  });
});
