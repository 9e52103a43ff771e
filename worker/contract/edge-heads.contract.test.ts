/** Heads of responses that browsers take, on every edge: of many lines, with what no field may hold, and of odd types. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { ResponseHead } from "../../shared/http/heads.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";

const MANY_LINES = Array.from({ length: 200 }, (_, index) => `x-line-${index}: ${index}`);
const PACKED = gzipSync("packed");

const RESPONSES: Readonly<Record<string, readonly [lines: readonly string[], body: Uint8Array]>> = {
  many: [MANY_LINES, Buffer.from("many")],
  cookies: [
    ["set-cookie: first=1", "set-cookie: odd=a\x01b", "set-cookie: odder=a\x7fb", "set-cookie: last=\xc3\xa9"],
    Buffer.from("cookies"),
  ],
  cut: [MANY_LINES, Buffer.from("never sent")],
  typed: [["content-type: text/html; charset=koi8-r"], Buffer.from("<p>typed")],
  declared: [["content-type: text/html"], Buffer.from("<!-- <meta charset=big5> --><meta charset=Shift_JIS>")],
  picture: [[], Buffer.from("89504e470d0a1a0a00", "hex")],
  packed: [[...MANY_LINES, "content-encoding: gzip"], PACKED],
};

describe.each(["workerd", "deno"] as const)("heads at an edge on %s", (runtime) => {
  let edge: RunningEdge;
  let phone: TestPhone;
  let directory: string;
  let origin: string;
  let secureOrigin: string;
  /** As they came: method, path and cookies. */
  const requests: string[] = [];
  const answer = (socket: Socket): void => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const text = data.toString("latin1");
      const [, method = "", path = ""] = /^(\w+) \/(\w*)/.exec(text) ?? [];
      requests.push(`${method} ${path} ${/^cookie: (.*)$/im.exec(text)?.[1] ?? ""}`);
      const [lines, body] = RESPONSES[path] ?? [[], Buffer.from("plain")];
      const head = [
        "HTTP/1.1 200 OK",
        `content-length: ${body.byteLength}`,
        "connection: close",
        "content-type: text/plain",
        ...lines,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n`, "latin1");
      if (path === "cut") setTimeout(() => socket.destroy(), 20);
      else socket.end(method === "HEAD" ? "" : body);
    });
  };
  const authority = testCertificate("authority.test");
  const servers = [createServer(answer), createTlsServer(testCertificate("127.0.0.1", authority), answer)];

  beforeAll(async () => {
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
    const [host = "", secureHost = ""] = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
    origin = `http://${host}`;
    secureOrigin = `https://${secureHost}`;
    directory = await mkdtemp(join(tmpdir(), "ropeway-heads-"));
    const file = join(directory, "authority.pem");
    await writeFile(file, authority.cert);
    vi.stubEnv("NODE_EXTRA_CA_CERTS", file);
    edge = await startEdge({ runtime, port: 0, allowPrivate: true });
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
  });
  afterAll(async () => {
    phone.close();
    for (const server of servers) server.close();
    await edge.close();
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true });
  });

  it("takes a head of 200 lines", async () => {
    for (const from of [origin, origin.replace("127.0.0.1", "lines.localhost"), secureOrigin]) {
      const { head, text } = await phone.fetch(`${from}/many`);
      expect(text, from).toBe("many");
      expect(head.headers.filter(([name]) => name.startsWith("x-line-"))).toHaveLength(200);
    }
    const empty = await phone.fetch(`${origin}/many`, { method: "HEAD" });
    expect([empty.head.status, empty.text]).toEqual([200, ""]);
  });

  it("says how a browser shows a document, where the fields do not, and changes nothing of it", async () => {
    const note = ({ head }: { head: ResponseHead }) => headerValue(head.headers, "ropeway-document");
    const shown = { mode: "navigate", destination: "document", redirect: "manual" } as const;
    const typed = await phone.fetch(`${origin}/typed`, shown);
    expect([note(typed), typed.text]).toEqual(["html text/html koi8-r", "<p>typed"]);
    const declared = await phone.fetch(`${origin}/declared`, shown);
    expect([note(declared), declared.text]).toEqual(["html text/html shift_jis", RESPONSES.declared?.[1].toString()]);
    expect(note(await phone.fetch(`${origin}/picture`, shown))).toBe("image image/png");
    const asked = { mode: "no-cors", destination: "image" } as const;
    expect(note(await phone.fetch(`${origin}/picture`, asked))).toBe(null);
  });

  it("undoes the coding of a body whose head has 200 lines", async () => {
    expect((await phone.fetch(`${origin}/packed`)).text).toBe("packed");
  });

  it("tells a body that ends too early after a head of 200 lines", async () => {
    const exchange = await phone.start(`${origin}/cut`);
    expect((await exchange.head).status).toBe(200);
    await expect(exchange.response).rejects.toMatchObject({ code: ErrorCode.CONNECTION_RESET, scope: "stream" });
  });

  it("skips cookies that have control characters, and takes those beside them", async () => {
    expect((await phone.fetch(`${origin}/cookies`)).text).toBe("cookies");
    await phone.fetch(`${origin}/`);
    expect(requests.at(-1)).toBe("GET  first=1; last=\xc3\xa9");
  });

  it("sends nothing twice that may do something", async () => {
    requests.length = 0;
    const outcome = await phone.fetch(`${origin}/many`, { method: "POST" }).then(
      ({ text }) => text,
      (error: { code: number; message: string }) => error,
    );
    expect(requests).toHaveLength(1);
    if (runtime === "workerd") expect(outcome).toBe("many");
    else
      expect(outcome).toMatchObject({
        code: ErrorCode.NOT_HTTP,
        message: expect.stringMatching("is not HTTP, or none that this edge can read"),
      });
  });
});
