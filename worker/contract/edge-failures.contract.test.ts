/** How every edge tells what went wrong, and which destinations it refuses. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { type EdgeOptions, type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { MAX_REDIRECTS } from "../upstream/redirects.ts";
import { REPLAYABLE_BODY_BYTES } from "../upstream/request-body.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

describe.each(["workerd", "deno"] as const)("failures at an edge on %s", (runtime) => {
  const log: string[] = [];
  const closers: (() => unknown)[] = [];
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function startPhone(options: Partial<EdgeOptions>): Promise<{ edge: RunningEdge; phone: TestPhone }> {
    const edge = await startEdge({ runtime, port: 0, log: (line) => log.push(line), ...options });
    const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(
      () => phone.close(),
      () => edge.close(),
    );
    return { edge, phone };
  }

  async function originOf(
    listener: (request: IncomingMessage, response: ServerResponse) => void,
    options: Parameters<typeof startLocalOrigin>[1] = {},
  ): Promise<string> {
    const { origin, close } = await startLocalOrigin(listener, options);
    closers.push(close);
    return origin;
  }

  /** A server of plain TCP. */
  async function tcpOrigin(listener: (socket: Socket) => void): Promise<{ host: string; server: Server }> {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      listener(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  }

  describe("of origins", () => {
    let phone: TestPhone;
    beforeAll(async () => {
      ({ phone } = await startPhone({ allowPrivate: true }));
    });
    const codeOf = (url: string) =>
      phone.fetch(url).then(
        () => null,
        (error: unknown) => (error as { code?: number }).code,
      );

    it("tells a refused connection", async () => {
      const { host, server } = await tcpOrigin(() => {});
      server.close();
      expect(await codeOf(`http://${host}/`)).toBe(ErrorCode.CONNECTION_REFUSED);
    });

    it("tells a name that does not resolve", async () => {
      expect(await codeOf("http://nothing-of-that-name.invalid/")).toBe(ErrorCode.NAME_NOT_RESOLVED);
    });

    it("tells a connection that is closed without an answer", async () => {
      const { host } = await tcpOrigin((socket) => socket.once("data", () => socket.destroy()));
      expect(await codeOf(`http://${host}/`)).toBe(ErrorCode.CONNECTION_RESET);
      const { host: rude } = await tcpOrigin((socket) => socket.once("data", () => socket.resetAndDestroy()));
      expect(await codeOf(`http://${rude}/`)).toBe(ErrorCode.CONNECTION_RESET);
    });

    it("tells a body that ends too early, after the head", async () => {
      const { host } = await tcpOrigin((socket) =>
        socket.once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 100\r\n\r\nonly this");
          setTimeout(() => socket.destroy(), 20);
        }),
      );
      const exchange = await phone.start(`http://${host}/`);
      expect((await exchange.head).status).toBe(200);
      await expect(exchange.response).rejects.toMatchObject({ code: ErrorCode.CONNECTION_RESET, scope: "stream" });
    });

    it("tells an answer that is not HTTP from a success", async () => {
      const { host } = await tcpOrigin((socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH\r\n\r\n")));
      expect(await codeOf(`http://${host}/`)).toBe(ErrorCode.NOT_HTTP);
    });

    it("tells a certificate that nobody vouches for, and TLS where there is none", async () => {
      const tls = testCertificate("127.0.0.1");
      let requests = 0;
      const secure = await originOf(() => requests++, { tls });
      expect(await codeOf(`${secure}/`)).toBe(ErrorCode.TLS_FAILED);
      const plain = await originOf(() => requests++);
      expect(await codeOf(`${plain.replace("http:", "https:")}/`)).toBe(ErrorCode.TLS_FAILED);
      // Sites go by names, too, and those below localhost take another road.
      const named = (origin: string) => origin.replace("127.0.0.1", "self-signed.localhost");
      expect(await codeOf(`${named(secure)}/`)).toBe(ErrorCode.TLS_FAILED);
      expect(await codeOf(`${named(plain).replace("http:", "https:")}/`)).toBe(ErrorCode.TLS_FAILED);
      expect(requests).toBe(0);
    });

    it("tells a connection that a name below localhost refuses", async () => {
      const { host, server } = await tcpOrigin(() => {});
      server.close();
      const name = host.replace("127.0.0.1", "refused.localhost");
      for (const scheme of ["http", "https"])
        expect(await codeOf(`${scheme}://${name}/`)).toBe(ErrorCode.CONNECTION_REFUSED);
    });

    it("tells schemes that are not the web's", async () => {
      for (const url of ["ftp://127.0.0.1/", "ws://127.0.0.1/"]) {
        expect(await codeOf(url), url).toBe(ErrorCode.UNSUPPORTED_SCHEME);
      }
      // Without a host, they are no request at all.
      for (const url of ["file:///etc/passwd", "about:blank", "data:,x"]) {
        expect(await codeOf(url), url).not.toBeNull();
      }
    });

    it("ends a loop of redirects, having asked as often as it may", async () => {
      let requests = 0;
      const origin = await originOf((_, response) => {
        requests++;
        response.writeHead(302, { location: "/" }).end();
      });
      expect(await codeOf(`${origin}/`)).toBe(ErrorCode.TOO_MANY_REDIRECTS);
      expect(requests).toBe(MAX_REDIRECTS + 1);
    });

    it("sends no body again that was too large to keep", async () => {
      const origin = await originOf((request, response) => {
        request.resume().on("end", () => response.writeHead(307, { location: "/" }).end());
      });
      const body = new Blob([new Uint8Array(REPLAYABLE_BODY_BYTES * 2)]).stream();
      await expect(phone.fetch(`${origin}/`, { method: "POST", body })).rejects.toMatchObject({
        code: ErrorCode.BODY_NOT_REPLAYABLE,
      });
    });

    it("goes on after all of that", async () => {
      const origin = await originOf((_, response) => response.end("well"));
      expect((await phone.fetch(origin)).text).toBe("well");
      expect(phone.ended).toBeNull();
    });
  });

  describe("of its own internet", () => {
    const failureOf = async (knownHosts: readonly string[]) => {
      const { edge, phone } = await startPhone({ allowPrivate: true, knownHosts });
      onTestFinished(() => edge.close());
      const failing = phone.fetch("http://nothing-of-that-name.invalid/");
      return { phone, failure: await failing.catch((error: unknown) => error) };
    };

    it("tells that known names do not resolve either", async () => {
      const { phone, failure } = await failureOf(["neither.invalid", "nor-this.invalid"]);
      expect(failure).toMatchObject({ code: ErrorCode.EDGE_OFFLINE, scope: "stream" });
      // What can be reached is none of its business.
      const origin = await originOf((_, response) => response.end("well"));
      expect((await phone.fetch(origin)).text).toBe("well");
    });

    it("does not blame it where one of them does", async () => {
      const { host } = await tcpOrigin((socket) => socket.destroy());
      const { failure } = await failureOf(["neither.invalid", host.replace("127.0.0.1", "localhost")]);
      expect(failure).toMatchObject({ code: ErrorCode.NAME_NOT_RESOLVED });
    });
  });

  describe("of destinations", () => {
    let phone: TestPhone;
    let allowed: string;
    let reached = 0;
    let secret: string;
    beforeAll(async () => {
      secret = await originOf(
        (_, response) => {
          reached++;
          response.end("secret");
        },
        { ip: "127.0.0.2" },
      );
      // The demo's origin may be reached, and leads elsewhere.
      allowed = await originOf((request, response) => {
        const target = decodeURIComponent(request.url?.slice(2) ?? "");
        if (target === "") response.end("demo");
        else response.writeHead(302, { location: target }).end();
      });
      ({ phone } = await startPhone({ demo: { url: allowed, origins: [allowed] } }));
    });

    const forbidden = () => {
      const { port } = new URL(secret);
      return [
        `${secret}/`,
        `http://127.0.0.1:${port}/`,
        `http://2130706434:${port}/`,
        `http://0x7f.2:${port}/`,
        `http://[::1]:${port}/`,
        `http://[::ffff:127.0.0.2]:${port}/`,
        `http://0.0.0.0:${port}/`,
        `http://localhost:${port}/`,
        `http://app.localhost:${port}/`,
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://100.64.0.1/",
        "http://printer.local/",
      ];
    };

    it("reaches the demo, which is exempt", async () => {
      expect((await phone.fetch(allowed)).text).toBe("demo");
    });

    it("refuses private ones, however they are written", async () => {
      for (const url of forbidden()) {
        await expect(phone.fetch(url), url).rejects.toMatchObject({ code: ErrorCode.DESTINATION_FORBIDDEN });
      }
      expect(reached).toBe(0);
    });

    it("refuses them when a redirect leads there", async () => {
      for (const url of forbidden()) {
        await expect(phone.fetch(`${allowed}/?${encodeURIComponent(url)}`), url).rejects.toMatchObject({
          code: ErrorCode.DESTINATION_FORBIDDEN,
        });
      }
      expect(reached).toBe(0);
    });
  });

  it("opens no tunnel to a phone whose edge has another key by now", async () => {
    const first = await startPhone({ allowPrivate: true });
    const token = await pairPhone(first.edge.url, first.edge.accessKey);
    const second = await startPhone({ allowPrivate: true });
    await expect(new TestPhone(second.edge.url, token).connect()).rejects.toThrow("handshake");
  });

  it("has logged no failure of an origin as one of its own", () => {
    expect(log.filter((line) => /uncaught|unhandled|panic|internal error/i.test(line))).toEqual([]);
  });
});
