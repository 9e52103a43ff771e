/**
 * The last stage: compression of response bodies on the link (PROTOCOL.md section 5.3), over whatever the origin did.
 * Each body has a context of its own, so that no body's length tells anything about another (CRIME, BREACH); those that
 * may share one are coded in dictionary/.
 */
import type { LinkCoding } from "../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Stage } from "../stage.ts";
import { brotliBody, mayOpenBrotli } from "./brotli-body.ts";
import { isCompressible, isEndless } from "./compressible.ts";
import { type BodyOptions, deflateBody } from "./deflate-body.ts";

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

export const code: Stage = ({ head, body }, { takesBrotli }) => {
  const length = headerValue(head.headers, "content-length") ?? "";
  const contentLength = /^\d{1,15}$/.test(length) ? Number(length) : null;
  const contentType = headerValue(head.headers, "content-type");
  const coding = chooseLinkCoding(contentType, contentLength, takesBrotli === true && mayOpenBrotli());
  return { head: { ...head, coding }, body: ENCODERS[coding](body, { contentLength }) };
};

/** @param contentLength bytes of the body, or null where the origin does not say */
export function chooseLinkCoding(
  contentType: string | null,
  contentLength: number | null,
  mayUseBrotli: boolean,
): OwnCoding {
  if (contentLength !== null && contentLength < LINK_CODING_MIN_BYTES) return "identity";
  if (!isCompressible(contentType)) return "identity";
  return mayUseBrotli && !isEndless(contentType) ? "br" : "deflate-raw";
}
