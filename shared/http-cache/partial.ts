/** Parts of a body: RFC 9111 sections 3.3 and 3.4. None is stored by itself. */
import { fieldValue } from "./fields.ts";
import type { Answer } from "./stored-response.ts";

/** Some bytes of a body, `last` inclusive. Those of one tag and total are of one body. */
export interface BodyPart {
  readonly first: number;
  readonly last: number;
  readonly total: number;
  /** Strong: whoever sends other bytes sends another one. */
  readonly tag: string;
}

/**
 * A 206 that has the whole body, as the 200 that it stands for: media elements ask for all bytes from the first on. Any
 * other response is given back as it is.
 */
export function asWhole<A extends Answer>(response: A): A {
  const range = rangeOf(response);
  return range !== null && isWhole(range) ? asWholeOf(range.total, response) : response;
}

/** The part that a 206 has; null where it may not be joined with others, and where it is the whole. */
export function partOf(response: Answer): BodyPart | null {
  const { headers } = response;
  const range = rangeOf(response);
  const tag = fieldValue(headers, "etag") ?? "";
  const isPlain = tag.startsWith('"') && fieldValue(headers, "content-encoding") === null;
  if (range === null || isWhole(range) || !isPlain) return null;
  const { first, last, total } = range;
  const isSound = first <= last && last < total && Number(fieldValue(headers, "content-length")) === last - first + 1;
  return isSound ? { ...range, tag } : null;
}

/** The head of the 200 that a part of a body so long is of. */
export function asWholeOf<A extends Answer>(total: number, response: A): A {
  const others = response.headers.filter(([name]) => name !== "content-range" && name !== "content-length");
  return { ...response, status: 200, headers: [...others, ["content-length", String(total)]] };
}

type Range = Omit<BodyPart, "tag">;

function rangeOf({ status, headers }: Answer): Range | null {
  const match = /^bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(fieldValue(headers, "content-range") ?? "");
  if (status !== 206 || match === null) return null;
  return { first: Number(match[1]), last: Number(match[2]), total: Number(match[3]) };
}

function isWhole({ first, last, total }: Range): boolean {
  return first === 0 && last === total - 1;
}
