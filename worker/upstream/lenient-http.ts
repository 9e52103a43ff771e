/**
 * HTTP/1 on a connection of its own, read as leniently as Chromium reads it (its `http_stream_parser.cc`,
 * `http_util.cc`, `http_response_headers.cc` and `http_chunked_decoder.cc`): for answers that the platforms' fetch does
 * not take. A connection carries one exchange, so what follows an answer reaches nobody.
 */

import { bytesToByteString, toByteString } from "../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { isFieldName } from "../../shared/http/head-fields.ts";
import { trimBlanks } from "../../shared/web/cookie.ts";
import { hasNullBody } from "../../shared/web/origin.ts";
import { concat, GatheredBytes } from "../../shared/wire/frame.ts";
import { knownStatus } from "./fields.ts";

/** To an origin, over TLS where that is meant. */
export interface OriginConnection {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  close(): unknown;
}

/** Rejects where nobody is reached, or TLS fails. Closed once the signal is aborted. */
export type ConnectToOrigin = (url: URL, signal: AbortSignal) => Promise<OriginConnection>;

/** Bytes of a head, with those that announce it; as Chromium's. */
export const ORIGIN_HEAD_BYTES = 256 * 1024;
/** Bytes of the line before a chunk, and of each line behind the last; as Chromium's. */
const CHUNK_LINE_BYTES = 16 * 1024;
/** Bytes before the status line that are passed over; as Chromium's. */
const STATUS_LINE_SLOP = 4;

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];

/**
 * As the platform's fetch, but for how it reads: redirects are not followed, the body stays coded, fields are bytes, one
 * character each.
 *
 * @param request without a body.
 * @throws RopewayError NOT_HTTP, CONNECTION_RESET or TLS_FAILED for the answer; else as `connect` does.
 */
export async function fetchLeniently(request: Request, connect: ConnectToOrigin): Promise<Response> {
  const url = new URL(request.url);
  request.signal.throwIfAborted();
  const connection = await connect(url, request.signal);
  const close = async (): Promise<void> => {
    request.signal.removeEventListener("abort", close);
    try {
      await connection.close();
    } catch {
      // The connection was closed already.
    }
  };
  request.signal.addEventListener("abort", close);
  const bytes = new Bytes(connection.readable, url.host);
  try {
    await write(connection.writable, requestHead(request, url));
    const head = await readFinalHead(bytes, url.protocol === "http:");
    const body = hasNullBody(request.method, head.status) ? null : bodyReader(head, bytes);
    if (body === null) await close();
    return toResponse(head, body && streamOf(body, close));
  } catch (error) {
    await close();
    // workerd takes a connection for open before the other side has shown its certificate.
    if (url.protocol === "https:" && !bytes.hasCome) throw tlsFailed(url.host, error);
    throw error;
  }
}

async function write(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(bytes);
  writer.releaseLock();
}

function requestHead({ method, headers }: Request, url: URL): Uint8Array {
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Connection: close",
    // A character above U+00FF cut to a byte could end the line.
    ...Array.from(headers, ([name, value]) => toByteString(`${name}: ${value}`)),
  ];
  return Uint8Array.from(`${lines.join("\r\n")}\r\n\r\n`, (character) => character.charCodeAt(0));
}

function toResponse(head: AnswerHead, body: ReadableStream<Uint8Array> | null): Response {
  const headers = new Headers();
  for (const [name, value] of head.fields) {
    if (name !== "content-length" && name !== "transfer-encoding") headers.append(name, value);
  }
  if (head.framing.kind === "length") headers.set("content-length", String(head.framing.length));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those a reason phrase may not have.
  const statusText = head.reason.replace(/[\0-\x08\x0a-\x1f\x7f]/g, "");
  return new Response(body as BodyInit | null, { status: knownStatus(head.status), statusText, headers });
}

/** Bytes that come on a connection, read as they are wanted. */
class Bytes {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #host: string;
  #rest: Uint8Array = new Uint8Array();
  #hasCome = false;

  /** @param host of the origin, for messages. */
  constructor(source: ReadableStream<Uint8Array>, host: string) {
    this.#reader = source.getReader();
    this.#host = host;
  }

  /** Some of them, at most so many; null at the end. */
  async some(most: number): Promise<Uint8Array | null> {
    while (this.#rest.length === 0) if (!(await this.#more())) return null;
    return this.#take(Math.min(most, this.#rest.length));
  }

  /**
   * Up to where `isEnd` says so of a byte, that one too.
   * @param mayBeCut the end of the connection counts as the end, too
   * @throws RopewayError where there are none, or more than `most`
   */
  async until(isEnd: (byte: number) => boolean, most: number, name: string, mayBeCut = false): Promise<Uint8Array> {
    // A platform may give a long buffer for each byte that comes alone.
    const taken = new GatheredBytes();
    for (;;) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        if (mayBeCut && taken.length > 0) return taken.take();
        throw this.cutOff();
      }
      const end = this.#rest.findIndex(isEnd);
      taken.add(this.#take(end === -1 ? this.#rest.length : end + 1));
      if (taken.length > most) throw this.notHttp(`its ${name} is longer than ${most} bytes`);
      if (end !== -1) return taken.take();
    }
  }

  /** The next bytes, at least so many of them where there are as many. They stay. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#rest.length < count) if (!(await this.#more())) break;
    return this.#rest;
  }

  notHttp(reason: string): RopewayError {
    return notHttp(this.#host, reason);
  }

  cutOff(): RopewayError {
    const message = `Cannot load from ${this.#host}: it closed the connection`;
    return new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", message);
  }

  #take(count: number): Uint8Array {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  /** Whether there were any. */
  get hasCome(): boolean {
    return this.#hasCome;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read().catch(() => ({ done: true, value: undefined }));
    if (done || value === undefined) return false;
    this.#hasCome = true;
    this.#rest = this.#rest.length === 0 ? value : concat(this.#rest, value);
    return true;
  }
}

function tlsFailed(host: string, cause: unknown): RopewayError {
  const message = `Cannot reach ${host}: its certificate or TLS handshake failed`;
  return new RopewayError(ErrorCode.TLS_FAILED, "stream", "origin", message, { cause });
}

function notHttp(host: string, reason: string): RopewayError {
  const message = `Cannot read the answer of ${host}: ${reason}`;
  return new RopewayError(ErrorCode.NOT_HTTP, "stream", "origin", message);
}

type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunks" }
  | { readonly kind: "to the end" };

interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Lower-case names, values as bytes. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly framing: Framing;
}

/** An interim response, asked for or not, is for the connection alone (RFC 9110 section 15.2). */
async function readFinalHead(bytes: Bytes, mayBeCut: boolean): Promise<AnswerHead> {
  for (let room = ORIGIN_HEAD_BYTES; ; ) {
    const text = await readHead(bytes, room, mayBeCut);
    const head = parseHead(text, bytes);
    if (head.status >= 200) return head;
    if (head.status === 101) throw bytes.notHttp("it changed to another protocol, which nobody had asked for");
    room -= text.length;
  }
}

/** @param mayBeCut it may end with the connection. Over TLS it may not: somebody else may have cut that off. */
async function readHead(bytes: Bytes, room: number, mayBeCut: boolean): Promise<string> {
  const opening = await bytes.peek(STATUS_LINE_SLOP + 5);
  if (opening.length === 0) throw bytes.cutOff();
  const start = /^[\s\S]{0,4}?http/i.exec(
    bytesToByteString(opening, 0, Math.min(opening.length, STATUS_LINE_SLOP + 4)),
  );
  if (start === null) throw bytes.notHttp("it is not HTTP");
  const slop = start[0].length - "http".length;
  if (slop > 0) await bytes.some(slop);
  let isEmptyLine = false;
  const isEnd = (byte: number): boolean => {
    if (byte === LINE_FEED && isEmptyLine) return true;
    isEmptyLine = byte === LINE_FEED || (byte === CARRIAGE_RETURN && isEmptyLine);
    return false;
  };
  const head = await bytes.until(isEnd, room, "head", mayBeCut);
  return bytesToByteString(head, 0, head.length);
}

function parseHead(text: string, bytes: Bytes): AnswerHead {
  // Nothing good ever comes of it, and browsers refuse it too.
  if (text.includes("\0")) throw bytes.notHttp("there is a NUL in its head");
  const [statusLine = "", ...lines] = text.split(/[\r\n]+/);
  const [, major, minor, digits = "200", reason = ""] = /^http(?:\/(\d)\.(\d))?\S* *(\d+)?(.*)/i.exec(statusLine) ?? [];
  const status = Number(digits);
  if (status < 100 || status > 999) throw bytes.notHttp(`its status is ${digits.slice(0, 20)}`);
  const fields = fieldsOf(lines);
  const takesChunks = Number(major ?? 0) * 10 + Number(minor ?? 0) >= 11;
  return { status, reason: trimBlanks(reason), fields, framing: framingOf(fields, takesChunks, bytes) };
}

/** Lines that are no fields are passed over, and so are folds of them. */
function fieldsOf(lines: readonly string[]): AnswerHead["fields"] {
  const fields: { readonly name: string; value: string }[] = [];
  let last: { value: string } | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line)) {
      if (last !== null) last.value += ` ${trimBlanks(line)}`;
      continue;
    }
    const colon = line.indexOf(":");
    const field =
      colon < 1 ? null : { name: trimBlanks(line.slice(0, colon)), value: trimBlanks(line.slice(colon + 1)) };
    if (field !== null) fields.push(field);
    last = field;
  }
  return fields
    .filter(({ name }) => isFieldName(name.toLowerCase()))
    .map(({ name, value }) => [name.toLowerCase(), trimBlanks(value)]);
}

function framingOf(fields: AnswerHead["fields"], takesChunks: boolean, bytes: Bytes): Framing {
  const valuesOf = (wanted: string): string[] =>
    fields.flatMap(([name, value]) => (name === wanted ? value.split(",").map(trimBlanks) : []));
  if (takesChunks && valuesOf("transfer-encoding").some((coding) => coding.toLowerCase() === "chunked")) {
    return { kind: "chunks" };
  }
  const lengths = new Set(valuesOf("content-length"));
  // The length that holds decides where the answer ends.
  if (lengths.size > 1) throw bytes.notHttp("it tells two lengths");
  const [length = ""] = lengths;
  return /^\+?\d{1,15}$/.test(length) ? { kind: "length", length: Number(length) } : { kind: "to the end" };
}

/** The next bytes of a body; null at its end. */
type BodyReader = () => Promise<Uint8Array | null>;

const PIECE = 32 * 1024;

function bodyReader({ framing }: AnswerHead, bytes: Bytes): BodyReader {
  if (framing.kind === "chunks") return chunkReader(bytes);
  if (framing.kind === "to the end") return () => bytes.some(PIECE);
  let left = framing.length;
  return async () => {
    if (left === 0) return null;
    const part = await bytes.some(Math.min(left, PIECE));
    if (part === null) throw bytes.cutOff();
    left -= part.length;
    return part;
  };
}

/** RFC 9112 section 7.1; bare line feeds, and blanks behind a size, do no harm. Nobody reads trailers. */
function chunkReader(bytes: Bytes): BodyReader {
  let left = 0;
  let isFirst = true;
  const line = async (): Promise<string> => {
    const read = await bytes.until((byte) => byte === LINE_FEED, CHUNK_LINE_BYTES, "line before a chunk");
    return bytesToByteString(read, 0, read.length).replace(/\r?\n$/, "");
  };
  const begin = async (): Promise<void> => {
    if (!isFirst && (await line()) !== "") throw bytes.notHttp("a chunk is longer than it says");
    isFirst = false;
    const [size = ""] = (await line()).split(";", 1);
    const digits = trimBlanks(size);
    if (!/^[\da-f]{1,12}$/i.test(digits)) throw bytes.notHttp("a chunk does not say how long it is");
    left = Number.parseInt(digits, 16);
  };
  return async () => {
    if (left === 0) await begin();
    if (left === 0) {
      let room = ORIGIN_HEAD_BYTES;
      for (let trailer = await line(); trailer !== ""; trailer = await line()) {
        room -= trailer.length;
        if (room < 0) throw bytes.notHttp("its trailers do not end");
      }
      return null;
    }
    const part = await bytes.some(Math.min(left, PIECE));
    if (part === null) throw bytes.cutOff();
    left -= part.length;
    return part;
  };
}

/** @param close called once, when it has ended, failed or is not wanted any more. */
function streamOf(read: BodyReader, close: () => Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await read();
          if (part !== null) return controller.enqueue(part);
          await close();
          controller.close();
        } catch (error) {
          await close();
          throw error;
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
