/**
 * The edge's end of the fetch road, for one phone: sockets that are a streaming response and POSTs one after the other.
 * To the tunnel server each is a transport like any other. PROTOCOL.md section 1.4. Runtime neutral.
 *
 * A batch is read whole, then acted on at once; which one is next is decided in between, so none is ever acted on twice
 * or out of its turn, whatever a browser or a proxy sends again.
 */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
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
} from "../../shared/fetch-road/record.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, parseOffer, SUBPROTOCOL } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { GatheredBytes } from "../../shared/wire/frame.ts";
import { type Connection, type EdgeSocket, hear } from "./tunnel-server.ts";

export interface FetchRoadOptions extends Clock {
  readonly connect: (transport: Transport) => Connection;
  /** Whether the phone leaves so much unread that it gets no more sockets. */
  readonly isUnread: () => boolean;
  /**
   * Notes the name of a socket that begins with frames, where it outlives this process. Resolves with false where it was
   * there: what has come then is a copy.
   */
  readonly isFirst: (name: string) => Promise<boolean>;
  /** The socket of `transport` is over, for whatever reason; its connection has been told. */
  readonly onClosed?: (transport: Transport) => void;
}

const SOCKET_ID = /^[A-Za-z0-9_-]{22}$/;
const BATCH_NUMBER = /^\d{1,15}$/;
/** Batches of one socket that are being read at a time: the one, and the same again by a browser that retries. */
const CONCURRENT_READS = 2;

/** Close code (IANA's registry for RFC 6455): the link is over, and nothing else is. */
const TRY_AGAIN_LATER = 1013;
/** Bytes that may be queued on a response that ends in order: more were never read by a phone that is there. */
const LAST_BYTES = 65_536;

/** A short record costs more to queue than it is long. */
const queuedBytes = (record: Uint8Array): number => record.length + limits.retainedFrameBytes;

/** Nothing on the way may keep it, code it, or hold it back. */
const STREAM_HEADERS = {
  "content-type": "application/octet-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

export class FetchRoad {
  #options: FetchRoadOptions;
  #sockets = new Map<string, FetchTransport>();

  constructor(options: FetchRoadOptions) {
    this.#options = options;
  }

  /** Sockets that are open. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Answers a request below TUNNEL_PATH whose phone was verified. */
  async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const id = request.headers.get(SOCKET_FIELD) ?? "";
    if (!SOCKET_ID.test(id)) return refusal(400, "it names no socket");
    if (pathname.endsWith(DOWN_PATH)) return await this.#open(id, request);
    if (pathname.endsWith(UP_PATH)) return this.#receive(id, request);
    return refusal(404, "there is no such road");
  }

  async #open(id: string, request: Request): Promise<Response> {
    const { opening } = parseOffer(request.headers.get(PROTOCOL_FIELD) ?? "");
    // A listener on its way can send it again before the handshake is over (RFC 8470).
    if (request.headers.get("early-data") === "1") return refusal(425, "it came as early data");
    // A copy that came when the first has ended would begin a session of its own.
    if (opening !== null && !(await this.#options.isFirst(id))) return refusal(409, "this socket was open before");
    if (this.#sockets.has(id)) return refusal(409, "this socket is open already");
    if (this.#options.isUnread()) return refusal(429, "the phone leaves too much unread");
    if (this.#sockets.size >= limits.fetchSocketsPerPhone) this.#dropQuietest();
    const socket = new FetchTransport(this.#options, () => this.#sockets.delete(id));
    this.#sockets.set(id, socket);
    // Requests in it are on their way to their origins before the phone knows that the road is open.
    if (opening !== null) socket.receive({ type: "binary", message: opening });
    return new Response(socket.down, { headers: STREAM_HEADERS });
  }

  async #receive(id: string, request: Request): Promise<Response> {
    const number = request.headers.get(BATCH_FIELD) ?? "";
    if (!BATCH_NUMBER.test(number)) return refusal(400, "it is no numbered batch");
    const socket = this.#sockets.get(id);
    if (socket === undefined) return refusal(SOCKET_GONE, "this socket is closed");
    const status = await socket.receiveBatch(Number(number), request);
    return new Response(null, { status, headers: { "cache-control": "no-store" } });
  }

  #dropQuietest(): void {
    const [quietest] = [...this.#sockets.values()].sort((a, b) => a.lastHeard - b.lastHeard);
    quietest?.close(TRY_AGAIN_LATER, "too many sockets of one phone");
  }
}

class FetchTransport implements EdgeSocket {
  readonly down: ReadableStream<Uint8Array>;
  lastHeard: number;

  #options: FetchRoadOptions;
  #connection: Connection;
  #forget: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #nextBatch = 0;
  #reads = 0;
  #isOver = false;
  #cancelTimer: () => void;

  constructor(options: FetchRoadOptions, forget: () => void) {
    this.#options = options;
    this.#forget = forget;
    this.lastHeard = options.now();
    this.down = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#controller = null;
          this.#end();
        },
      },
      { highWaterMark: limits.fetchQueueBytes, size: queuedBytes },
    );
    this.#write({ type: "open", protocol: SUBPROTOCOL });
    this.#cancelTimer = options.setTimer(() => this.#watch(), limits.fetchIdleTime);
    this.#connection = options.connect(this);
  }

  send(message: Uint8Array | string): boolean {
    return this.#write(typeof message === "string" ? { type: "text", text: message } : { type: "binary", message });
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#write({ type: "close", code, reason });
    this.#end();
  }

  /** @returns the status to answer with: a batch that has been acted on before is not an error, and nothing more. */
  async receiveBatch(number: number, request: Request): Promise<number> {
    if (this.#reads >= CONCURRENT_READS) return this.#refuse("too many batches at a time");
    this.#reads += 1;
    try {
      return await this.#receiveBatch(number, request);
    } finally {
      this.#reads -= 1;
    }
  }

  async #receiveBatch(number: number, request: Request): Promise<number> {
    const body = new BoundedBody(request);
    const bytes = await body.readAtMost(limits.fetchBatchBytes);
    if (this.#isOver) return SOCKET_GONE;
    // Cut on the way; if the phone has not noticed yet, it does now.
    if (bytes === "cut") return BATCH_REFUSED;
    if (bytes === "too long") {
      const status = this.#refuse("a batch above the limit");
      // A connection that is closed while the phone still sends is reset, and the phone never hears why.
      await body.discardAtMost(limits.fetchQueueBytes);
      return status;
    }
    if (number < this.#nextBatch) return 204;
    if (number > this.#nextBatch) return this.#refuse("a batch out of its turn");
    this.#nextBatch += 1;
    this.lastHeard = this.#options.now();
    const decoder = new RecordDecoder();
    try {
      for (const record of decoder.push(bytes)) if (!this.receive(record)) return BATCH_REFUSED;
    } catch {
      return this.#refuse("a batch that cannot be read");
    }
    return decoder.betweenRecords ? 204 : this.#refuse("a batch that ends in a record");
  }

  /** @returns false for what the phone may not send; then the road is over. */
  receive(record: FetchRecord): boolean {
    if (this.#isOver) return true;
    switch (record.type) {
      case "binary":
        return hear(this.#connection, this, record.message);
      case "text":
        return hear(this.#connection, this, record.text);
      case "close":
        this.#end();
        return true;
      case "open":
        this.#refuse("a record that only the edge sends");
        return false;
    }
  }

  #refuse(reason: string): number {
    this.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, reason);
    return BATCH_REFUSED;
  }

  /** @returns false when the record was not taken: the road is over, or its phone reads too slowly to be there. */
  #write(record: FetchRecord): boolean {
    const controller = this.#controller;
    if (controller === null) return false;
    if ((controller.desiredSize ?? 0) <= 0) {
      this.#end("the phone does not read");
      return false;
    }
    controller.enqueue(encodeRecord(record));
    return true;
  }

  /** A proxy may hold the response open for a phone that went. */
  #watch(): void {
    const left = this.lastHeard + limits.fetchIdleTime - this.#options.now();
    if (left > 0) this.#cancelTimer = this.#options.setTimer(() => this.#watch(), left);
    else this.close(1001, "nothing was heard of the phone");
  }

  /**
   * Nothing counts a queue of a socket that is over, so none lasts.
   *
   * @param failure given, the response is cut off rather than ended, and what it still holds is dropped.
   */
  #end(failure: string | null = null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const controller = this.#controller;
    this.#controller = null;
    this.#cancelTimer();
    if (controller !== null) {
      const cut = (why: string): void => controller.error(new Error(`Cannot send: ${why}`));
      const queued = limits.fetchQueueBytes - (controller.desiredSize ?? 0);
      if (failure !== null || queued > LAST_BYTES) cut(failure ?? "the phone does not read");
      else {
        controller.close();
        this.#options.setTimer(() => cut("the phone does not read"), limits.refusalTime);
      }
    }
    this.#forget();
    this.#connection.closed();
    this.#options.onClosed?.(this);
  }
}

/** A request's body, of which nothing is allocated by a length that it declares. */
class BoundedBody {
  #declared: number;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request) {
    this.#declared = Number(request.headers.get("content-length") ?? "0");
    this.#reader = request.body?.getReader();
  }

  /** The body whole, or why not. */
  async readAtMost(limit: number): Promise<Uint8Array | "cut" | "too long"> {
    if (this.#declared > limit) return "too long";
    // A platform may give a long buffer for each byte that comes alone.
    const bytes = new GatheredBytes();
    const rest = await this.#read(limit, (chunk) => bytes.add(chunk));
    return rest === "end" ? bytes.take() : rest;
  }

  /** Lets the rest pass, up to a limit in bytes. */
  async discardAtMost(limit: number): Promise<void> {
    if ((await this.#read(limit, () => {})) === "too long") await this.#reader?.cancel().catch(() => {});
  }

  async #read(limit: number, take: (chunk: Uint8Array) => void): Promise<"end" | "cut" | "too long"> {
    let length = 0;
    try {
      for (let read = await this.#reader?.read(); read !== undefined && !read.done; read = await this.#reader?.read()) {
        length += read.value.length;
        if (length > limit) return "too long";
        take(read.value);
      }
    } catch {
      return "cut";
    }
    return "end";
  }
}

function refusal(status: number, reason: string): Response {
  return Response.json({ error: `Cannot use the fetch road: ${reason}` }, { status });
}
