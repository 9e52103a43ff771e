/**
 * The last stage: compression of response bodies on the link (PROTOCOL.md section 5.3), over whatever the origin did.
 * Each body has a context of its own, so that no body's length tells anything about another (CRIME, BREACH); those that
 * may share one are coded in dictionary/.
 */
import type { LinkCoding } from "../../../shared/coding/link-coding.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import type { Stage } from "../stage.ts";
import { brotliBody, mayOpenBrotli } from "./brotli-body.ts";
import { isCompressed, isCompressible, isEndless } from "./compressible.ts";
import { type BodyOptions, deflateBody } from "./deflate-body.ts";
import { passedOn } from "./passed-on.ts";

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

/** What of a body says how it is to be coded. */
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
