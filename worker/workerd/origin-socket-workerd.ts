/**
 * A page's socket on workerd: over a TCP connection, which tells when the other side has taken what was sent. Cloudflare
 * opens none to its own addresses, which many sites have. Those are asked by fetch: its WebSocket cannot be paced, either
 * way, so that all that was ever sent on it counts as held.
 */
import type { SocketClose, SocketEvent, SocketPart } from "../../shared/http/socket-records.ts";
import * as limits from "../../shared/limits.ts";
import { GatheredBytes } from "../../shared/wire/frame.ts";
import type { ConnectToOrigin } from "../upstream/lenient-http.ts";
import {
  type ByteConnection,
  type Handshake,
  type HandshakeAnswer,
  type OpenOriginSocket,
  type OriginSocket,
  openOverConnection,
} from "../upstream/origin-socket.ts";
import { byteFields, textFields } from "./fetch-workerd.ts";

const NO_STATUS = 1005;
const ABNORMAL = 1006;
/** Milliseconds: what was said before an abort leaves within it, or not at all. */
const LAST_WORDS_TIME = 1_000;
/** Bytes: above them that time is not given, as they would stay in memory for it. */
const LAST_WORDS_BYTES = 1024 * 1024;

type Fetch = (request: Request) => Promise<Response>;

export interface LoopbackEntries {
  /** `answerDial` in an invocation of its own: an object may open few connections of its own at a time. */
  readonly dial: Fetch;
  readonly fetch: Fetch;
}

export function createOpenSocket({ dial, fetch }: LoopbackEntries): OpenOriginSocket {
  return async (handshake, signal) => {
    const connection = await dialed(dial, handshake.url, signal);
    if (connection !== null) return openOverConnection(handshake, connection, signal);
    return openByFetch(fetch, handshake, signal);
  };
}

/** @returns null where there is no connection; nothing was sent then. */
async function dialed(dial: Fetch, { origin }: URL, signal: AbortSignal): Promise<ByteConnection | null> {
  const up = new TransformStream<Uint8Array, Uint8Array>();
  const response = await dial(new Request(origin, { method: "POST", body: up.readable, signal }));
  if (response.status !== 200 || response.body === null) return null;
  const writer = up.writable.getWriter();
  const reader = response.body.getReader();
  const nothing = (): void => {};
  writer.closed.catch(nothing);
  return {
    async read() {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return null;
        if (value.length > 0) return value;
      }
    },
    write: (bytes) => writer.write(bytes),
    close() {
      const cut = () => {
        writer.abort().catch(nothing);
        reader.cancel().catch(nothing);
      };
      const timer = setTimeout(cut, LAST_WORDS_TIME);
      // A body that is given up ends the invocation, with what it has not written: its own end is waited for.
      writer.close().catch(nothing);
      void untilEnd(reader).then(() => clearTimeout(timer));
    },
  };
}

async function untilEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // It has ended with the connection.
  }
}

/**
 * Connects to the origin of the request's URL: its body goes there, and what comes back is the answer's. The status is 502
 * where nobody takes a connection, or TLS fails.
 */
export async function answerDial(connect: ConnectToOrigin, { url, body, signal }: Request): Promise<Response> {
  const socket = await connect(new URL(url), signal).catch(() => null);
  if (socket === null) return new Response(null, { status: 502 });
  const end = async (): Promise<void> => {
    try {
      await socket.close();
    } catch {
      // The connection was closed already.
    }
  };
  body?.pipeTo(socket.writable).then(end, end);
  // By way of scripts, or the platform would end this invocation with its answer's head.
  return new Response(socket.readable.pipeThrough(new TransformStream()));
}

async function openByFetch(fetch: Fetch, { url, headers }: Handshake, signal: AbortSignal): Promise<HandshakeAnswer> {
  const asked = textFields(headers);
  asked.set("upgrade", "websocket");
  const cutting = new AbortController();
  const request = new Request(url, {
    headers: asked,
    redirect: "manual",
    signal: AbortSignal.any([signal, cutting.signal]),
  });
  const response = await fetch(request);
  const { status, webSocket } = response;
  if (webSocket === null) await response.body?.cancel();
  const protocol = response.headers.get("sec-websocket-protocol") ?? "";
  const socket = webSocket && new UnpacedSocket(webSocket, protocol, () => cutting.abort());
  return { status, headers: byteFields(response.headers), socket };
}

/** A message costs more to keep than it is long, also an empty one. */
const costOf = (bytes: Uint8Array): number => bytes.length + limits.retainedFrameBytes;

class UnpacedSocket implements OriginSocket {
  readonly protocol: string;
  onHeld: (() => void) | null = null;
  readonly #socket: WebSocket;
  readonly #cut: () => void;
  /** Messages that have come; null where the connection has failed. */
  #events: (SocketEvent | null)[] = [];
  #wake: (() => void) | null = null;
  #waiting = 0;
  /** Ever: nothing tells what of it the origin has taken. */
  #sent = 0;
  /** Parts of a message that is not whole. */
  #parts = new GatheredBytes();

  /** @param cut frees what the runtime has queued. */
  constructor(socket: WebSocket, protocol: string, cut: () => void) {
    this.protocol = protocol;
    this.#socket = socket;
    this.#cut = cut;
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      const bytes =
        typeof data === "string" ? new TextEncoder().encode(data).slice() : new Uint8Array(data as ArrayBuffer);
      this.#waiting += costOf(bytes);
      this.#add({ kind: typeof data === "string" ? "text" : "binary", bytes, isLast: true });
      this.onHeld?.();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (code === ABNORMAL) return this.#add(null);
      this.#add({ kind: "close", code: code === NO_STATUS ? null : code, reason });
    });
    socket.addEventListener("error", () => this.#add(null));
  }

  get heldBytes(): number {
    return this.#waiting + this.#sent;
  }

  async receive(): Promise<SocketEvent | null> {
    while (this.#events.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#events.shift() ?? null;
    if (event === null) this.#events.push(null);
    else if (event.kind !== "close") this.#waiting -= costOf(event.bytes);
    return event;
  }

  async send({ kind, bytes, isLast }: SocketPart): Promise<void> {
    this.#sent += costOf(bytes);
    this.#parts.add(bytes);
    this.onHeld?.();
    if (!isLast) return;
    const whole = this.#parts.take();
    this.#socket.send(
      kind === "text" ? new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(whole) : whole,
    );
  }

  close({ code, reason }: Omit<SocketClose, "kind">): void {
    try {
      if (code === null) this.#socket.close();
      else this.#socket.close(code, reason);
    } catch {
      // The socket is closed already.
    }
  }

  abort(): void {
    this.close({ code: null, reason: "" });
    if (this.#sent > LAST_WORDS_BYTES) this.#cut();
    else setTimeout(this.#cut, LAST_WORDS_TIME);
    this.#events = [];
    this.#parts.take();
    this.#waiting = 0;
    this.#add(null);
  }

  #add(event: SocketEvent | null): void {
    this.#events.push(event);
    this.#wake?.();
    this.#wake = null;
  }
}
