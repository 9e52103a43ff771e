/** How the body of a response goes on when its session is lost: byte ranges and validators (RFC 9110 sections 13, 14). */
import type { Continuation, HeaderField, ResponseHead, Resumption } from "../../../shared/http/heads.ts";
import * as limits from "../../../shared/limits.ts";
import { decodedLength } from "../send/response-fields.ts";

/** A Last-Modified is strong if the response is at least this much younger (RFC 9110 section 8.8.2.2). Milliseconds. */
const STRONG_DATE_AGE = 60_000;

interface OriginResponse {
  readonly status: number;
  readonly headers: Headers;
}

/** What the tunnel is told of a GET, which is not for the page: so whatever CORS exposes to that. */
export function howToGoOn(
  response: OriginResponse,
  continuation: Continuation | null,
): Pick<ResponseHead, "resumption" | "continues"> {
  const resumption = resumptionOf(response);
  return {
    ...(resumption === null ? {} : { resumption }),
    ...(continuation !== null && isContinuation(continuation, response) ? { continues: true } : {}),
  };
}

/** @returns null where the body cannot go on, or is too short to matter. */
export function resumptionOf({ status, headers }: OriginResponse): Resumption | null {
  const length = decodedLength(headers);
  if (length !== null && length < limits.resumableBodyBytes) return null;
  const etag = headers.get("etag")?.trim() ?? null;
  const isStrongTag = etag !== null && /^"[\x21\x23-\x7e]*"$/.test(etag) && etag.length <= 256;
  const validator = isStrongTag ? etag : etag === null ? strongDate(headers) : null;
  if (validator === null) return null;
  const range = identityRange(status, headers, length);
  return range === null && !isStrongTag ? null : { range, validator };
}

/** The fields that ask for the rest, and replace the page's own. */
export function withContinuation(fields: readonly HeaderField[], continuation: Continuation): HeaderField[] {
  const { first, last, validator } = continuation;
  return [
    ...fields.filter(([name]) => name !== "range" && name !== "if-range"),
    ["range", `bytes=${first}-${last}`],
    ["if-range", validator],
  ];
}

/** Whether the response is the rest that was asked for, of the very same representation. */
export function isContinuation(continuation: Continuation, { status, headers }: OriginResponse): boolean {
  const { first, last, total, validator } = continuation;
  if (status !== 206 || isCoded(headers)) return false;
  const range = contentRange(headers);
  const isSame = validator.startsWith('"')
    ? headers.get("etag")?.trim() === validator
    : headers.get("last-modified")?.trim() === validator;
  return isSame && range?.first === first && range.last === last && range.total === total;
}

/** Which bytes of the uncoded representation the body is, or null where a range would be of other bytes. */
function identityRange(status: number, headers: Headers, length: number | null): Resumption["range"] {
  if (length === null || isCoded(headers)) return null;
  if (status === 200) return length === 0 ? null : { first: 0, last: length - 1, total: length };
  const range = status === 206 ? contentRange(headers) : null;
  return range !== null && range.last - range.first + 1 === length ? range : null;
}

function isCoded(headers: Headers): boolean {
  return !["", "identity"].includes((headers.get("content-encoding") ?? "").trim().toLowerCase());
}

function contentRange(headers: Headers): { first: number; last: number; total: number } | null {
  const match = headers.get("content-range")?.match(/^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/);
  if (!match) return null;
  const [first, last, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return first <= last && last < total ? { first, last, total } : null;
}

function strongDate(headers: Headers): string | null {
  const modified = headers.get("last-modified")?.trim() ?? "";
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(modified);
  return age >= STRONG_DATE_AGE ? modified : null;
}
