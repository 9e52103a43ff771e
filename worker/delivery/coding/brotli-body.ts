/** Link coding br: brotli (RFC 7932), flushed to a byte border as the source pauses. */
import { constants, createBrotliCompress } from "node:zlib";
import type { BodyOptions } from "./deflate-body.ts";
import { flushedBody } from "./flushed-body.ts";

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
      [constants.BROTLI_PARAM_LGWIN]: windowBits(contentLength),
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
function windowBits(contentLength: number | null): number {
  if (contentLength === null) return WINDOW_MOST;
  return Math.min(WINDOW_MOST, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(contentLength + 16))));
}
