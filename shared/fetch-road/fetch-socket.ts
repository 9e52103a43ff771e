/**
 * The phone's end of the fetch road: a WebSocket to its user, a streaming response and one POST after the other on the
 * network. PROTOCOL.md section 1.4.
 *
 * A POST that fails is a socket that is lost: nobody knows whether the edge has acted on it. What rides on the socket
 * finds that out when it resumes.
 */
import * as limits from "../limits.ts";
import { parseOffer, SUBPROTOCOL } from "../subprotocol.ts";
import { BatchSize } from "./batch-size.ts";
import {
  BATCH_FIELD,
  BATCH_REFUSED,
  DOWN_PATH,
  PROTOCOL_FIELD,
  SOCKET_FIELD,
  SOCKET_GONE,
  UP_PATH,
} from "./exchange.ts";
import { encodeRecord, type FetchRecord, RecordDecoder } from "./record.ts";

/** What a link uses of a WebSocket, whatever road it takes. */
export type LinkSocket = Pick<
  WebSocket,
  "binaryType" | "readyState" | "onopen" | "onmessage" | "onerror" | "onclose" | "send" | "close"
>;

/** Platform seams, so that tests bring their own. */
export interface FetchSocketPlatform {
  fetch(url: string, init: RequestInit): Promise<Response>;
  now(): number;
  setTimer(task: () => void, delay: number): () => void;
}

const SOCKET_ID_BYTES = 16;
/** How long the last word of either side may take, in milliseconds. */
const CLOSING_TIME = 5_000;
/** RFC 6455 section 7.4.1: never sent, only reported. */
const CLOSED_ABNORMALLY = 1006;
const NO_STATUS = 1005;

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

export class FetchSocket extends EventTarget implements LinkSocket {
  binaryType: BinaryType = "arraybuffer";
  onopen: LinkSocket["onopen"] = null;
  onmessage: LinkSocket["onmessage"] = null;
  onerror: LinkSocket["onerror"] = null;
  onclose: LinkSocket["onclose"] = null;

  #url: string;
  #platform: FetchSocketPlatform;
  #request: { readonly id: string; readonly protocols: string; readonly token: string };
  #state: LinkSocket["readyState"] = CONNECTING;
  /** What `close` was called with. */
  #closing: { readonly code: number; readonly reason: string } | null = null;
  #abort = new AbortController();
  #queue: Uint8Array<ArrayBuffer>[] = [];
  #queuedBytes = 0;
  #batches = 0;
  #batchSize = new BatchSize();
  #isSending = false;
  #cancelTimer: (() => void) | null = null;

  /**
   * @param url of the tunnel as for a WebSocket: ws: or wss:.
   * @param protocols as offered in a WebSocket's handshake.
   */
  constructor(url: string, protocols: readonly string[], platform: FetchSocketPlatform = browserPlatform) {
    super();
    this.#url = url.replace(/^ws/, "http");
    this.#platform = platform;
    const offer = protocols.join(", ");
    this.#request = { id: randomId(), protocols: offer, token: parseOffer(offer).token };
    const handlers = {
      open: (event: Event) => this.onopen?.call(this as unknown as WebSocket, event),
      message: (event: Event) => this.onmessage?.call(this as unknown as WebSocket, event as MessageEvent),
      error: (event: Event) => this.onerror?.call(this as unknown as WebSocket, event),
      close: (event: Event) => this.onclose?.call(this as unknown as WebSocket, event as CloseEvent),
    };
    for (const [type, handler] of Object.entries(handlers)) this.addEventListener(type, handler);
    void this.#read();
  }

  get readyState(): LinkSocket["readyState"] {
    return this.#state;
  }

  /** Takes a copy. @throws Error while the socket is not open yet, and for a Blob, which would have to be waited for. */
  send(data: string | Blob | BufferSource): void {
    if (this.#state === CONNECTING) throw new DOMException("Cannot send: the socket is not open", "InvalidStateError");
    if (data instanceof Blob) throw new TypeError("Cannot send a Blob: hand over its bytes");
    if (this.#state !== OPEN) return;
    this.#queueRecord(
      typeof data === "string" ? { type: "text", text: data } : { type: "binary", message: bytesOf(data) },
    );
  }

  close(code: number = NO_STATUS, reason = ""): void {
    if (this.#state === CLOSING || this.#state === CLOSED) return;
    const wasOpen = this.#state === OPEN;
    this.#state = CLOSING;
    if (!wasOpen) return this.#loseLater();
    this.#closing = { code, reason };
    this.#endSoon();
    this.#queueRecord({ type: "close", code, reason });
  }

  async #read(): Promise<void> {
    try {
      const response = await this.#platform.fetch(this.#url + DOWN_PATH, {
        ...this.#init(),
        headers: { [PROTOCOL_FIELD]: this.#request.protocols, [SOCKET_FIELD]: this.#request.id },
      });
      if (!response.ok || response.body === null) return this.#lose();
      const decoder = new RecordDecoder();
      const reader = response.body.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        for (const record of decoder.push(read.value)) this.#take(record);
      }
    } catch {
      // Whatever it was, the road ends here; a link knows closing codes and nothing else.
    }
    this.#lose();
  }

  /** @throws Error for what no edge says. */
  #take(record: FetchRecord): void {
    if (this.#state === CLOSED) return;
    if (record.type === "open") {
      if (this.#state !== CONNECTING || record.protocol !== SUBPROTOCOL)
        throw new Error("Cannot open: not by this edge");
      this.#state = OPEN;
      this.dispatchEvent(new Event("open"));
      return;
    }
    if (this.#state === CONNECTING) throw new Error("Cannot read: this response is not of an edge");
    if (record.type === "close") this.#end(record.code, record.reason, true);
    else if (this.#state === OPEN) {
      const data = record.type === "text" ? record.text : record.message.buffer;
      this.dispatchEvent(new MessageEvent("message", { data }));
    }
  }

  #queueRecord(record: FetchRecord): void {
    const bytes = encodeRecord(record);
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes > limits.fetchQueueBytes) return this.#loseLater();
    if (this.#isSending) return;
    this.#isSending = true;
    // What is sent in the same turn rides in the same batch.
    queueMicrotask(() => void this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#queue.length > 0 && this.#state !== CLOSED) {
        const batch = this.#takeBatch();
        const began = this.#platform.now();
        const response = await this.#platform.fetch(this.#url + UP_PATH, {
          ...this.#init(),
          headers: {
            authorization: `Bearer ${this.#request.token}`,
            [SOCKET_FIELD]: this.#request.id,
            [BATCH_FIELD]: String(this.#batches),
          },
          body: batch,
        });
        // Its body is read to the end (there is none), so that the connection is free for the next.
        await response.arrayBuffer();
        // The edge has closed the socket: why comes on the other response.
        if (response.status === SOCKET_GONE || response.status === BATCH_REFUSED) return this.#endSoon();
        if (!response.ok) return this.#lose();
        this.#batches += 1;
        this.#batchSize.completed(batch.length, this.#platform.now() - began);
      }
      if (this.#closing !== null) this.#end(this.#closing.code, this.#closing.reason, true);
    } catch {
      this.#lose();
    }
    this.#isSending = false;
  }

  /** At least one record, however long; none is ever above limits.fetchBatchBytes. */
  #takeBatch(): Uint8Array<ArrayBuffer> {
    let [count, length] = [0, 0];
    for (const record of this.#queue) {
      if (count > 0 && length + record.length > this.#batchSize.current) break;
      count += 1;
      length += record.length;
    }
    const batch = new Uint8Array(length);
    let offset = 0;
    for (const record of this.#queue.splice(0, count)) {
      batch.set(record, offset);
      offset += record.length;
    }
    this.#queuedBytes -= length;
    return batch;
  }

  #init(): RequestInit {
    return {
      method: "POST",
      cache: "no-store",
      credentials: "same-origin",
      // A captive portal's, most likely.
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: this.#abort.signal,
    };
  }

  #endSoon(): void {
    this.#cancelTimer ??= this.#platform.setTimer(() => this.#lose(), CLOSING_TIME);
  }

  /** As a WebSocket does: no event comes while its user calls it. */
  #loseLater(): void {
    queueMicrotask(() => this.#lose());
  }

  #lose(): void {
    this.#end(CLOSED_ABNORMALLY, "", false);
  }

  #end(code: number, reason: string, wasClean: boolean): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#cancelTimer?.();
    this.#queue = [];
    this.#abort.abort();
    if (!wasClean) this.dispatchEvent(new Event("error"));
    this.dispatchEvent(new CloseEvent("close", { code, reason, wasClean }));
  }
}

export const browserPlatform: FetchSocketPlatform = {
  fetch: (url, init) => fetch(url, init),
  now: () => performance.now(),
  setTimer(task, delay) {
    const timer = setTimeout(task, delay);
    return () => clearTimeout(timer);
  },
};

function bytesOf(data: BufferSource): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SOCKET_ID_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
