/**
 * A page's socket at its origin: RFC 6455's client over a connection that a runtime has made. Its own would look names up
 * anew (Deno), or say nothing of what an origin has taken (workerd). It reads when somebody wants more, and a part was sent
 * when the connection has it, so that both sides are paced.
 */
import { toBase64, toByteString } from "../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import {
  isCloseCode,
  MESSAGE_TOO_BIG,
  type SocketClose,
  type SocketEvent,
  type SocketPart,
} from "../../shared/http/socket-records.ts";
import * as limits from "../../shared/limits.ts";
import { concat, GatheredBytes } from "../../shared/wire/frame.ts";

/** An open connection to an origin, on which messages go both ways. */
export interface OriginSocket {
  /** The subprotocol that the origin chose; "" for none. */
  readonly protocol: string;
  /** The next part; null where the connection ended without a close. Rejects where it failed. */
  receive(): Promise<SocketEvent | null>;
  /** Bytes that the edge holds for it, whoever wants them. What makes them more is said by `onHeld`. */
  readonly heldBytes: number;
  onHeld: (() => void) | null;
  /** Resolves when more may be sent. */
  send(part: SocketPart): Promise<void>;
  /** Sends a close, as its first or as its answer. */
  close(close: Omit<SocketClose, "kind">): void;
  /** Cuts the connection. Idempotent. */
  abort(): void;
}

export interface Handshake {
  readonly url: URL;
  /** All but those that are the protocol's own (RFC 6455 section 4.1). */
  readonly headers: Headers;
}

/** Outcome of a handshake; `socket` is null where the origin did not upgrade. */
export interface HandshakeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly socket: OriginSocket | null;
}

/** Reaches no private network by a name, unless that is allowed. Rejects once the signal is aborted. */
export type OpenOriginSocket = (handshake: Handshake, signal: AbortSignal) => Promise<HandshakeAnswer>;

/** To the host of a URL, with TLS where its scheme says so. */
export interface ByteConnection {
  /** The next bytes, of any length but 0; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when it has all of them. */
  write(bytes: Uint8Array): Promise<void>;
  /** Cuts it: what waits on it resolves or rejects. */
  close(): void;
}

/** Bytes of an answer's head; as Chromium's. */
const HEAD_BYTES = 256 * 1024;
/** Milliseconds: what was said before an abort leaves within it, or not at all. */
const LAST_WORDS_TIME = 1_000;
/** RFC 6455 section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const END_OF_HEAD = [13, 10, 13, 10];

const Opcode = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;
const FINAL = 0x80;
/** Codes for a peer that breaks the protocol, or sends text that is none (RFC 6455 section 7.4.1). */
const [PROTOCOL_BROKEN, NOT_UTF8] = [1002, 1007];

export async function openOverConnection(
  { url, headers }: Handshake,
  connection: ByteConnection,
  signal: AbortSignal,
): Promise<HandshakeAnswer> {
  const input = new Input(connection);
  const cut = () => input.close();
  signal.addEventListener("abort", cut);
  try {
    signal.throwIfAborted();
    const key = toBase64(crypto.getRandomValues(new Uint8Array(16)));
    await connection.write(requestBytes(url, headers, key));
    const answer = parseHead(await input.head());
    const isUpgraded = answer.status === 101 && (await isOurs(answer.headers, key));
    if (!isUpgraded) input.close();
    const socket = isUpgraded ? new ClientSocket(connection, input, answer.headers) : null;
    return { ...answer, socket };
  } catch (error) {
    input.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", cut);
  }
}

function requestBytes(url: URL, headers: Headers, key: string): Uint8Array {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
    // A character above U+00FF cut to a byte could end the line.
    ...Array.from(headers, ([name, value]) => toByteString(`${name}: ${value}`)),
  ];
  const head = `${lines.join("\r\n")}\r\n\r\n`;
  return Uint8Array.from(head, (character) => character.charCodeAt(0));
}

function parseHead(head: Uint8Array): { status: number; headers: Headers } {
  const text = Array.from(head, (byte) => String.fromCharCode(byte)).join("");
  const [first = "", ...lines] = text.split(/\r?\n/);
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1];
  if (status === undefined) throw broken("its answer to the handshake is not HTTP");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

/** RFC 6455 section 4.1: the answer is to this handshake, and asks for nothing that was not offered. */
async function isOurs(headers: Headers, key: string): Promise<boolean> {
  const hash = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(key + ACCEPT_SUFFIX));
  const words = (headers.get("connection") ?? "").toLowerCase().split(",");
  return (
    headers.get("upgrade")?.toLowerCase() === "websocket" &&
    words.some((word) => word.trim() === "upgrade") &&
    headers.get("sec-websocket-accept") === toBase64(new Uint8Array(hash)) &&
    headers.get("sec-websocket-extensions") === null
  );
}

/** Bytes that come on a connection, read when they are wanted. */
class Input {
  /** Nothing that came is unread, but for a part of a frame. */
  isWaiting = false;
  onWait: () => void = () => {};
  readonly #connection: ByteConnection;
  #bytes: Uint8Array = new Uint8Array(0);
  #isClosed = false;

  constructor(connection: ByteConnection) {
    this.#connection = connection;
  }

  /** Up to the empty line. It may come byte by byte. */
  async head(): Promise<Uint8Array> {
    const head = new GatheredBytes();
    for (let matched = 0; ; ) {
      if (this.#bytes.length === 0 && !(await this.#more())) throw broken("it closed the connection");
      let length = 0;
      for (; length < this.#bytes.length && matched < END_OF_HEAD.length; length++) {
        const byte = this.#bytes[length];
        matched = byte === END_OF_HEAD[matched] ? matched + 1 : byte === END_OF_HEAD[0] ? 1 : 0;
      }
      head.add(this.#take(length));
      if (matched === END_OF_HEAD.length) return head.take();
      if (head.length > HEAD_BYTES) throw broken("the head of its answer is too long");
    }
  }

  /** @returns null at the end. */
  async exactly(count: number): Promise<Uint8Array | null> {
    while (this.#bytes.length < count) if (!(await this.#more())) return null;
    return this.#take(count);
  }

  /** @returns some of them, at most so many; null at the end. */
  async some(most: number): Promise<Uint8Array | null> {
    if (this.#bytes.length === 0 && !(await this.#more())) return null;
    return this.#take(Math.min(most, this.#bytes.length));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  #take(count: number): Uint8Array {
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    this.isWaiting = true;
    this.onWait();
    const more = this.#isClosed ? null : await this.#connection.read();
    this.isWaiting = false;
    if (more === null) return false;
    this.#bytes = this.#bytes.length === 0 ? more : concat(this.#bytes, more);
    return true;
  }
}

interface FrameHead {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly length: number;
}

class ClientSocket implements OriginSocket {
  readonly protocol: string;
  /** Less than a frame. */
  readonly heldBytes = 0;
  onHeld: (() => void) | null = null;
  readonly #connection: ByteConnection;
  readonly #input: Input;
  /** Frames go one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  /** What the last ping said that was not answered yet. */
  #ping: Uint8Array | null = null;
  #isAnswering = false;
  #hasClosed = false;
  /** Of the message that the origin is sending. */
  #kind: SocketPart["kind"] | null = null;
  #messageBytes = 0;
  readonly #text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The frame whose payload comes, and how much of that is to come. */
  #frame: FrameHead | null = null;
  #left = 0;
  /** A part of a message was sent, and more of it follows. */
  #isWithin = false;

  constructor(connection: ByteConnection, input: Input, headers: Headers) {
    this.#connection = connection;
    this.#input = input;
    input.onWait = () => void this.#answerPing();
    this.protocol = headers.get("sec-websocket-protocol") ?? "";
  }

  async receive(): Promise<SocketEvent | null> {
    for (;;) {
      const frame = this.#frame ?? (await this.#frameHead());
      if (frame === null) return null;
      const event = await (frame.opcode >= Opcode.CLOSE ? this.#control(frame) : this.#data(frame));
      if (event === undefined) continue;
      void this.#answerPing();
      return event;
    }
  }

  /**
   * Of pings that came together, or while an answer leaves, the last (RFC 6455 section 5.5.3): a megabyte may hold half a
   * million.
   */
  async #answerPing(): Promise<void> {
    const ping = this.#ping;
    if (ping === null || this.#isAnswering || this.#hasClosed) return;
    this.#ping = null;
    this.#isAnswering = true;
    await this.#write(Opcode.PONG, ping).catch(() => {});
    this.#isAnswering = false;
    if (this.#input.isWaiting) void this.#answerPing();
  }

  /** A part is a frame: browsers send long messages in several, too. */
  async send({ kind, bytes, isLast }: SocketPart): Promise<void> {
    const opcode = this.#isWithin ? Opcode.CONTINUATION : kind === "text" ? Opcode.TEXT : Opcode.BINARY;
    this.#isWithin = !isLast;
    await this.#write(opcode, bytes, isLast);
  }

  close({ code, reason }: Omit<SocketClose, "kind">): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    const text = new TextEncoder().encode(reason);
    const payload = code === null ? new Uint8Array(0) : concat(Uint8Array.of(code >> 8, code & 0xff), text);
    this.#write(Opcode.CLOSE, payload).catch(() => {});
  }

  /** Earlier messages leave, if the origin takes them. */
  abort(): void {
    const cut = () => this.#input.close();
    const timer = setTimeout(cut, LAST_WORDS_TIME);
    this.#writing.then(() => clearTimeout(timer)).then(cut, cut);
  }

  /** @returns null at the end of the connection, or where what comes is no frame. */
  async #frameHead(): Promise<FrameHead | null> {
    const start = await this.#input.exactly(2);
    if (start === null) return null;
    const [first = 0, second = 0] = start;
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    const short = second & 0x7f;
    const isControl = opcode >= Opcode.CLOSE;
    const isKnown = opcode <= Opcode.BINARY || (isControl && opcode <= Opcode.PONG);
    // Nothing was negotiated that uses the reserved bits, and servers do not mask.
    const isBroken = !isKnown || (first & 0x70) !== 0 || second !== short || (isControl && (!isLast || short > 125));
    if (isBroken) return this.#fail(PROTOCOL_BROKEN);
    if (short < 126) return { opcode, isLast, length: short };
    const bytes = await this.#input.exactly(short === 126 ? 2 : 8);
    if (bytes === null) return null;
    return { opcode, isLast, length: bytes.reduce((sum, byte) => sum * 256 + byte, 0) };
  }

  async #control({ opcode, length }: FrameHead): Promise<SocketEvent | null | undefined> {
    const payload = await this.#input.exactly(length);
    if (payload === null) return null;
    if (opcode === Opcode.PING) this.#ping = new Uint8Array(payload);
    if (opcode !== Opcode.CLOSE) return undefined;
    if (length === 0) return { kind: "close", code: null, reason: "" };
    const [high = 0, low = 0] = payload;
    const code = high * 256 + low;
    const reason = textOf(payload.subarray(2));
    if (length === 1 || reason === null || !isCloseCode(code)) return this.#fail(PROTOCOL_BROKEN);
    return { kind: "close", code, reason };
  }

  /** Its payload as it comes. */
  async #data(frame: FrameHead): Promise<SocketEvent | null | undefined> {
    if (this.#frame === null) {
      if ((frame.opcode === Opcode.CONTINUATION) !== (this.#kind !== null)) return this.#fail(PROTOCOL_BROKEN);
      this.#kind ??= frame.opcode === Opcode.TEXT ? "text" : "binary";
      this.#messageBytes += frame.length;
      if (this.#messageBytes > limits.socketMessageBytes) return this.#fail(MESSAGE_TOO_BIG);
      this.#frame = frame;
      this.#left = frame.length;
    }
    const some = this.#left === 0 ? new Uint8Array(0) : await this.#input.some(this.#left);
    if (some === null) return null;
    this.#left -= some.length;
    if (this.#left === 0) this.#frame = null;
    const isLast = this.#left === 0 && frame.isLast;
    if (some.length === 0 && !isLast) return undefined;
    const kind = this.#kind ?? "binary";
    if (kind === "text" && !isText(some, this.#text, isLast)) return this.#fail(NOT_UTF8);
    if (isLast) this.#kind = null;
    if (isLast) this.#messageBytes = 0;
    return { kind, bytes: new Uint8Array(some), isLast };
  }

  #fail(code: number): null {
    this.close({ code, reason: "" });
    return null;
  }

  #write(opcode: number, payload: Uint8Array, isLast = true): Promise<void> {
    const frame = maskedFrame(isLast ? FINAL | opcode : opcode, payload);
    const written = this.#writing.then(() => this.#connection.write(frame));
    this.#writing = written.catch(() => {});
    return written;
  }
}

/** RFC 6455 section 5.2. */
function maskedFrame(first: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(6 + extended + length);
  const view = new DataView(frame.buffer);
  frame[0] = first;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) view.setUint16(2, length);
  if (extended === 8) view.setBigUint64(2, BigInt(length));
  const mask = frame.subarray(2 + extended, 6 + extended);
  crypto.getRandomValues(mask);
  const start = 6 + extended;
  for (let index = 0; index < length; index++)
    frame[start + index] = (payload[index] as number) ^ (mask[index & 3] as number);
  return frame;
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** @param decoder of the whole text, part after part. */
function isText(part: Uint8Array, decoder: TextDecoder, isLast: boolean): boolean {
  try {
    decoder.decode(part, { stream: !isLast });
    return true;
  } catch {
    return false;
  }
}

function broken(reason: string): RopewayError {
  return new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", `Cannot open a socket: ${reason}`);
}
