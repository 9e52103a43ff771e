/**
 * The fetch road carries the messages of a WebSocket in both directions, as records in a stream of bytes.
 * PROTOCOL.md section 1.4.
 *
 * ```
 * Record { Kind (1 byte), Length (integer), Payload (Length bytes) }
 * ```
 */
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { ByteReader, varintLength, writeVarint } from "../wire/frame.ts";

// The two requests of the road.

/** Below TUNNEL_PATH. POST: opens a socket; the response's body is what the edge sends. */
export const DOWN_PATH = "/down";
/** Below TUNNEL_PATH. POST: a batch of what the phone sends. */
export const UP_PATH = "/up";

/** As Sec-WebSocket-Protocol in a handshake; scripts may not set that one. */
export const PROTOCOL_FIELD = "ropeway-protocol";
/** 22 characters of base64url, chosen by the phone for each socket. */
export const SOCKET_FIELD = "ropeway-socket";
/** How many batches of the socket were before this one. */
export const BATCH_FIELD = "ropeway-batch";

/** Status of a batch that breaks the protocol, so that its socket was closed: why comes on the other response. */
export const BATCH_REFUSED = 400;
/** Status of a batch whose socket is closed: what the edge has still said comes on the other response. */
export const SOCKET_GONE = 410;

export type FetchRecord =
  /** First of the edge's: the road carries bytes as they are sent. `protocol` is the subprotocol it selected. */
  | { readonly type: "open"; readonly protocol: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "binary"; readonly message: Uint8Array }
  /** Last of its sender's. Code and reason as in a WebSocket's close frame. */
  | { readonly type: "close"; readonly code: number; readonly reason: string };

/** The opcodes of RFC 6455 section 5.2; OPEN stands where it has continuations, which there are none of. */
const Kind = { OPEN: 0x0, TEXT: 0x1, BINARY: 0x2, CLOSE: 0x8 } as const;

/** Payload of OPEN, TEXT and CLOSE, as of control frames (RFC 6455 section 5.5). */
const SHORT_PAYLOAD_BYTES = 125;
const CLOSE_CODE_BYTES = 2;
const HEADER_BYTES_MAX = 9;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The record's bytes, a copy of its message's. */
export function encodeRecord(record: FetchRecord): Uint8Array<ArrayBuffer> {
  switch (record.type) {
    case "open":
      return assemble(Kind.OPEN, utf8Encoder.encode(record.protocol));
    case "text":
      return assemble(Kind.TEXT, utf8Encoder.encode(record.text));
    case "binary":
      return assemble(Kind.BINARY, record.message);
    case "close": {
      const payload = new Uint8Array(SHORT_PAYLOAD_BYTES);
      payload[0] = record.code >>> 8;
      payload[1] = record.code & 0xff;
      const { written } = utf8Encoder.encodeInto(record.reason, payload.subarray(CLOSE_CODE_BYTES));
      return assemble(Kind.CLOSE, payload.subarray(0, CLOSE_CODE_BYTES + written));
    }
  }
}

/** Cuts received bytes, in whatever pieces they come, into records. */
export class RecordDecoder {
  #header = new Uint8Array(HEADER_BYTES_MAX);
  #headerLength = 0;
  #payload: Uint8Array<ArrayBuffer> | null = null;
  #payloadLength = 0;

  /** Whether the bytes so far end between two records. */
  get betweenRecords(): boolean {
    return this.#headerLength === 0;
  }

  /**
   * The records that end in `chunk`, each with bytes of its own.
   *
   * @throws RopewayError FRAME_SIZE_ERROR when a record is of no known kind, or declares more than it may have; nothing
   *   is allocated by such a length.
   */
  *push(chunk: Uint8Array): Generator<FetchRecord, void> {
    let offset = 0;
    for (;;) {
      while (this.#payload === null) {
        const byte = chunk[offset];
        if (byte === undefined) return;
        offset += 1;
        this.#header[this.#headerLength] = byte;
        this.#headerLength += 1;
        this.#readHeader();
      }
      const taken = chunk.subarray(offset, offset + this.#payload.length - this.#payloadLength);
      this.#payload.set(taken, this.#payloadLength);
      this.#payloadLength += taken.length;
      offset += taken.length;
      if (this.#payloadLength < this.#payload.length) return;
      const record = decode(this.#header[0], this.#payload);
      this.#headerLength = 0;
      this.#payload = null;
      this.#payloadLength = 0;
      yield record;
    }
  }

  #readHeader(): void {
    const kind = this.#header[0] ?? 0;
    const isShort = kind === Kind.OPEN || kind === Kind.TEXT || kind === Kind.CLOSE;
    if (!isShort && kind !== Kind.BINARY) throw malformed(`kind ${kind} is unknown`);
    const first = this.#header[1];
    if (this.#headerLength < 2 || first === undefined) return;
    if (this.#headerLength < 1 + (1 << (first >>> 6))) return;
    const length = new ByteReader(this.#header.subarray(1, this.#headerLength)).varint();
    const limit = isShort ? SHORT_PAYLOAD_BYTES : limits.messageBytes;
    if (length > limit) throw malformed(`${length} bytes are above the limit of ${limit}`);
    this.#payload = new Uint8Array(length);
  }
}

function decode(kind: number | undefined, payload: Uint8Array<ArrayBuffer>): FetchRecord {
  switch (kind) {
    case Kind.OPEN:
      return { type: "open", protocol: textOf(payload) };
    case Kind.TEXT:
      return { type: "text", text: textOf(payload) };
    case Kind.CLOSE: {
      const [high, low] = payload;
      if (high === undefined || low === undefined) throw malformed("a close has no code");
      return { type: "close", code: (high << 8) | low, reason: textOf(payload.subarray(CLOSE_CODE_BYTES)) };
    }
    default:
      return { type: "binary", message: payload };
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw malformed("its text is not UTF-8");
  }
}

function assemble(kind: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const record = new Uint8Array(1 + varintLength(payload.length) + payload.length);
  record[0] = kind;
  record.set(payload, writeVarint(record, 1, payload.length));
  return record;
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.FRAME_SIZE_ERROR, "session", "peer", `Cannot read a record: ${reason}`);
}
