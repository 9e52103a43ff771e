import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { type LoopbackProxy, startLoopbackProxy } from "./loopback-proxy.ts";

describe("the proxy for names below localhost", () => {
  let directory: string;
  let proxy: LoopbackProxy;
  const closers: (() => void)[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-loopback-"));
    proxy = await startLoopbackProxy(join(directory, "proxy.sock"));
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    proxy.close();
    await rm(directory, { recursive: true });
  });

  /** @returns the host that leads to it, and what it was asked. */
  async function originThat(answers: (socket: Socket) => void): Promise<{ host: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        asked.push(bytes.toString("latin1"));
        answers(socket);
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    closers.push(() => server.close());
    return { host: `app.localhost:${(server.address() as AddressInfo).port}`, asked };
  }

  /** All that comes for a request, until the connection ends. */
  async function ask(...lines: readonly string[]): Promise<string> {
    const socket = connect(proxy.address.replace("unix:", ""));
    closers.push(() => socket.destroy());
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).on("error", () => {});
    await once(socket, "close");
    return Buffer.concat(chunks).toString("latin1");
  }

  const answered = (head: string, body = "") => originThat((socket) => socket.end(`${head}${body}`, "latin1"));

  it("asks in the way of an origin", async () => {
    const { host, asked } = await answered("HTTP/1.1 204 No\r\n\r\n");
    await ask(`POST http://${host}/a%20b?c HTTP/1.1`, "Connection: keep-alive", "X: \u00e9", "Content-Length: 0");
    expect(asked).toEqual([
      `POST /a%20b?c HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nX: \u00c3\u00a9\r\nContent-Length: 0\r\n\r\n`,
    ]);
  });

  it("passes on what it gets, byte by byte, and mends what a proxy has to", async () => {
    const { host } = await answered(
      [
        "HTTP/1.1 100 Continue",
        "",
        "HTTP/1.1 103 Early Hints",
        "Link: </x>",
        "",
        "HTTP/1.1 200 \xff",
        "Content-Disposition: x; filename=\xe2\x98\x83",
        "Content-Length : 2",
        "Folded: a",
        "\t b",
        "No colon",
        "Na\xffme: 1",
        "Connection: keep-alive",
        " , x",
        "Lone: a\rConnection: keep-alive",
        "",
        "",
      ].join("\n"),
      "\xfe\xffHTTP/1.1 200 OK",
    );
    expect(await ask(`GET http://${host}/ HTTP/1.1`)).toBe(
      [
        "HTTP/1.1 200 \xff",
        "Connection: close",
        "Content-Disposition: x; filename=\xe2\x98\x83",
        "Content-Length: 2",
        "Folded: a b",
        "Lone: a Connection: keep-alive",
        "",
        "\xfe\xffHTTP/1.1 200 OK",
      ].join("\r\n"),
    );
  });

  it("tells by chunks where a body without a length ends, and where it breaks off", async () => {
    const head = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    const whole = await answered("HTTP/1.0 200 OK\r\n\r\n", "whole");
    expect(await ask(`GET http://${whole.host}/ HTTP/1.1`)).toBe(
      `${head.replace("1.1", "1.0")}5\r\nwhole\r\n0\r\n\r\n`,
    );
    const broken = await originThat((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\nbroken");
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    expect(await ask(`GET http://${broken.host}/ HTTP/1.1`)).toBe(`${head}6\r\nbroken\r\n`);
  });

  it.each([
    "HTTP/1.1 000 Nothing",
    "HTTP/1.1 101 Switching",
    "HTTP/1.1 2000 OK",
    "SSH-2.0-x",
    "",
    `${"x".repeat(300_000)}`,
  ])("ends the connection for an answer that is none", async (statusLine) => {
    const { host } = await answered(`${statusLine}\r\nContent-Length: 2\r\n\r\n`, "ok");
    expect(await ask(`GET http://${host}/ HTTP/1.1`)).toBe("");
  });

  it("says why an origin cannot be reached, and lets none say that in its place", async () => {
    const { host } = await answered("HTTP/1.1 200 OK\r\nRopeway-Failure: ECONNREFUSED\r\nContent-Length: 0\r\n\r\n");
    expect(await ask(`GET http://${host}/ HTTP/1.1`)).toBe(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    );
    const failure = async (url: string) => /^Ropeway-Failure: (\w+)\r$/m.exec(await ask(`GET ${url} HTTP/1.1`))?.[1];
    expect(await failure(`https://${host}/`)).toMatch(/SSL|EPROTO|ECONNRESET/);
    const secure = createTlsServer(testCertificate("self-signed.localhost")).listen(0, "127.0.0.1");
    await once(secure, "listening");
    const { port } = secure.address() as AddressInfo;
    expect(await failure(`https://self-signed.localhost:${port}/`)).toMatch(/SELF_SIGNED|UNABLE_TO/);
    await new Promise((resolve) => secure.close(resolve));
    expect(await failure(`http://gone.localhost:${port}/`)).toBe("ECONNREFUSED");
  });

  it.each(["http://127.0.0.1/", "http://localhost.example/", "ftp://app.localhost/", "/", "app.localhost:80"])(
    "leads nowhere else: %s",
    async (target) => {
      expect(await ask(`GET ${target} HTTP/1.1`, "Host: app.localhost")).toMatch(/^HTTP\/1.1 403 /);
    },
  );
});
