/**
 * The last stage: compression of response bodies on the link (PROTOCOL.md section 5.3), over whatever the origin did.
 * Each body has a context of its own, so that no body's length tells anything about another (CRIME, BREACH); those that
 * may share one are coded in dictionaries.ts.
 */

import { type BrotliCompress, constants, createBrotliCompress, createDeflateRaw, type DeflateRaw } from "node:zlib";
import { type Clock, monotonicClock, pause, type SetTimer } from "../../shared/clock.ts";
import { type LinkCoding, steppedStream } from "../../shared/coding/link-coding.ts";
import { contentLength, headerValue } from "../../shared/http/head-fields.ts";
import type { CodedBody } from "../upstream/response-body.ts";
import type { DecodedResponse, Stage } from "./stage.ts";

/** Bytes: bodies known to be shorter are sent as they are; coding gains nothing there. */
const LINK_CODING_MIN_BYTES = 200;

/** With a context of the body alone. */
type OwnCoding = Exclude<LinkCoding, "dcz">;

type Encode = (body: ReadableStream<Uint8Array>, options: BodyOptions) => ReadableStream<Uint8Array>;

/** Each of them, by name; the phone's side of it is in `shared/coding/link-coding.ts`. */
const ENCODERS: Readonly<Record<OwnCoding, Encode>> = {
  identity: (body) => body,
  "deflate-raw": deflateBody,
  br: brotliBody,
};

/** Facts about a body that decide how it is coded. */
export interface BodyFacts {
  readonly contentType: string | null;
  /** Null where the origin does not say. */
  readonly contentLength: number | null;
  /** Whether its origin had coded it. */
  readonly cameCoded: boolean;
}

export const code: Stage = async (response, { takesBrotli }) => {
  const { head, body, coded, cameCoded } = response;
  if (head.coding !== "identity") return response;
  if (coded !== null && (await coded.fits())) return { ...response, ...passedOn(response, coded), coded: null };
  const length = contentLength(head.headers);
  const facts = { contentType: headerValue(head.headers, "content-type"), contentLength: length, cameCoded };
  const coding = chooseLinkCoding(facts, takesBrotli === true && mayOpenBrotli());
  return { ...response, head: { ...head, coding }, body: ENCODERS[coding](body, { contentLength: length }) };
};

export function chooseLinkCoding(
  { contentType, contentLength: length, cameCoded }: BodyFacts,
  mayUseBrotli: boolean,
): OwnCoding {
  if (length !== null && length < LINK_CODING_MIN_BYTES) return "identity";
  if (!isCompressible(contentType) && (!cameCoded || isCompressed(contentType))) return "identity";
  return mayUseBrotli && !isEndless(contentType) ? "br" : "deflate-raw";
}

// Link coding br: brotli (RFC 7932), flushed to a byte border as the source pauses.

/** As long to code as deflate takes at its own, and a seventh smaller. */
const QUALITY = 6;

/** Logarithm of bytes: larger ones bring nothing to text of this quality, and both ends hold them. */
const WINDOW_MOST = 20;

/** Milliseconds: it gathers up to 2 MB before it puts anything out, and a page should begin to show. */
const PATIENCE = 30;

/** Bodies that are coded at once, of all phones in the isolate: each takes about 2 MB. Further ones go in deflate. */
const AT_ONCE = 12;

let open = 0;

export const mayOpenBrotli = (): boolean => open < AT_ONCE;

/** Reads only as it is read. To be read or cancelled: until it is over it counts. */
export function brotliBody(
  source: ReadableStream<Uint8Array>,
  { contentLength, clock }: BodyOptions,
): ReadableStream<Uint8Array> {
  const coder = createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: brotliWindowBits(contentLength),
      ...(contentLength === null ? {} : { [constants.BROTLI_PARAM_SIZE_HINT]: contentLength }),
    },
  });
  open += 1;
  let isOver = false;
  const onOver = (): void => {
    if (!isOver) open -= 1;
    isOver = true;
  };
  const flushed = { coder, flush: constants.BROTLI_OPERATION_FLUSH, patience: PATIENCE, onOver };
  return flushedBody(source, flushed, clock);
}

/** Smallest window that covers the body. */
function brotliWindowBits(contentLength: number | null): number {
  if (contentLength === null) return WINDOW_MOST;
  return Math.min(WINDOW_MOST, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(contentLength + 16))));
}

// Link coding deflate-raw: raw deflate (RFC 1951), flushed to a byte border as the source pauses.

interface BodyOptions {
  /** Length of the body if it is known: a short one gets a small window, which is most of the memory. */
  readonly contentLength: number | null;
  /** By which it is flushed; one that never goes back, by default. */
  readonly clock?: Clock;
}

/** Reads only as it is read. */
export function deflateBody(
  source: ReadableStream<Uint8Array>,
  { contentLength, clock }: BodyOptions,
): ReadableStream<Uint8Array> {
  const coder = createDeflateRaw({ windowBits: deflateWindowBits(contentLength) });
  return flushedBody(source, { coder, flush: constants.Z_SYNC_FLUSH }, clock);
}

/** Smallest window that covers the body. zlib's raw deflate does not do 8. */
function deflateWindowBits(contentLength: number | null): number {
  if (contentLength === null) return constants.Z_MAX_WINDOWBITS;
  return Math.min(constants.Z_MAX_WINDOWBITS, Math.max(9, Math.ceil(Math.log2(contentLength))));
}

// Codes a body by a coder of the platform's, and flushes it as the source pauses: an event stream arrives event by event.

/** Milliseconds: how long coded bytes wait for the origin's next chunk before they are flushed to the phone. */
export const LINK_FLUSH_DELAY = 5;

interface FlushedCoder {
  readonly coder: DeflateRaw | BrotliCompress;
  /** Flush after which the coder has put out all that it was given, in zlib's numbers. */
  readonly flush: number;
  /** Milliseconds after which it is flushed though more keeps coming, if nothing came out meanwhile. */
  readonly patience?: number;
  /** Nothing goes in any more. */
  onOver?(): void;
}

/** Resolves when the source had its chance to hand over a chunk it already has. */
const settled = (setTimer: SetTimer) => pause(setTimer, LINK_FLUSH_DELAY).then(() => null);

/** Reads only as its own reader asks. Takes ownership of source and coder. */
function flushedBody(
  source: ReadableStream<Uint8Array>,
  { coder, flush: flushKind, patience = Number.POSITIVE_INFINITY, onOver }: FlushedCoder,
  { now, setTimer }: Clock = monotonicClock,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const output: Uint8Array<ArrayBuffer>[] = [];
  let wroteAt = 0;
  coder.on("data", (chunk: Uint8Array<ArrayBuffer>) => {
    output.push(chunk);
    wroteAt = now();
  });
  const broken = new Promise<never>((_, reject) => coder.once("error", reject));
  broken.catch(() => {});

  const write = (chunk: Uint8Array) =>
    Promise.race([broken, new Promise<void>((resolve) => coder.write(chunk, () => resolve()))]);
  const flush = () => Promise.race([broken, new Promise<void>((resolve) => coder.flush(flushKind, () => resolve()))]);
  const end = () =>
    Promise.race([
      broken,
      new Promise<void>((resolve) => {
        coder.once("end", resolve);
        coder.end();
      }),
    ]);

  let pending: Promise<ReadableStreamReadResult<Uint8Array>> | null = null;
  let holdsInput = false;

  /** A step: a chunk in, a flush, or the end. True when the source has ended. */
  async function step(): Promise<boolean> {
    pending ??= reader.read();
    const next = await (holdsInput ? Promise.race([pending, settled(setTimer)]) : pending);
    if (next === null || (holdsInput && now() - wroteAt > patience)) {
      await flush();
      holdsInput = false;
      return false;
    }
    pending = null;
    if (next.done) {
      await end();
      onOver?.();
      return true;
    }
    if (next.value.byteLength > 0) {
      if (!holdsInput) wroteAt = now();
      await write(next.value);
      holdsInput = true;
    }
    return false;
  }

  const destroy = (): void => {
    coder.destroy();
    onOver?.();
  };
  return steppedStream({ reader, output, step, destroy });
}

/** Bodies that are text, or as good as: they compress well. */
const COMPRESSIBLE = new RegExp(
  "^(?:text/.*|.*\\+(?:json|xml|text)|application/(?:" +
    "json|x-ndjson|ndjson|jsonl|json5|graphql|(?:x-)?javascript|(?:x-)?ecmascript|xml|xml-dtd|wasm|manifest|" +
    "x-www-form-urlencoded|x-sh|rtf|postscript|x-font-ttf|x-font-otf|x-font-truetype|vnd\\.ms-fontobject" +
    ")|font/(?:ttf|otf|sfnt|collection)|image/(?:bmp|x-icon|vnd\\.microsoft\\.icon)|model/(?:obj|stl)|audio/midi)$",
);

/** Whose formats have a compression of their own. */
const COMPRESSED = new RegExp(
  "^(?:image/(?:png|apng|jpeg|jpg|gif|webp|avif|jxl|heic)|font/woff2?|application/(?:" +
    "zip|gzip|x-gzip|zstd|x-brotli|x-xz|x-bzip2?|x-7z-compressed|vnd\\.rar|java-archive|epub\\+zip|(?:x-)?font-woff2?" +
    ")|video/.*|audio/(?!midi$|(?:x-|vnd\\.)?wave?$).*)$",
);

/** @param contentType value of the field */
export function isCompressible(contentType: string | null): boolean {
  return COMPRESSIBLE.test(essence(contentType));
}

/** Whether coding is known to gain nothing. */
function isCompressed(contentType: string | null): boolean {
  return COMPRESSED.test(essence(contentType));
}

/** A body that may go on as long as its page is there, so that its coder should be small. */
function isEndless(contentType: string | null): boolean {
  return essence(contentType) === "text/event-stream";
}

function essence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * Passes a body on as its origin coded it, and reads it decoded beside: for those who read along, and to know that it is
 * sound. Takes ownership of both.
 *
 * @param coded of the same body; a phone can undo it.
 */
function passedOn({ head, body }: DecodedResponse, coded: CodedBody): DecodedResponse {
  const reader = body.getReader();
  let pending: ReturnType<typeof reader.read> | null = null;
  let isOver = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const passed = coded.take();
          for (const chunk of passed) controller.enqueue(chunk);
          if (isOver) return controller.close();
          if (passed.length > 0) return;
          pending ??= reader.read();
          // The source may fail while earlier bytes are on their way.
          pending.catch(() => {});
          const read = await Promise.race([pending, coded.passed]);
          if (read === undefined) continue;
          pending = null;
          isOver = read.done;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { head: { ...head, coding: "br" }, body: stream };
}
