/**
 * The last stage: compression of response bodies on the link (PROTOCOL.md section 5.3), over whatever the origin did.
 * Each body has a context of its own, so that no body's length tells anything about another (CRIME, BREACH); those that
 * may share one are coded in dictionary/.
 */
import type { LinkCoding } from "../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Stage } from "../stage.ts";
import { isCompressible } from "./compressible.ts";
import { deflateBody } from "./deflate-body.ts";

/** Bytes: bodies known to be shorter are sent as they are; deflate gains nothing there. */
const LINK_CODING_MIN_BYTES = 200;

/** With a context of the body alone. */
type OwnCoding = Exclude<LinkCoding, "dcz">;

/** Each of them, by name; the phone's side of it is in `shared/coding/link-coding.ts`. */
const ENCODERS: Readonly<Record<OwnCoding, Encode>> = {
  identity: (body) => body,
  "deflate-raw": deflateBody,
};

/** @param options.contentLength bytes of the body, or null where the origin does not say */
type Encode = (
  body: ReadableStream<Uint8Array>,
  options: { readonly contentLength: number | null },
) => ReadableStream<Uint8Array>;

export const code: Stage = ({ head, body }) => {
  const length = headerValue(head.headers, "content-length") ?? "";
  const contentLength = /^\d{1,15}$/.test(length) ? Number(length) : null;
  const coding = chooseLinkCoding(headerValue(head.headers, "content-type"), contentLength);
  return { head: { ...head, coding }, body: ENCODERS[coding](body, { contentLength }) };
};

/** @param contentLength bytes of the body, or null where the origin does not say */
export function chooseLinkCoding(contentType: string | null, contentLength: number | null): OwnCoding {
  if (contentLength !== null && contentLength < LINK_CODING_MIN_BYTES) return "identity";
  return isCompressible(contentType) ? "deflate-raw" : "identity";
}
