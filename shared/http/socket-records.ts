/**
 * What a page's WebSocket and its server say to each other, as records on the stream of their socket: PROTOCOL.md section
 * 5.11. Both ends use it.
 */
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { ByteReader, concat, varintLength, writeVarint } from "../wire/frame.ts";

/** A message, or a part of one: the bytes of a text are UTF-8, and may end within a character. */
export interface SocketPart {
  readonly kind: "text" | "binary";
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Nothing of the message follows. */
  readonly isLast: boolean;
}

/** The last that a side says. `code` is null where a Close frame had none, which its reader is told as 1005. */
export interface SocketClose {
  readonly kind: "close";
  readonly code: number | null;
  readonly reason: string;
}

export type SocketEvent = SocketPart | SocketClose;

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
/** More of the same message follows. */
const MORE = 0x10;
/** Bytes: as of a Close frame (RFC 6455 section 5.5). */
const CLOSE_BYTES = 125;

/** Code of a message that is above a side's limit (RFC 6455 section 7.4.1). */
export const MESSAGE_TOO_BIG = 1009;
/** Code of a side that is left: its page was closed, or its edge has ended. */
export const GOING_AWAY = 1001;

/** Where a script may close with it, or a server has: all others are never on the wire (RFC 6455 section 7.4). */
export function isCloseCode(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
}

/** In records that leave when there is credit for them. */
export function* encodeSocketPart({ kind, bytes, isLast }: SocketPart): Generator<Uint8Array<ArrayBuffer>, void> {
  const type = kind === "text" ? TEXT : BINARY;
  let offset = 0;
  do {
    const part = bytes.subarray(offset, offset + limits.socketRecordBytes);
    offset += part.length;
    yield record(isLast && offset >= bytes.length ? type : type | MORE, part);
  } while (offset < bytes.length);
}

export function encodeSocketClose({ code, reason }: Omit<SocketClose, "kind">): Uint8Array<ArrayBuffer> {
  if (code === null) return record(CLOSE, new Uint8Array(0));
  const text = new TextEncoder().encode(reason);
  if (!isCloseCode(code) || text.length > CLOSE_BYTES - 2)
    throw malformed(`the close code ${code} is not for the wire`);
  return record(CLOSE, concat(Uint8Array.of(code >> 8, code & 0xff), text));
}

function record(type: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(1 + varintLength(payload.length));
  header[0] = type;
  writeVarint(header, 1, payload.length);
  return concat(header, payload);
}

interface OpenRecord {
  readonly type: number;
  /** Bytes of its payload that have not come. */
  left: number;
}

/** Reads records as their bytes come. Keeps of one no more than came. */
export class SocketRecordReader {
  /** The start of a record, up to its payload. */
  #header: number[] = [];
  #record: OpenRecord | null = null;
  /** Grows as its bytes come, whatever is promised. */
  #payload = new Uint8Array(0);
  #bytes = 0;
  /** Of the message that is not whole, what came before this record. */
  #messageBytes = 0;
  #messageType = 0;
  readonly #text = strictDecoder();
  #isOver = false;

  /** Bytes of a record of which the rest has not come. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /**
   * @returns a part for each record that is whole by now.
   * @throws RopewayError of scope "stream": PROTOCOL_ERROR, or ENHANCE_YOUR_CALM for a message that is too long.
   */
  *read(chunk: Uint8Array): Generator<SocketEvent, void> {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#isOver) throw malformed("something follows its close");
      if (this.#record === null) {
        this.#header.push(rest[0] as number);
        rest = rest.subarray(1);
        this.#record = this.#takeHeader();
      } else {
        const part = rest.subarray(0, this.#record.left);
        rest = rest.subarray(part.length);
        this.#record.left -= part.length;
        this.#keep(part);
      }
      if (this.#record?.left === 0) yield this.#endRecord(this.#record.type);
    }
  }

  #keep(part: Uint8Array): void {
    const bytes = this.#bytes + part.length;
    if (bytes > this.#payload.length) {
      const grown = new Uint8Array(Math.max(bytes, Math.min(2 * this.#bytes, limits.socketRecordBytes)));
      grown.set(this.#payload.subarray(0, this.#bytes));
      this.#payload = grown;
    }
    this.#payload.set(part, this.#bytes);
    this.#bytes = bytes;
  }

  /** @returns null until it is whole. */
  #takeHeader(): OpenRecord | null {
    const [type = 0, first] = this.#header;
    if (first === undefined || this.#header.length < 1 + (1 << (first >>> 6))) return null;
    const left = new ByteReader(Uint8Array.from(this.#header.slice(1))).varint();
    this.#header = [];
    const kind = type & ~MORE;
    if (kind !== TEXT && kind !== BINARY && type !== CLOSE) throw malformed("a record is of no known kind");
    if (this.#messageType !== 0 && kind !== this.#messageType) throw malformed("a message changes its kind");
    if (left > (kind === CLOSE ? CLOSE_BYTES : limits.socketRecordBytes)) throw malformed("a record is too long");
    if (this.#messageBytes + left > limits.socketMessageBytes) {
      const message = `Cannot take a message of more than ${limits.socketMessageBytes} bytes`;
      throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", message);
    }
    return { type, left };
  }

  #endRecord(type: number): SocketEvent {
    const whole = this.#payload;
    const bytes = whole.length === this.#bytes ? whole : whole.slice(0, this.#bytes);
    this.#payload = new Uint8Array(0);
    this.#bytes = 0;
    this.#record = null;
    if (type === CLOSE) {
      this.#isOver = true;
      return closeOf(bytes);
    }
    const isLast = (type & MORE) === 0;
    const kind = type & ~MORE;
    this.#messageType = isLast ? 0 : kind;
    this.#messageBytes = isLast ? 0 : this.#messageBytes + bytes.length;
    if (kind === TEXT) utf8(bytes, this.#text, !isLast);
    return { kind: kind === TEXT ? "text" : "binary", bytes, isLast };
  }
}

function closeOf(bytes: Uint8Array): SocketClose {
  if (bytes.length === 0) return { kind: "close", code: null, reason: "" };
  const [high = 0, low = 0] = bytes;
  const code = high * 256 + low;
  if (bytes.length < 2 || !isCloseCode(code)) throw malformed("its close has no code that may be said");
  return { kind: "close", code, reason: utf8(bytes.subarray(2)) };
}

function utf8(bytes: Uint8Array, decoder = strictDecoder(), stream = false): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw malformed("a text is not UTF-8");
  }
}

function strictDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot read what a socket says: ${reason}`);
}
