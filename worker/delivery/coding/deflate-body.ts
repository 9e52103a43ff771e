/** Link coding deflate-raw: raw deflate (RFC 1951), flushed to a byte border as the source pauses. */
import { constants, createDeflateRaw } from "node:zlib";
import type { Clock } from "../../../shared/clock.ts";
import { flushedBody } from "./flushed-body.ts";

export interface BodyOptions {
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
  const coder = createDeflateRaw({ windowBits: windowBits(contentLength) });
  return flushedBody(source, { coder, flush: constants.Z_SYNC_FLUSH }, clock);
}

/** Smallest window that covers the body. zlib's raw deflate does not do 8. */
function windowBits(contentLength: number | null): number {
  if (contentLength === null) return constants.Z_MAX_WINDOWBITS;
  return Math.min(constants.Z_MAX_WINDOWBITS, Math.max(9, Math.ceil(Math.log2(contentLength))));
}
