/** The body of an origin's response, decoded; and as it came, where that may be passed on. */

import { constants, createBrotliDecompress, createInflate, createInflateRaw } from "node:zlib";
import { linkWindow, steppedStream } from "../../shared/coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { concat } from "../../shared/wire/frame.ts";

export interface BodyPlatform {
  /** Whether its fetch hands bodies out as their origins coded them; else it has undone `gzip` and `br`. */
  readonly handsOutCoded?: boolean;
  /** Whether the reader of response bodies copies each chunk before it asks for the next, as `sendBody` does. */
  readonly copiesChunks?: boolean;
}

interface OpenedBody {
  readonly body: ChunkReader;
  readonly coded: CodedBody | null;
  readonly cameCoded: boolean;
}

/**
 * @param host of the origin, for messages.
 * @throws RopewayError UPSTREAM_FAILED for codings that cannot be undone.
 */
export async function openBody(response: Response, host: string, platform: BodyPlatform): Promise<OpenedBody> {
  const raw = await rawBody(response);
  const came = codingsOf(response.headers);
  const cameCoded = came.length > 0;
  const codings = platform.handsOutCoded === true ? came : codingsLeft(response.headers);
  const copies = platform.copiesChunks === true;
  if (codings.length === 0) return { body: openReader(raw, copies), coded: null, cameCoded };
  // The platform hands out larger pieces so.
  const origin = openReader(raw, false);
  const coded = isPrepared(response, codings) ? new CodedBody(origin) : null;
  const source = responseBody(coded?.source ?? origin, { translate: (error) => error, onSettled() {} });
  return { body: openReader(undoCodings(source, codings, host), copies), coded, cameCoded };
}

/**
 * Its length was known before it was sent, so it was coded beforehand, by an origin that could take seconds for that. An
 * origin that codes while it sends codes quicker than the edge does.
 */
function isPrepared({ headers }: Response, codings: readonly string[]): boolean {
  return codings.length === 1 && codings[0] === "br" && /^[1-9]\d*$/.test(headers.get("content-length") ?? "");
}

/**
 * A body as its origin coded it, to be passed on so, beside the same body decoded. What the decoder has read is kept
 * until it is taken: nothing goes out before what it decodes to was seen here.
 */
export class CodedBody {
  /** Input of the decoder. */
  readonly source: ChunkReader;
  readonly #origin: ChunkReader;
  /** A chunk that was read ahead of the decoder. */
  #ahead: Promise<Uint8Array | null> | null = null;
  /** The chunk that the decoder has, as long as it has not asked for the next. */
  #latest: Uint8Array | null = null;
  #passed: Uint8Array[] = [];
  #isBegun = false;
  /** Whether the phone's decoder takes it; null until its first bytes are there. */
  #fits: boolean | null = null;
  #isWanted = true;
  #onPassed = Promise.withResolvers<void>();

  /** Takes ownership of `origin`, whose chunks stay as they are. */
  constructor(origin: ChunkReader) {
    this.#origin = origin;
    this.source = { read: () => this.#read(), cancel: (reason) => origin.cancel(reason) };
  }

  /** Whether a phone can undo it (PROTOCOL.md section 5.3). Waits for its first bytes. */
  async fits(): Promise<boolean> {
    if (!this.#isBegun) {
      this.#ahead ??= this.#next();
      // The decoder fails with it, too.
      await this.#ahead.catch(() => {});
    }
    return this.#fits ?? false;
  }

  /** Nobody passes it on. */
  drop(): void {
    this.#isWanted = false;
    this.#passed = [];
  }

  /** Output of the decoder that was not taken yet. */
  take(): Uint8Array[] {
    this.#onPassed = Promise.withResolvers();
    return this.#passed.splice(0);
  }

  /** Settles when there is more to take than at the last time. */
  get passed(): Promise<void> {
    return this.#onPassed.promise;
  }

  async #read(): Promise<Uint8Array | null> {
    if (this.#latest !== null && this.#isWanted) this.#passed.push(this.#latest);
    this.#latest = null;
    this.#onPassed.resolve();
    const ahead = this.#ahead ?? this.#next();
    this.#ahead = null;
    const chunk = await ahead;
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    this.#latest = chunk !== null && isFirst ? withLinkWindow(chunk) : chunk;
    return chunk;
  }

  async #next(): Promise<Uint8Array | null> {
    const chunk = await this.#origin.read();
    this.#fits ??= chunk !== null && linkWindow(chunk) !== null;
    return chunk;
  }
}

function withLinkWindow(opening: Uint8Array): Uint8Array {
  const first = linkWindow(opening);
  if (first === null || first === opening[0]) return opening;
  const changed = opening.slice();
  changed[0] = first;
  return changed;
}

// A response body as it leaves the platform's fetch: read in large pieces, its failures typed.

/** Bytes: buffer of one read from an origin; workerd hands out 4 KiB at a time without one, six times slower. */
export const UPSTREAM_READ_BYTES = 32 * 1024;

interface BodyObserver {
  /** Error of the stream, in place of that which the platform threw. */
  readonly translate: (error: unknown) => unknown;
  /** Called once, when the body ended, failed or was cancelled. */
  readonly onSettled: () => void;
}

/** Takes ownership of `body`. Reads only as the returned stream is read. */
export function responseBody({ read, cancel }: ChunkReader, observer: BodyObserver): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await read();
          if (chunk === null) {
            observer.onSettled();
            controller.close();
            return;
          }
          controller.enqueue(chunk);
        } catch (error) {
          observer.onSettled();
          throw observer.translate(error);
        }
      },
      async cancel(reason) {
        try {
          await cancel(reason);
        } finally {
          observer.onSettled();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

export interface ChunkReader {
  /** The next chunk, never empty; null at the end, however often it is asked. */
  readonly read: () => Promise<Uint8Array | null>;
  readonly cancel: (reason?: unknown) => Promise<void>;
}

/**
 * Reads what `decide` needs to decide, and no more.
 *
 * @param decide gets all that was read, and whether that is the whole body; null where it must have more.
 * @returns with a reader that begins with what was read.
 */
export async function decideOnOpening<T>(
  body: ChunkReader,
  decide: (opening: Uint8Array, isWhole: boolean) => T | null,
): Promise<{ readonly decision: T | null; readonly body: ChunkReader }> {
  let opening: Uint8Array | null = null;
  for (let isWhole = false; ; ) {
    const decision = decide(opening ?? new Uint8Array(), isWhole);
    if (decision !== null || isWhole) return { decision, body: startingWith(opening, body) };
    // The next read may be into the same buffer.
    const before: Uint8Array = opening?.slice() ?? new Uint8Array();
    const chunk = await body.read();
    if (chunk === null) isWhole = true;
    else opening = before.length === 0 ? chunk : concat(before, chunk);
  }
}

/** Takes ownership of `body`, whose chunks follow the first. */
export function startingWith(opening: Uint8Array | null, body: ChunkReader): ChunkReader {
  let left = opening;
  async function read(): Promise<Uint8Array | null> {
    const first = left;
    left = null;
    return first ?? body.read();
  }
  return { read, cancel: body.cancel };
}

/**
 * Takes ownership of `body`.
 *
 * @param reusesBuffer each chunk is gone when the next one is asked for: its buffer is read into again. For a consumer
 *   that copies each chunk before it reads on; workerd's collector does not run before 64 MB of read buffers have piled up.
 */
export function openReader(body: ReadableStream<Uint8Array>, reusesBuffer: boolean): ChunkReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return openDefaultReader(body.getReader());
  }
  let spare: ArrayBuffer | null = null;
  async function read(): Promise<Uint8Array | null> {
    const { value, done } = await reader.read(new Uint8Array(spare ?? new ArrayBuffer(UPSTREAM_READ_BYTES)));
    if (done) {
      spare = null;
      return null;
    }
    // A small chunk would keep its whole buffer alive for as long as it waits for the link.
    const isSmall = value.byteLength * 2 < UPSTREAM_READ_BYTES;
    spare = isSmall || reusesBuffer ? value.buffer : null;
    return isSmall ? value.slice() : value;
  }
  return { read, cancel: (reason) => reader.cancel(reason) };
}

function openDefaultReader(reader: ReadableStreamDefaultReader<Uint8Array>): ChunkReader {
  async function read(): Promise<Uint8Array | null> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return null;
      if (value.byteLength > 0) return value;
    }
  }
  return { read, cancel: (reason) => reader.cancel(reason) };
}

// Content codings (RFC 9110 section 8.4.1), and how they are undone. workerd's fetch hands bodies out as they came where it
// is told so. Deno's undoes `gzip` and `br` where they are the only one, and leaves the fields as they were.

/** Where the message itself is whole, browsers show a body whose coding lacks its end. */
const AS_FAR_AS_IT_GOES = { finishFlush: constants.Z_SYNC_FLUSH };

const DECODERS: Readonly<Record<string, (first: number) => Decoder>> = {
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  // Behind their header. The end of the first member is that of the body, whatever follows, as in browsers; zlib's own
  // reader of gzip fails there.
  gzip: () => createInflateRaw(AS_FAR_AS_IT_GOES),
  "x-gzip": () => createInflateRaw(AS_FAR_AS_IT_GOES),
  // Many servers send it without the header of RFC 1950 that it should have.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(AS_FAR_AS_IT_GOES) : createInflateRaw(AS_FAR_AS_IT_GOES)),
};
type Decoder =
  | ReturnType<typeof createBrotliDecompress>
  | ReturnType<typeof createInflate>
  | ReturnType<typeof createInflateRaw>;
const HAS_GZIP_HEADER = new Set(["gzip", "x-gzip"]);
/**
 * Codings that browsers undo. Like them, the edge leaves a body in any other as it is: `none`, `utf-8` and the like are
 * no codings.
 */
const KNOWN = new Set([...Object.keys(DECODERS), "zstd"]);
const BY_PLATFORM = new Set(["gzip", "br"]);
const MOST_CODINGS = 2;
/** Bytes that a decoder is given at once. */
const PIECE = 16 * 1024;
/**
 * Decoded bytes after which all else has its turn. A megabyte may decode to a gigabyte: the edge would serve nobody
 * meanwhile.
 */
const TURN_BYTES = 512 * 1024;
/** Of all bodies, since the last turn. */
let decodedBytes = 0;

async function turnAfter(bytes: number): Promise<void> {
  decodedBytes += bytes;
  if (decodedBytes < TURN_BYTES) return;
  decodedBytes = 0;
  await new Promise((resolve) => setTimeout(resolve));
}

/** Codings of a body, as it came, that browsers undo, the last one first. */
export function codingsOf(headers: Headers): readonly string[] {
  const names = (headers.get("content-encoding") ?? "").split(",").map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== "" && name !== "identity");
  return codings.every((name) => KNOWN.has(name)) ? codings.reverse() : [];
}

/** The rest of them where the platform's fetch has undone its part. */
export function codingsLeft(headers: Headers): readonly string[] {
  const field = headers.get("content-encoding") ?? "";
  return BY_PLATFORM.has(field.trim().toLowerCase()) ? [] : codingsOf(headers);
}

/**
 * Takes ownership of `body`. Reads of it only as the result is read.
 *
 * @throws RopewayError UPSTREAM_FAILED for what the platforms have no bounded decoder for: nothing is read then.
 */
export function undoCodings(
  body: ReadableStream<Uint8Array>,
  codings: readonly string[],
  host: string,
): ReadableStream<Uint8Array> {
  if (codings.length > MOST_CODINGS || codings.some((coding) => DECODERS[coding] === undefined)) {
    throw new RopewayError(
      ErrorCode.UPSTREAM_FAILED,
      "stream",
      "origin",
      `Cannot read what ${host} sent: its content-encoding was not asked for`,
    );
  }
  return codings.reduce(decode, body);
}

interface DecoderEvents {
  readable(): void;
  end(): void;
  error(cause: Error): void;
}

/**
 * Has a decoder pause where its output is full. zlib's stream pauses by a function that it puts in the place of its `_read`:
 * it decodes on, and calls `_read` again at its end. workerd decodes at once, so `_read` was replaced again by then, and
 * the call goes on without a pause: a few bytes of brotli put out gigabytes. Here a call within a call waits for the next read.
 */
function keepPace(decoder: Decoder): void {
  const { _read: own } = decoder;
  let [next, isReading] = [own, false];
  const read = (size: number) => {
    if (isReading && next !== own) return;
    isReading = true;
    next.call(decoder, size);
    isReading = false;
  };
  const set = (goOn: typeof own) => {
    next = goOn === read ? own : goOn;
  };
  Object.defineProperty(decoder, "_read", { get: () => read, set });
}

function openDecoder(coding: string, first: number, on: DecoderEvents): Decoder | null {
  const decoder = DECODERS[coding]?.(first) ?? null;
  if (decoder !== null) keepPace(decoder);
  decoder?.on("error", on.error).on("readable", on.readable);
  decoder?.once("end", on.end);
  return decoder;
}

/** The decoder puts out no more than is taken from it, however much a piece holds. */
function decode(source: ReadableStream<Uint8Array>, coding: string): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const output: Uint8Array[] = [];
  let rest: Uint8Array = new Uint8Array();
  let decoder: Decoder | null = null;
  const header = HAS_GZIP_HEADER.has(coding) ? new GzipHeader() : null;
  /** Settles when the decoder has taken what it was given; null when it wants more. */
  let taken: Promise<unknown> | null = null;
  let [isLast, isOver] = [false, false];
  let hasMore = Promise.withResolvers<void>();
  /** Settles when the decoder has ended, which it may do before its input does, or failed. */
  const { promise: over, resolve: end, reject: fail } = Promise.withResolvers<void>();
  over
    .then(() => {
      isOver = true;
    })
    .catch(() => {});

  /** Gives the decoder the next piece, or the end. */
  async function feed(): Promise<void> {
    if (rest.byteLength === 0) {
      const { value, done } = await reader.read();
      isLast = done;
      if (done) {
        header?.end();
        decoder?.end();
        taken = over;
        return;
      }
      rest = value;
    }
    const coded = rest.subarray(0, PIECE);
    const piece = header?.after(coded) ?? coded;
    rest = rest.subarray(PIECE);
    // Bytes that follow the end are passed over.
    if (piece[0] === undefined || isOver) return;
    decoder ??= openDecoder(coding, piece[0], { readable: () => hasMore.resolve(), end, error: fail });
    taken = new Promise((resolve) => decoder?.write(piece, resolve));
  }

  /** Takes a piece in, or puts some of its output out. True when the source has ended. */
  async function step(): Promise<boolean> {
    if (taken === null) await feed();
    // Browsers take an empty body in any coding.
    if (decoder === null || taken === null) return isLast;
    // Before it is read, so that none of its words is missed.
    hasMore = Promise.withResolvers();
    const chunk: Uint8Array | null = decoder.read();
    if (chunk !== null) {
      output.push(chunk);
      await turnAfter(chunk.length);
      return false;
    }
    const isTaken = await Promise.race([over.then(() => true), taken.then(() => true), hasMore.promise]);
    if (isTaken === true) taken = null;
    return isTaken === true && isLast;
  }

  return steppedStream({ reader, output, step, destroy: () => decoder?.destroy() });
}

/** The platforms' decoders fail on a body of no bytes, which servers send with a coding all the same. */
export async function rawBody({ headers, body }: Response): Promise<ReadableStream<Uint8Array>> {
  if (headers.get("content-length") !== "0") return body as ReadableStream<Uint8Array>;
  await body?.cancel();
  return new Response("").body as ReadableStream<Uint8Array>;
}

const HEADER_CRC = 2;
const EXTRA_FIELD = 4;
const NAME = 8;
const COMMENT = 16;

/** Takes the header off a gzip member that comes in pieces (RFC 1952 section 2.3). Keeps nothing of it. */
export class GzipHeader {
  /** Null when it has passed. */
  #bytes: Generator<void, void, number> | null = headerBytes();
  #hasBegun = false;

  /**
   * @returns what of the piece is behind the header.
   * @throws Error where it is none.
   */
  after(piece: Uint8Array): Uint8Array {
    if (this.#bytes === null || piece.byteLength === 0) return piece;
    if (!this.#hasBegun) this.#bytes.next();
    this.#hasBegun = true;
    for (const [index, byte] of piece.entries()) {
      if (this.#bytes.next(byte).done !== true) continue;
      this.#bytes = null;
      return piece.subarray(index + 1);
    }
    return new Uint8Array();
  }

  /** @throws Error where the body ends within the header. One of no bytes is empty, as in browsers. */
  end(): void {
    if (this.#bytes !== null && this.#hasBegun) throw new Error("Cannot undo gzip: the body ends within the header");
  }
}

/** Is given the header byte by byte, and is done behind the last one. */
function* headerBytes(): Generator<void, void, number> {
  const fixed: number[] = [];
  while (fixed.length < 10) fixed.push(yield);
  const [id1, id2, method, flags = 0] = fixed;
  if (id1 !== 0x1f || id2 !== 0x8b || method !== 8) throw new Error("Cannot undo gzip: its header is no gzip header");
  if (flags & EXTRA_FIELD) {
    const low = yield;
    const length = low + 256 * (yield);
    for (let index = 0; index < length; index += 1) yield;
  }
  if (flags & NAME) while ((yield) !== 0);
  if (flags & COMMENT) while ((yield) !== 0);
  if (flags & HEADER_CRC) {
    yield;
    yield;
  }
}
