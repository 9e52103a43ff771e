/**
 * The last stage: compression of response bodies on the link (PROTOCOL.md section 5.3), over whatever the origin did.
 * Each body has a context of its own, so that no body's length tells anything about another (CRIME, BREACH).
 */
import type { LinkCoding } from "../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Stage } from "../stage.ts";
import { deflateBody } from "./deflate-body.ts";

/** Bytes: bodies known to be shorter are sent as they are; deflate gains nothing there. */
const LINK_CODING_MIN_BYTES = 200;

/** Each coding of the link, by name; the phone's side of it is in `shared/coding/link-coding.ts`. */
const ENCODERS: Readonly<Record<LinkCoding, Encode>> = {
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

const COMPRESSIBLE = new RegExp(
  "^(?:text/.*|.*\\+(?:json|xml|text)|application/(?:" +
    "json|x-ndjson|ndjson|jsonl|json5|graphql|(?:x-)?javascript|(?:x-)?ecmascript|xml|xml-dtd|wasm|manifest|" +
    "x-www-form-urlencoded|x-sh|rtf|postscript|x-font-ttf|x-font-otf|x-font-truetype|vnd\\.ms-fontobject" +
    ")|font/(?:ttf|otf|sfnt|collection)|image/(?:bmp|x-icon|vnd\\.microsoft\\.icon)|model/(?:obj|stl)|audio/midi)$",
);

/** @param contentLength bytes of the body, or null where the origin does not say */
export function chooseLinkCoding(contentType: string | null, contentLength: number | null): LinkCoding {
  if (contentLength !== null && contentLength < LINK_CODING_MIN_BYTES) return "identity";
  const mediaType = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return COMPRESSIBLE.test(mediaType) ? "deflate-raw" : "identity";
}
