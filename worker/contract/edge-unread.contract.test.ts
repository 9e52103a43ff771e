/**
 * A phone that gives credit and acknowledges, as if it read, for what it leaves in its connection: the edge cannot tell
 * but by a PONG that only a reader can send. Played by one that reads and keeps those PONGs to itself.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import * as limits from "../../shared/limits.ts";
import type { Transport } from "../../shared/transport.ts";
import { concat, decodeMessage, encodeFrame, type Frame } from "../../shared/wire/frame.ts";
import { until } from "../testing/contract.ts";
import { PhoneSession } from "../testing/phone-session.ts";
import { openTunnelSocket, pairPhone, TestPhone, type TestSocket } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const CHUNK = new Uint8Array(64 * 1024).fill(120);
const CHUNKS = 512;
/** A message and the heads: what may be missing of a bound that is reached, or beyond it. */
const SLACK = 1024 * 1024;

/** Measures nothing of the link, and has credit for all that there is. */
class SilentPhone extends PhoneSession {
  bodyBytes = 0;
  #kept: number[] = [];
  #socket: TestSocket | null = null;
  isSilent = true;
  hasEnded = false;

  constructor() {
    super("Silent/1", limits.creditBytes);
  }

  /** Rejects when the edge refuses it. */
  async connect(edgeUrl: string, token: string): Promise<this> {
    const socket = await openTunnelSocket(edgeUrl, token, "websocket");
    const transport: Transport = {
      send: (message) => {
        const said = this.isSilent ? this.#withoutPongs(message) : message;
        if (said.length > 0) socket.send(said);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.onMessage = (message) => {
      if (typeof message !== "string") this.session.channel.receive(message, transport);
    };
    void socket.closed.then(() => {
      this.hasEnded = true;
    });
    this.session.channel.attach(transport);
    this.#socket = socket;
    return this;
  }

  /** Sends what it has kept to itself, and keeps nothing more. */
  answer(): void {
    this.isSilent = false;
    for (const token of this.#kept) this.#socket?.send(encodeFrame({ type: "pong", token }));
  }

  /** A body of which it counts what comes. */
  async download(url: string) {
    return this.start(url, {
      destination: "image",
      onChunk: (chunk) => {
        this.bodyBytes += chunk.length;
        return undefined;
      },
    });
  }

  end(): void {
    this.#socket?.close();
  }

  #withoutPongs(message: Uint8Array): Uint8Array {
    const frames = [...decodeMessage(message)] as (Frame & Parameters<typeof encodeFrame>[0])[];
    const pongs = frames.filter((frame) => frame.type === "pong");
    this.#kept.push(...pongs.map(({ token }) => token));
    return concat(...frames.filter((frame) => frame.type !== "pong").map((frame) => encodeFrame(frame)));
  }
}

describe.each(["workerd", "deno"] as const)("a phone that leaves all unread, at an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let origin: string;

  beforeAll(async () => {
    const local = await startLocalOrigin((request, response) => {
      if (request.url === "/") {
        response.end("well");
        return;
      }
      response.writeHead(200, { "content-type": "image/png" });
      Readable.from(Array.from({ length: CHUNKS }, () => CHUNK)).pipe(response);
    });
    origin = local.origin;
    edge = await startEdge({ runtime, port: 0, allowPrivate: true });
    closers.push(local.close, () => edge.close());
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  /** The edge has had every occasion to send more. */
  async function askAgain(phone: PhoneSession): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      const exchange = await phone.start(`${origin}/`, { method: "HEAD" });
      await exchange.response;
    }
  }

  it("gets no more than a few megabytes of a body, and the rest when it proves that it reads", async () => {
    const phone = await new SilentPhone().connect(edge.url, await pairPhone(edge.url, edge.accessKey));
    const download = await phone.download(`${origin}/large`);
    await until(() => phone.bodyBytes > limits.unprovedBytes / 2);
    await askAgain(phone);
    await until(() => phone.bodyBytes > limits.unprovedBytes - SLACK);
    await askAgain(phone);
    expect(phone.bodyBytes).toBeLessThan(limits.unprovedBytes + SLACK);
    phone.answer();
    const { body } = await download.response;
    const whole = createHash("sha256");
    for (let count = 0; count < CHUNKS; count += 1) whole.update(CHUNK);
    expect(createHash("sha256").update(body).digest("hex")).toBe(whole.digest("hex"));
    phone.end();
  });

  it("gets no more by many sessions, and other phones go on", async () => {
    const token = await pairPhone(edge.url, edge.accessKey);
    const bystander = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await bystander.connect();
    closers.push(() => bystander.close());
    const phones: SilentPhone[] = [];
    for (let count = 0; count < limits.sessionsPerPhone; count += 1) {
      const phone = await new SilentPhone().connect(edge.url, token).catch(() => null);
      if (phone === null) break;
      phones.push(phone);
      void phone.download(`${origin}/large`).then(({ response }) => response.catch(() => {}));
      await until(() => phone.bodyBytes > limits.unprovedBytes - SLACK || phone.hasEnded);
      // What was queued for it went with all that the edge had of it.
      if (phones.some(({ hasEnded }) => hasEnded)) break;
    }
    const received = phones.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
    expect(received).toBeGreaterThan(limits.unprovedBytesPerPhone - limits.unprovedBytes);
    // The last session may have come to its own bound before the phone's counts.
    expect(received).toBeLessThan(limits.unprovedBytesPerPhone + limits.unprovedBytes + SLACK);
    expect((await bystander.fetch(`${origin}/`)).text).toBe("well");
    for (const phone of phones) phone.end();
    // It is the same phone, and welcome when it reads.
    await until(() =>
      openTunnelSocket(edge.url, token, "websocket").then(
        (socket) => {
          socket.close();
          return true;
        },
        () => false,
      ),
    );
  });
});
