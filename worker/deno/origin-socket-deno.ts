/**
 * A page's socket on Deno: RFC 6455's client over a connection to an address that was found and checked, since Deno's own
 * looks names up anew. It reads when somebody wants more, and so the origin is paced by the phone.
 */
import { toBase64 } from "../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import {
  isCloseCode,
  MESSAGE_TOO_BIG,
  type SocketClose,
  type SocketEvent,
  type SocketMessage,
} from "../../shared/http/socket-records.ts";
import * as limits from "../../shared/limits.ts";
import { concat } from "../../shared/wire/frame.ts";
import type { Handshake, HandshakeAnswer, OriginSocket } from "../upstream/page-socket.ts";
import { connectFastest } from "./connect-fastest.ts";

/** Bytes of an answer's head; as Chromium's. */
const HEAD_BYTES = 256 * 1024;
const READ_BYTES = 64 * 1024;
/** RFC 6455 section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const Opcode = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;
/** Codes for a peer that breaks the protocol, or sends text that is none (RFC 6455 section 7.4.1). */
const [PROTOCOL_BROKEN, NOT_UTF8] = [1002, 1007];

/** @param addresses of the URL's name, all of which may be reached; null where its host is an address itself. */
export async function openDenoSocket(
  { url, headers }: Handshake,
  addresses: readonly string[] | null,
  signal: AbortSignal,
): Promise<HandshakeAnswer> {
  const connection = await connectTo(url, addresses, signal);
  const input = new Input(connection);
  const cut = () => input.close();
  signal.addEventListener("abort", cut);
  try {
    signal.throwIfAborted();
    const key = toBase64(crypto.getRandomValues(new Uint8Array(16)));
    await writeAll(connection, requestBytes(url, headers, key));
    const answer = parseHead(await input.head());
    const isUpgraded = answer.status === 101 && (await isOurs(answer.headers, key));
    if (!isUpgraded) input.close();
    const socket = isUpgraded ? new DenoSocket(connection, input, answer.headers) : null;
    return { ...answer, socket };
  } catch (error) {
    input.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", cut);
  }
}

/** @param addresses of the URL's name, all of which may be reached; null where its host is an address itself. */
export async function connectTo(
  { hostname, port, protocol }: URL,
  addresses: readonly string[] | null,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const connect = (address: string, signal: AbortSignal) =>
    Deno.connect({ hostname: address, port: Number(port) || (isSecure ? 443 : 80), signal });
  const plain = await connectFastest(addresses ?? [host], connect, signal);
  if (!isSecure) return plain;
  const secure = await Deno.startTls(plain, { hostname: host, alpnProtocols: ["http/1.1"] });
  await secure.handshake();
  return secure;
}

function requestBytes(url: URL, headers: Headers, key: string): Uint8Array {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
    ...Array.from(headers, ([name, value]) => `${name}: ${value}`),
  ];
  return Uint8Array.from(`${lines.join("\r\n")}\r\n\r\n`, (character) => character.charCodeAt(0));
}

function parseHead(head: Uint8Array): { status: number; headers: Headers } {
  const [first = "", ...lines] = Array.from(head, (byte) => String.fromCharCode(byte))
    .join("")
    .split(/\r?\n/);
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
  readonly #connection: Deno.Conn;
  #bytes = new Uint8Array(0);
  #isClosed = false;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** Up to the empty line. */
  async head(): Promise<Uint8Array> {
    for (let from = 0; ; ) {
      const end = endOfHead(this.#bytes, from);
      if (end !== null) return this.#take(end);
      if (this.#bytes.length > HEAD_BYTES) throw broken("the head of its answer is too long");
      from = Math.max(0, this.#bytes.length - 3);
      if (!(await this.#more())) throw broken("it closed the connection");
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
    try {
      this.#connection.close();
    } catch {
      // The connection was closed already.
    }
  }

  #take(count: number): Uint8Array {
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(READ_BYTES);
    const count = await this.#connection.read(buffer);
    if (count === null) return false;
    const more = buffer.subarray(0, count);
    this.#bytes = this.#bytes.length === 0 ? more : concat(this.#bytes, more);
    return true;
  }
}

function endOfHead(bytes: Uint8Array, from: number): number | null {
  for (let index = from; index + 3 < bytes.length; index++) {
    const isEnd = bytes[index] === 13 && bytes[index + 1] === 10 && bytes[index + 2] === 13 && bytes[index + 3] === 10;
    if (isEnd) return index + 4;
  }
  return null;
}

interface FrameHead {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly length: number;
}

class DenoSocket implements OriginSocket {
  readonly protocol: string;
  onWaiting: (() => void) | null = null;
  readonly #connection: Deno.Conn;
  readonly #input: Input;
  /** Frames go one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  #hasClosed = false;
  /** The message that is not whole; grows as its bytes come. */
  #message: Uint8Array[] = [];
  #messageBytes = 0;
  #kind: SocketMessage["kind"] | null = null;

  constructor(connection: Deno.Conn, input: Input, headers: Headers) {
    this.#connection = connection;
    this.#input = input;
    this.protocol = headers.get("sec-websocket-protocol") ?? "";
  }

  get waitingBytes(): number {
    return this.#messageBytes;
  }

  async receive(): Promise<SocketEvent | null> {
    for (;;) {
      const frame = await this.#frameHead();
      if (frame === null) return null;
      const event = await (frame.opcode >= Opcode.CLOSE ? this.#control(frame) : this.#data(frame));
      if (event !== undefined) return event;
    }
  }

  async send({ kind, bytes }: SocketMessage): Promise<void> {
    await this.#write(kind === "text" ? Opcode.TEXT : Opcode.BINARY, bytes);
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
    const timer = setTimeout(cut, 1_000);
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
    if (opcode === Opcode.PING && !this.#hasClosed) await this.#write(Opcode.PONG, payload);
    if (opcode !== Opcode.CLOSE) return undefined;
    if (length === 0) return { kind: "close", code: null, reason: "" };
    const [high = 0, low = 0] = payload;
    const code = high * 256 + low;
    const reason = textOf(payload.subarray(2));
    if (length === 1 || reason === null || !isCloseCode(code)) return this.#fail(PROTOCOL_BROKEN);
    return { kind: "close", code, reason };
  }

  async #data({ opcode, isLast, length }: FrameHead): Promise<SocketEvent | null | undefined> {
    if ((opcode === Opcode.CONTINUATION) !== (this.#kind !== null)) return this.#fail(PROTOCOL_BROKEN);
    this.#kind ??= opcode === Opcode.TEXT ? "text" : "binary";
    if (this.#messageBytes + length > limits.socketMessageBytes) return this.#fail(MESSAGE_TOO_BIG);
    for (let left = length; left > 0; ) {
      const part = await this.#input.some(left);
      if (part === null) return null;
      left -= part.length;
      this.#messageBytes += part.length;
      this.#message.push(part);
      this.onWaiting?.();
      if (this.#message.length > 1_024) this.#message = [concat(...this.#message)];
    }
    if (!isLast) return undefined;
    const message = { kind: this.#kind, bytes: concat(...this.#message) };
    this.#message = [];
    this.#messageBytes = 0;
    this.#kind = null;
    return message.kind === "text" && textOf(message.bytes) === null ? this.#fail(NOT_UTF8) : message;
  }

  #fail(code: number): null {
    this.close({ code, reason: "" });
    return null;
  }

  #write(opcode: number, payload: Uint8Array): Promise<void> {
    const frame = maskedFrame(opcode, payload);
    const written = this.#writing.then(() => writeAll(this.#connection, frame));
    this.#writing = written.catch(() => {});
    return written;
  }
}

/** RFC 6455 section 5.2. */
function maskedFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(6 + extended + length);
  const view = new DataView(frame.buffer);
  frame[0] = 0x80 | opcode;
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

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) offset += await connection.write(bytes.subarray(offset));
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function broken(reason: string): RopewayError {
  return new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", `Cannot open a socket: ${reason}`);
}
