/** Whether and how a response that began in a session that was lost goes on in another (RFC 9110 sections 13 and 14). */

import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Continuation, ResponseHead } from "../../../shared/http/heads.ts";

/** What to ask for: the missing bytes, the whole anew, or nothing, since all bytes are there. */
export type Remainder = Continuation | "whole" | "nothing";

/**
 * @param delivered bytes of the body that the consumer has.
 * @returns null when nothing could be asked for that is sure to fit what was delivered.
 */
export function remainderOf({ resumption }: ResponseHead, delivered: number): Remainder | null {
  if (resumption === undefined) return delivered === 0 ? "whole" : null;
  const { range, validator } = resumption;
  if (range === null || delivered === 0) return "whole";
  const first = range.first + delivered;
  if (first > range.last) return "nothing";
  return { first, last: range.last, total: range.total, validator };
}

/** Whether the consumer has all that the origin had announced: only word of the end is missing. */
export function isWhole({ headers }: ResponseHead, delivered: number): boolean {
  const length = headerValue(headers, "content-length");
  return length !== null && /^\d+$/.test(length) && Number(length) === delivered;
}

/**
 * How many bytes of the new response's body the consumer has already; null when the two do not belong together.
 *
 * @param isRemainder whether the missing bytes alone were asked for.
 */
export function overlap(
  former: ResponseHead,
  delivered: number,
  next: ResponseHead,
  isRemainder: boolean,
): number | null {
  if (isRemainder && next.continues === true) return next.url === former.url ? 0 : null;
  if (!isSameResponse(former, next)) return null;
  if (delivered === 0) return 0;
  const [old, fresh] = [former.resumption?.validator, next.resumption?.validator];
  // Only an entity tag stands for the very same bytes of the very same range.
  return old?.startsWith('"') && old === fresh ? delivered : null;
}

/** Fields that say what the body is (RFC 9110 section 8), and where to go. */
const REPRESENTATION_FIELDS = [
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "location",
];

function isSameResponse(former: ResponseHead, next: ResponseHead): boolean {
  return (
    former.status === next.status &&
    former.url === next.url &&
    REPRESENTATION_FIELDS.every((name) => headerValue(former.headers, name) === headerValue(next.headers, name))
  );
}
