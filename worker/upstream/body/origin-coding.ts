/**
 * Content codings (RFC 9110 section 8.4.1), and how they are undone. workerd's fetch hands bodies out as they came where it
 * is told so. Deno's undoes `gzip` and `br` where they are the only one, and leaves the fields as they were.
 */
import { createBrotliDecompress, createInflate, createInflateRaw } from "node:zlib";
import { steppedStream } from "../../../shared/coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { GzipHeader } from "./gzip-header.ts";

const DECODERS: Readonly<Record<string, (first: number) => Decoder>> = {
  br: () => createBrotliDecompress(),
  // Behind their header. The end of the first member is that of the body, whatever follows, as in browsers; zlib's own
  // reader of gzip fails there.
  gzip: () => createInflateRaw(),
  "x-gzip": () => createInflateRaw(),
  // Many servers send it without the header of RFC 1950 that it should have.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
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

/** What browsers undo of a body as it came, the last one first. */
export function codingsOf(headers: Headers): readonly string[] {
  const names = (headers.get("content-encoding") ?? "").split(",").map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== "" && name !== "identity");
  return codings.every((name) => KNOWN.has(name)) ? codings.reverse() : [];
}

/** What is left of that where the platform's fetch has undone its part. */
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

function openDecoder(coding: string, first: number, on: DecoderEvents): Decoder | null {
  const decoder = DECODERS[coding]?.(first) ?? null;
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
  let isLast = false;
  let isOver = false;
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
    // What follows the end is passed over.
    if (piece[0] === undefined || isOver) return;
    decoder ??= openDecoder(coding, piece[0], { readable: () => hasMore.resolve(), end, error: fail });
    taken = new Promise((resolve) => decoder?.write(piece, resolve));
  }

  /** One piece in, or some of what came of it out. True when the source has ended. */
  async function step(): Promise<boolean> {
    if (taken === null) await feed();
    // Browsers take an empty body in any coding.
    if (decoder === null || taken === null) return isLast;
    // Before it is read, so that none of its words is missed.
    hasMore = Promise.withResolvers();
    const chunk: Uint8Array | null = decoder.read();
    if (chunk !== null) {
      output.push(chunk);
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
