/** The phone's end of a connection to its edge, whatever road it takes: PROTOCOL.md sections 1.1 to 1.4. */
import { toBase64Url } from "./base-encodings.ts";
import { type Clock, monotonicClock } from "./clock.ts";
import {
  BATCH_FIELD,
  BATCH_REFUSED,
  DOWN_PATH,
  encodeRecord,
  type FetchRecord,
  PROTOCOL_FIELD,
  RecordDecoder,
  SOCKET_FIELD,
  SOCKET_GONE,
  UP_PATH,
} from "./fetch-road/record.ts";
import * as limits from "./limits.ts";
import { offeredProtocols, SUBPROTOCOL } from "./subprotocol.ts";
import type { Transport } from "./transport.ts";

/** Offer of a handshake. */
export interface SocketOffer {
  /** URL of the tunnel, as for a WebSocket: ws: or wss:. */
  readonly url: string;
  readonly token: string;
  /** Frames that ride in the handshake, or null. */
  readonly opening: Uint8Array | null;
}

/** Functions without `this`. Told nothing before the socket was returned, and nothing once its owner has closed it. */
export interface SocketListener {
  onOpen(): void;
  /** Bytes are frames; text keeps the connection alive. */
  onMessage(message: Uint8Array | string): void;
  /** The other side, or the network, has ended it, also before it was open. `code` as in a WebSocket's close. */
  onClose(code: number, isClean: boolean): void;
}

export interface PhoneSocket extends Transport {
  /** Round trips that it took to open; those of a WebSocket by default. */
  readonly roundTrips?: number;
  /** @returns false while it is not open. */
  send(message: Uint8Array | string): boolean;
  close(code?: number, reason?: string): void;
}

/** RFC 6455 section 7.4.1: never sent, only reported. */
export const CLOSED_ABNORMALLY = 1006;

type OpenWebSocket = (url: string, protocols: string[]) => WebSocket;

/** A connection over WebSocket, from before its handshake. */
export function dialWebSocket(
  { url, token, opening }: SocketOffer,
  listener: SocketListener,
  open: OpenWebSocket = (address, protocols) => new WebSocket(address, protocols),
): PhoneSocket {
  const socket = open(url, offeredProtocols(token, opening));
  socket.binaryType = "arraybuffer";
  socket.onopen = () => listener.onOpen();
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
    listener.onMessage(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = ({ code, wasClean }) => listener.onClose(code, wasClean);
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message as string | Uint8Array<ArrayBuffer>);
      return true;
    },
    close(code, reason) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(code, reason);
    },
  };
}

const FIRST = 64 * 1024;
const SMALLEST = 16 * 1024;
/** Beyond the quickest POST so far, which is the round trip's part. */
const TOO_LONG = 2_000;
const QUICK = 1_000;

/**
 * How much one POST of the fetch road may carry. Only one is under way at a time, so a batch that is too small wastes
 * round trips, and one that takes long holds back acknowledgements and answers to keep-alives, since the edge reads a
 * batch whole before it acts on it.
 */
export class BatchSize {
  /** Bytes. */
  current = FIRST;
  #quickest = Number.POSITIVE_INFINITY;

  /** @param duration of the POST with its answer, in milliseconds. */
  completed(bytes: number, duration: number): void {
    this.#quickest = Math.min(this.#quickest, duration);
    const sending = duration - this.#quickest;
    if (sending > TOO_LONG) this.current = Math.max(SMALLEST, this.current / 2);
    // A batch that was not full says nothing of larger ones.
    else if (sending < QUICK && bytes > this.current / 2) {
      this.current = Math.min(limits.fetchBatchBytes, this.current * 2);
    }
  }
}

/** Platform seams, so that tests bring their own. */
export interface FetchSocketPlatform extends Clock {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

const SOCKET_ID_BYTES = 16;
/** How long the last word of either side may take, in milliseconds. */
const CLOSING_TIME = 5_000;
/** RFC 6455 section 7.1.5: a close without a code. */
const NO_STATUS = 1005;

type State = "connecting" | "open" | "closing" | "closed";

/**
 * The phone's end of the fetch road: a streaming response, and one POST after the other. PROTOCOL.md section 1.4.
 *
 * A POST that fails is a socket that is lost: nobody knows whether the edge has acted on it. What rides on the socket
 * finds that out when it resumes.
 *
 * ```
 *  connecting ──OPEN──► open ──close──► closing ──the edge has it──► closed
 *      └─ refused, close ─┴─ lost, closed there ────────────────────────▲
 * ```
 */
export class FetchSocket implements PhoneSocket {
  #offer: SocketOffer;
  /** URL of the tunnel, to which the road's paths are added. */
  #url: string;
  #listener: SocketListener;
  #platform: FetchSocketPlatform;
  #id = randomId();
  #state: State = "connecting";
  #abort = new AbortController();
  #queue: Uint8Array<ArrayBuffer>[] = [];
  #queuedBytes = 0;
  #batches = 0;
  #batchSize = new BatchSize();
  #isSending = false;
  #cancelTimer: (() => void) | null = null;

  constructor(offer: SocketOffer, listener: SocketListener, platform: FetchSocketPlatform = browserPlatform) {
    this.#offer = offer;
    this.#url = offer.url.replace(/^ws/, "http");
    this.#listener = listener;
    this.#platform = platform;
    void this.#read();
  }

  /** Takes a copy. */
  send(message: Uint8Array | string): boolean {
    if (this.#state !== "open") return false;
    this.#queueRecord(typeof message === "string" ? { type: "text", text: message } : { type: "binary", message });
    return true;
  }

  close(code: number = NO_STATUS, reason = ""): void {
    if (this.#state === "connecting") return this.#stop();
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#endSoon();
    this.#queueRecord({ type: "close", code, reason });
  }

  async #read(): Promise<void> {
    const protocols = offeredProtocols(this.#offer.token, this.#offer.opening);
    try {
      const response = await this.#platform.fetch(this.#url + DOWN_PATH, {
        ...this.#init(),
        headers: { [PROTOCOL_FIELD]: protocols.join(", "), [SOCKET_FIELD]: this.#id },
      });
      if (!response.ok || response.body === null) return this.#lose();
      const decoder = new RecordDecoder();
      const reader = response.body.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        for (const record of decoder.push(read.value)) this.#take(record);
      }
    } catch {
      // The road ends here, for whatever reason; a link knows closing codes and nothing else.
    }
    this.#lose();
  }

  /** @throws Error for what no edge says. */
  #take(record: FetchRecord): void {
    if (this.#state === "closed") return;
    if (record.type === "open") {
      if (this.#state !== "connecting" || record.protocol !== SUBPROTOCOL)
        throw new Error("Cannot open: not by this edge");
      this.#state = "open";
      return this.#listener.onOpen();
    }
    if (this.#state === "connecting") throw new Error("Cannot read: this response is not of an edge");
    if (record.type === "close") this.#end(record.code, true);
    else if (this.#state === "open") this.#listener.onMessage(record.type === "text" ? record.text : record.message);
  }

  #queueRecord(record: FetchRecord): void {
    const bytes = encodeRecord(record);
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes > limits.fetchQueueBytes) {
      // As a WebSocket does: no event comes while its user calls it.
      return queueMicrotask(() => this.#lose());
    }
    if (this.#isSending) return;
    this.#isSending = true;
    // Messages sent in the same turn ride in the same batch.
    queueMicrotask(() => void this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#queue.length > 0 && this.#state !== "closed") {
        const batch = this.#takeBatch();
        const began = this.#platform.now();
        const response = await this.#platform.fetch(this.#url + UP_PATH, {
          ...this.#init(),
          headers: {
            authorization: `Bearer ${this.#offer.token}`,
            [SOCKET_FIELD]: this.#id,
            [BATCH_FIELD]: String(this.#batches),
          },
          body: batch,
        });
        // Its body is read to the end (there is none), so that the connection is free for the next.
        await response.arrayBuffer();
        // The edge has closed the socket: why comes on the other response.
        if (response.status === SOCKET_GONE || response.status === BATCH_REFUSED) return this.#endSoon();
        // A proxy's page has another status than the edge's answer, 204.
        if (response.status !== 204) return this.#lose();
        this.#batches += 1;
        this.#batchSize.completed(batch.length, this.#platform.now() - began);
      }
      if (this.#state === "closing") this.#stop();
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

  #lose(): void {
    this.#end(CLOSED_ABNORMALLY, false);
  }

  #end(code: number, isClean: boolean): void {
    const isHeard = this.#state === "connecting" || this.#state === "open";
    this.#stop();
    if (isHeard) this.#listener.onClose(code, isClean);
  }

  #stop(): void {
    this.#state = "closed";
    this.#cancelTimer?.();
    this.#queue = [];
    this.#abort.abort();
  }
}

export const browserPlatform: FetchSocketPlatform = {
  fetch: (url, init) => fetch(url, init),
  ...monotonicClock,
};

function randomId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(SOCKET_ID_BYTES)));
}
