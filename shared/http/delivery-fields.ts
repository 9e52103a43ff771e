/** The fields by which tunnel and edge keep an exchange going when sessions are lost: PROTOCOL.md section 5.5. */
import type { EncodableField } from "../wire/hpack/tables.ts";
import type { Delivery, ResponseHead, Resumption } from "./heads.ts";

const AGAIN = "again";
const REQUEST_ID = /^([A-Za-z0-9_-]{11,43})( again)?$/;
const CONTINUATION = /^(\d{1,15})-(\d{1,15})\/(\d{1,15}) (.{1,256})$/;
const RESUMPTION = /^(?:\*|(\d{1,15})-(\d{1,15})\/(\d{1,15})) (.{1,256})$/;

export function deliveryFields({ id, isRepeat, continuation }: Delivery): EncodableField[] {
  const fields: EncodableField[] = [];
  if (id !== null) fields.push([":request-id", isRepeat ? `${id} ${AGAIN}` : id, "without"]);
  if (continuation !== null) {
    const { first, last, total, validator } = continuation;
    fields.push([":continue", `${first}-${last}/${total} ${validator}`, "without"]);
  }
  return fields;
}

/** @returns undefined when nothing is said, null when it is malformed. */
export function parseDelivery(pseudo: ReadonlyMap<string, string>): Delivery | undefined | null {
  const [requestId, continuation] = [pseudo.get("request-id"), pseudo.get("continue")];
  if (requestId === undefined && continuation === undefined) return undefined;
  const named = requestId?.match(REQUEST_ID);
  const continued = continuation?.match(CONTINUATION);
  if (named === null || continued === null) return null;
  const range = continued === undefined ? null : toRange(continued);
  if (continued !== undefined && range === null) return null;
  return {
    id: named?.[1] ?? null,
    isRepeat: named?.[2] !== undefined,
    continuation: range && { ...range, validator: continued?.[4] ?? "" },
  };
}

export function resumptionFields({ resumption, continues }: ResponseHead): EncodableField[] {
  const fields: EncodableField[] = [];
  if (resumption !== undefined) {
    const { range, validator } = resumption;
    const extent = range === null ? "*" : `${range.first}-${range.last}/${range.total}`;
    fields.push([":resume", `${extent} ${validator}`, "without"]);
  }
  if (continues === true) fields.push([":continues", "1"]);
  return fields;
}

/** @returns undefined when nothing is said, null when it is malformed. */
export function parseResumption(value: string | undefined): Resumption | undefined | null {
  if (value === undefined) return undefined;
  const match = value.match(RESUMPTION);
  if (match === null) return null;
  const validator = match[4] ?? "";
  if (match[1] === undefined) return { range: null, validator };
  const range = toRange(match);
  return range && { range, validator };
}

function toRange(match: RegExpMatchArray): { first: number; last: number; total: number } | null {
  const [first, last, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return first <= last && last < total ? { first, last, total } : null;
}
