/** Sockets of pages through the tunnel of an edge, whatever it runs on. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { ErrorCode } from "../../shared/errors.ts";
import type { ResponseHead } from "../../shared/http/heads.ts";
import {
  encodeSocketClose,
  encodeSocketPart,
  type SocketClose,
  type SocketPart,
  SocketRecordReader,
} from "../../shared/http/socket-records.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { noise, sha256, until } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import type { TestExchange, TestRequest } from "../testing/phone-session.ts";
import type { TestPhone } from "../testing/test-phone.ts";

/** The phone's end of a page's socket. */
class TestSocket {
  /** Texts as they are, and the digests of all else. */
  readonly got: string[] = [];
  close: SocketClose | null = null;
  exchange!: TestExchange;
  /** While it is set, nothing more is taken. */
  waits: Promise<void> | undefined;
  #reader = new SocketRecordReader();
  #parts: Uint8Array[] = [];
  /** Bytes that the link has taken of what was sent. */
  taken = 0;
  #up = new TransformStream<Uint8Array, Uint8Array>(
    {
      transform: (part, controller) => {
        this.taken += part.length;
        controller.enqueue(part);
      },
    },
    { highWaterMark: 1e6 },
  );
  #writer = this.#up.writable.getWriter();

  async open(phone: TestPhone, url: string, request: TestRequest = {}): Promise<ResponseHead> {
    const { origin } = new URL(url);
    this.exchange = await phone.start(url, {
      ...scriptFetch(origin),
      method: "CONNECT",
      protocol: "websocket",
      credentials: "include",
      redirect: "error",
      body: this.#up.readable,
      onChunk: (chunk) => {
        for (const event of this.#reader.read(chunk)) {
          if (event.kind === "close") this.close = event;
          else this.#take(event);
        }
        return this.waits;
      },
      ...request,
    });
    return this.exchange.head;
  }

  send(message: string | Uint8Array): void {
    const isText = typeof message === "string";
    const bytes = new Uint8Array(isText ? new TextEncoder().encode(message) : message);
    const whole = { kind: isText ? "text" : "binary", bytes, isLast: true } as const;
    // What waits when the test gives the socket up is given up, too.
    for (const part of encodeSocketPart(whole)) this.#writer.write(part).catch(() => {});
  }

  #take({ kind, bytes, isLast }: SocketPart): void {
    this.#parts.push(bytes);
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.got.push(kind === "text" ? whole.toString() : sha256(whole));
  }

  sendClose(code: number | null, reason = ""): void {
    void this.#writer.write(encodeSocketClose({ code, reason }));
    void this.#writer.close();
  }
}

/** Answers a handshake, and reads nothing more until it is told to. */
async function startSlowOrigin() {
  const state = { received: 0, isLeft: false, origin: "", resume: () => {} };
  const listener = createServer((socket) => {
    listener.close();
    socket.once("data", (head) => {
      const key = /sec-websocket-key: *(\S+)/i.exec(head.toString("latin1"))?.[1];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const fields = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
      socket.pause().write(["HTTP/1.1 101 Switching Protocols", ...fields, "", ""].join("\r\n"));
      state.resume = () => {
        socket.on("data", ({ length }) => {
          state.received += length;
        });
        socket.resume();
      };
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      state.isLeft = true;
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  state.origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return state;
}

const authority = testCertificate("authority.test");
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ropeway-sockets-"));
  await writeFile(join(directory, "authority.pem"), authority.cert);
  // For the edges that are started later.
  vi.stubEnv("NODE_EXTRA_CA_CERTS", join(directory, "authority.pem"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

describe.each(["workerd", "deno"] as const)("sockets of pages on %s", (runtime) => {
  const edge = edgeOfTests(runtime);
  const strict = edgeOfTests(runtime, { allowPrivate: false });
  let phone: TestPhone;
  let server: WebSocketServer;
  let origin: string;
  let asked: IncomingHttpHeaders = {};
  /** How each connection ended for the origin, by its path. */
  const ended: Record<string, string> = {};

  function serve(socket: WebSocket, { url = "", headers }: IncomingMessage): void {
    asked = headers;
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      ended[url] = `${code} ${reason}`;
    });
    if (url === "/closes") socket.close(4321, "enough");
    else if (url === "/closes-without-code") socket.close();
    else if (url === "/breaks") socket.terminate();
    else socket.on("message", (data, isBinary) => socket.send(data as Buffer, { binary: isBinary }));
    if (url === "/floods") {
      const piece = noise(1_000_000);
      for (let count = 0; count < 60; count++) socket.send(piece);
    }
  }

  beforeAll(async () => {
    phone = await edge.connectedPhone("websocket");
    server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      handleProtocols: (protocols) => (protocols.has("odd") ? "unasked" : ([...protocols].at(-1) ?? false)),
      verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== "/refused",
    });
    server.on("headers", (headers, { url }) => {
      if (url === "/cookies") headers.push("Set-Cookie: a=1; HttpOnly", "Set-Cookie: b=2; SameSite=Strict");
    });
    server.on("connection", serve);
    await new Promise((resolve) => server.once("listening", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  async function opened(path: string, request: TestRequest = {}): Promise<TestSocket> {
    const socket = new TestSocket();
    await socket.open(phone, origin + path, request);
    return socket;
  }

  it("carry text and bytes of any length, in order, and say what a browser says", async () => {
    const socket = new TestSocket();
    const { status, headers } = await socket.open(phone, `${origin}/echo?x`);
    expect([status, headers]).toEqual([200, []]);
    const long = noise(3_000_001);
    socket.send("first ä €");
    socket.send("");
    socket.send(long);
    socket.send(new Uint8Array(0));
    socket.send("last");
    await until(() => socket.got.length === 5);
    expect(socket.got).toEqual(["first ä €", "", sha256(long), sha256(new Uint8Array(0)), "last"]);
    expect(asked).toMatchObject({
      origin,
      "user-agent": "TestPhone/1",
      "accept-language": "en",
      "cache-control": "no-cache",
      pragma: "no-cache",
      "sec-websocket-version": "13",
    });
    for (const name of ["sec-websocket-protocol", "cookie", "referer", "sec-fetch-mode", "authorization"])
      expect(asked).not.toHaveProperty(name);
    socket.sendClose(1000);
    await socket.exchange.response;
  });

  // Deno closes a connection in its handshake only when the server does (docs/limits.md).
  it.runIf(runtime === "workerd")("leave a server that takes the connection and says nothing to TLS", async () => {
    const taken = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const silent = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("close", () => left.resolve());
      socket.once("data", () => taken.resolve());
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const socket = new TestSocket();
    const opening = socket.open(phone, `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    opening.catch(() => {});
    await taken.promise;
    socket.exchange.cancel();
    await left.promise;
    silent.close();
  });

  it("take no line from a cookie of an answer with an unknown status", async () => {
    const heads: string[] = [];
    // U+010D and U+010A as UTF-8: their low bits are CR and LF.
    const cookie = Buffer.concat([Buffer.from("a="), Buffer.from([0xc4, 0x8d, 0xc4, 0x8a]), Buffer.from("X-In: 1")]);
    const raw = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (head) => {
        heads.push(head.toString("latin1"));
        socket.write("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\nConnection: close\r\nSet-Cookie: ");
        socket.end(Buffer.concat([cookie, Buffer.from("\r\n\r\n")]));
      });
    }).listen(0, "127.0.0.9");
    await once(raw, "listening");
    // Other tests' cookies are of another site.
    const at = `http://127.0.0.9:${(raw.address() as AddressInfo).port}`;
    await phone.fetch(`${at}/`, { ...scriptFetch(at), credentials: "include" }).catch(() => {});
    await new TestSocket().open(phone, `${at}/live`).catch(() => {});
    raw.close();
    const handshake = heads.find((head) => head.includes("/live")) ?? "";
    expect(handshake).toMatch(/^GET \/live /);
    expect(handshake.split(/\r|\n/).filter((line) => line.startsWith("X-In"))).toEqual([]);
  });

  it("say the user name and password of their address", async () => {
    const socket = new TestSocket();
    await socket.open(phone, `${origin.replace("//", "//u%C3%A4:pass@")}/echo`);
    expect(asked.authorization).toBe(`Basic ${Buffer.from("uä:pass").toString("base64")}`);
    socket.sendClose(1000);
    await socket.exchange.response;
  });

  it("say what the phone has been given for their server", async () => {
    const socket = new TestSocket();
    const given = 'Digest username="u", uri="/echo"';
    await socket.open(phone, `${origin}/echo`, { headers: [["authorization", given]] });
    expect(asked.authorization).toBe(given);
    socket.sendClose(1000);
    await socket.exchange.response;
  });

  it("agree on a subprotocol, or do not open", async () => {
    const offer = (names: string): TestRequest => ({ headers: [["sec-websocket-protocol", names]] });
    const socket = new TestSocket();
    const { headers } = await socket.open(phone, `${origin}/echo`, offer("chat, superchat"));
    expect(headers).toEqual([["sec-websocket-protocol", "superchat"]]);
    expect(asked["sec-websocket-protocol"]?.replaceAll(" ", "")).toBe("chat,superchat");
    socket.sendClose(null);
    await socket.exchange.response;
    await expect(opened("/echo", offer("odd"))).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_FAILED });
  });

  it("close from either side, with code and reason or without", async () => {
    const closed = async (path: string, close?: readonly [number | null, string?]) => {
      const socket = await opened(path);
      if (close !== undefined) socket.sendClose(...close);
      await socket.exchange.response;
      return [socket.close?.code, socket.close?.reason];
    };
    expect(await closed("/closes")).toEqual([4321, "enough"]);
    expect(await closed("/closes-without-code")).toEqual([null, ""]);
    expect(await closed("/coded", [3333, "ä"])).toEqual([3333, "ä"]);
    expect(await closed("/uncoded", [null])).toEqual([null, ""]);
    await until(() => ended["/coded"] !== undefined && ended["/uncoded"] !== undefined);
    expect([ended["/coded"], ended["/uncoded"]]).toEqual(["3333 ä", "1005 "]);
  });

  it("fail where the origin is gone, and leave it where the phone is", async () => {
    const broken = await opened("/breaks");
    await expect(broken.exchange.response).rejects.toMatchObject({ code: ErrorCode.CONNECTION_RESET });
    const left = await opened("/left");
    left.exchange.cancel();
    await until(() => ended["/left"] !== undefined);
    expect(ended["/left"]).toBe("1001 ");
  });

  it("do not open where the origin refuses, or nobody is there", async () => {
    await expect(opened("/refused")).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_FAILED });
    const nobody = new TestSocket().open(phone, "http://127.0.0.1:9/");
    await expect(nobody).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_FAILED });
    await expect(new TestSocket().open(phone, "http://127.0.0.1:59/")).rejects.toThrow("Cannot");
  });

  it("go by TLS to a server whose certificate is trusted, and to no other", async () => {
    const over = async (certificate: ReturnType<typeof testCertificate>) => {
      const secure = createTlsServer(certificate).listen(0, "127.0.0.1");
      await once(secure, "listening");
      new WebSocketServer({ server: secure }).on("connection", serve);
      return { secure, at: `https://127.0.0.1:${(secure.address() as AddressInfo).port}/echo` };
    };
    const trusted = await over(testCertificate("127.0.0.1", authority));
    const socket = new TestSocket();
    await socket.open(phone, trusted.at);
    const long = noise(300_000);
    socket.send("secret");
    socket.send(long);
    await until(() => socket.got.length === 2);
    expect(socket.got).toEqual(["secret", sha256(long)]);
    socket.sendClose(3000, "done");
    await socket.exchange.response;
    expect(socket.close).toEqual({ kind: "close", code: 3000, reason: "done" });
    const strangers = await Promise.all(
      [testCertificate("127.0.0.1"), testCertificate("other.test", authority)].map(over),
    );
    for (const { at } of strangers) {
      const failed = new TestSocket().open(phone, at);
      await expect(failed).rejects.toMatchObject({ scope: "stream", message: expect.stringMatching(/^Cannot /) });
    }
    for (const { secure } of [trusted, ...strangers]) secure.close();
  });

  it("do not reach what fetches do not reach", async () => {
    const stranger = await strict.connectedPhone("websocket");
    for (const host of ["127.0.0.1", "[::1]", "localhost", "10.0.0.1", "169.254.169.254", "[fd00::1]", "a.internal"]) {
      const url = `http://${host}:${new URL(origin).port}/echo`;
      await expect(new TestSocket().open(stranger, url)).rejects.toMatchObject({
        code: ErrorCode.DESTINATION_FORBIDDEN,
      });
    }
  });

  it("have the cookies of their site, and set them", async () => {
    const first = await opened("/cookies");
    expect(asked.cookie).toBeUndefined();
    const own = await opened("/echo");
    expect(asked.cookie).toBe("a=1; b=2");
    const foreign = await opened("/echo", { origin: "http://127.0.0.2:1", topLevelOrigin: origin });
    expect(asked.cookie).toBeUndefined();
    expect(asked.origin).toBe("http://127.0.0.2:1");
    const elsewhere = await opened("/echo", { topLevelOrigin: "http://127.0.0.2:1" });
    expect(asked.cookie).toBeUndefined();
    for (const socket of [first, own, foreign, elsewhere]) {
      socket.sendClose(1000);
      await socket.exchange.response;
    }
  });

  it("do not fill the edge with what the phone does not take", async () => {
    const flooded = new TestSocket();
    const taking = Promise.withResolvers<void>();
    flooded.waits = taking.promise;
    await flooded.open(phone, `${origin}/floods`);
    const own = await opened("/echo");
    own.send("passes");
    await until(() => own.got.length === 1);
    flooded.waits = undefined;
    taking.resolve();
    await until(() => flooded.got.length === 60);
    expect(new Set(flooded.got)).toEqual(new Set([sha256(noise(1_000_000))]));
    flooded.exchange.cancel();
    await phone.fetch(origin).catch(() => {});
  });

  it("leave with the page what a slow origin has not taken, and go on when it takes more", async () => {
    const slow = await startSlowOrigin();
    const socket = new TestSocket();
    await socket.open(phone, slow.origin);
    const piece = noise(1_000_000);
    for (let count = 0; count < 200; count++) socket.send(piece);
    // Another phone's messages are the clock.
    const own = new TestSocket();
    await own.open(await edge.connectedPhone("websocket"), `${origin}/echo`);
    const takenByNow = async (): Promise<number> => {
      const before = own.got.length;
      for (let count = 1; count <= 5; count++) {
        own.send("passes");
        await until(() => own.got.length === before + count);
      }
      return socket.taken;
    };
    let taken = -1;
    while (taken !== socket.taken) taken = await takenByNow();
    // Of them the systems' own buffers have some.
    expect(taken).toBeLessThan(16_000_000);
    expect(taken).toBeGreaterThan(100_000);
    const beside = await opened("/echo");
    beside.send("passes, too");
    await until(() => beside.got.length === 1);
    slow.resume();
    await until(() => slow.received > 20_000_000);
    socket.exchange.cancel();
    await until(() => slow.isLeft);
    for (const other of [own, beside]) {
      other.sendClose(1000);
      await other.exchange.response;
    }
  });

  it("lose nothing and repeat nothing through 50 cuts of 1,000 messages", async () => {
    const seed = runSeed();
    console.log(`sockets of pages on ${runtime}: ROPEWAY_FUZZ_SEED=${seed}`);
    const random = new Random(seed);
    const mobile = await edge.connectedPhone("websocket");
    const socket = new TestSocket();
    await socket.open(mobile, `${origin}/echo`);
    const sent: string[] = [];
    /** In order. */
    const inputs: string[] = [];
    onTestFailed(() => console.log(`Inputs of seed ${seed}, until a cut after so many echoes:\n${inputs.join("\n")}`));
    for (let cut = 0; cut < 50; cut++) {
      const messages = Array.from(
        { length: 20 },
        (_, count) => `${sent.length + count} ${"x".repeat(random.below(3_000))}`,
      );
      const [echoed, side] = [random.below(sent.length + messages.length), random.pick(["both", "phone"] as const)];
      inputs.push(`messages of ${messages.map(({ length }) => length)}, cut of ${side} after ${echoed}`);
      sent.push(...messages);
      for (const message of messages) socket.send(message);
      await until(() => socket.got.length >= echoed);
      mobile.cut(side);
      await mobile.connect();
    }
    await until(() => socket.got.length === sent.length);
    expect(socket.got, `seed ${seed}`).toEqual(sent);
    socket.sendClose(1000, "done");
    await socket.exchange.response;
    expect(socket.close).toEqual({ kind: "close", code: 1000, reason: "done" });
  });
});
