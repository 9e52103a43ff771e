/** Parts of a body that make a whole: RFC 9111 sections 3.3 and 3.4. */
import type { HeaderList } from "../http/heads.ts";
import { fieldValue } from "./fields.ts";
import type { Answer } from "./stored-response.ts";

/** One range of bytes and the head that it came with; `last` is inclusive, `total` the length of the whole. */
export interface Part {
  readonly first: number;
  readonly last: number;
  readonly total: number;
  readonly headers: HeaderList;
}

/** @returns null for what is not one range of a known length with a strong validator: nothing can be joined to it. */
export function partOf({ status, headers }: Answer): Part | null {
  const match = /^bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(fieldValue(headers, "content-range") ?? "");
  if (status !== 206 || match === null || strongTag(headers) === null) return null;
  const [first, last, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return first <= last && last < total ? { first, last, total, headers } : null;
}

/**
 * @returns the head of the whole body, status 200, that `older` up to its end and then `newer` make; null where they do
 *   not. Fields of the newer hold.
 */
export function joined(older: Part, newer: Part): HeaderList | null {
  const isWhole = older.first === 0 && newer.first <= older.last + 1 && newer.last === newer.total - 1;
  if (!isWhole || older.total !== newer.total || strongTag(older.headers) !== strongTag(newer.headers)) return null;
  const names = new Set(["content-range", "content-length", ...newer.headers.map(([name]) => name)]);
  return [
    ...older.headers.filter(([name]) => !names.has(name)),
    ...newer.headers.filter(([name]) => name !== "content-range" && name !== "content-length"),
    ["content-length", String(newer.total)],
  ];
}

function strongTag(headers: HeaderList): string | null {
  const etag = fieldValue(headers, "etag");
  return etag?.startsWith('"') ? etag : null;
}
