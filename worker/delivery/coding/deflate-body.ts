/** Link coding deflate-raw: raw deflate (RFC 1951), flushed as the source pauses. */
import { constants, createDeflateRaw } from "node:zlib";
import { steppedStream } from "../../../shared/coding/stepped-stream.ts";

/** Milliseconds: how long compressed bytes wait for the origin's next chunk before they are flushed to the phone. */
export const LINK_FLUSH_DELAY = 5;

export interface DeflateOptions {
  /** Length of the body if it is known: a short one gets a small window, which is most of the memory. */
  readonly contentLength: number | null;
}

/** Resolves when the source had its chance to hand over a chunk it already has. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, LINK_FLUSH_DELAY));

/**
 * Raw deflate of `source` (RFC 1951). Reads only as its own reader asks, and flushes to a byte border whenever the
 * source has nothing more at hand, so that an event stream arrives event by event.
 */
export function deflateBody(
  source: ReadableStream<Uint8Array>,
  { contentLength }: DeflateOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const deflate = createDeflateRaw({ windowBits: windowBits(contentLength) });
  const output: Uint8Array<ArrayBuffer>[] = [];
  deflate.on("data", (chunk: Uint8Array<ArrayBuffer>) => output.push(chunk));
  const broken = new Promise<never>((_, reject) => deflate.once("error", reject));
  broken.catch(() => {});

  const write = (chunk: Uint8Array) =>
    Promise.race([broken, new Promise<void>((resolve) => deflate.write(chunk, () => resolve()))]);
  const flush = () =>
    Promise.race([broken, new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()))]);
  const end = () =>
    Promise.race([
      broken,
      new Promise<void>((resolve) => {
        deflate.once("end", resolve);
        deflate.end();
      }),
    ]);

  let pending: Promise<ReadableStreamReadResult<Uint8Array>> | null = null;
  let holdsInput = false;

  /** One step: a chunk in, a flush, or the end. True when the source has ended. */
  async function step(): Promise<boolean> {
    pending ??= reader.read();
    const next = await (holdsInput ? Promise.race([pending, settle().then(() => null)]) : pending);
    if (next === null) {
      await flush();
      holdsInput = false;
      return false;
    }
    pending = null;
    if (next.done) {
      await end();
      return true;
    }
    if (next.value.byteLength > 0) {
      await write(next.value);
      holdsInput = true;
    }
    return false;
  }

  return steppedStream({ reader, output, step, destroy: () => deflate.destroy() });
}

/** Smallest window that covers the body. zlib's raw deflate does not do 8. */
function windowBits(contentLength: number | null): number {
  if (contentLength === null) return constants.Z_MAX_WINDOWBITS;
  return Math.min(constants.Z_MAX_WINDOWBITS, Math.max(9, Math.ceil(Math.log2(contentLength))));
}
