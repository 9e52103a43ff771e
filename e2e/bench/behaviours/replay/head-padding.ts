/** Lengths of heads, and fields that make them as long as they are asked to be. */
import { NoiseBytes } from "./noise-bytes.ts";
import type { ReplayStep } from "./replay-plan.ts";

/** Bytes of one padding field on an HTTP/1.1 wire, "x-pad-00: " and CRLF included. */
const FIELD = 64;
const AROUND_VALUE = "x-pad-00: ".length + "\r\n".length;
/** Two digits in the name. */
const MOST_FIELDS = 100;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * Fields that take so many bytes on an HTTP/1.1 wire; fewer when it is less than one field's least.
 *
 * The n-th field is the same in every head that has it whole, as real fields are that a client repeats (tokens, client
 * hints): what compresses heads against earlier ones has as much to gain as from those.
 */
export function paddingFields(bytes: number): [name: string, value: string][] {
  const fields: [string, string][] = [];
  let left = Math.min(bytes, FIELD * MOST_FIELDS);
  while (left > AROUND_VALUE) {
    // What is too short for a field of its own makes the last one longer.
    const size = left - FIELD > AROUND_VALUE ? FIELD : left;
    fields.push([`x-pad-${String(fields.length).padStart(2, "0")}`, paddingValue(fields.length, size - AROUND_VALUE)]);
    left -= size;
  }
  return fields;
}

/** Bytes of fields on an HTTP/1.1 wire. */
export function fieldLinesLength(fields: Iterable<readonly [name: string, value: string]>): number {
  let length = 0;
  for (const [name, value] of fields) length += name.length + ": ".length + value.length + "\r\n".length;
  return length;
}

function paddingValue(number: number, length: number): string {
  return Array.from(new NoiseBytes(number).take(length), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** What Chromium adds to a fetch() of the page's own origin but for what is counted below: measured over HTTP/1.1. */
const OTHER_FIELDS = 363;

/** Bytes of a same-origin request head as Chromium writes it over HTTP/1.1, before any field of ours. */
export function ownRequestHead(
  { method, requestBody }: Pick<ReplayStep, "method" | "requestBody">,
  url: URL,
  userAgent: string,
): number {
  const line = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: ${userAgent}\r\n`;
  const body =
    method === "GET" || method === "HEAD" ? "" : `content-length: ${requestBody}\r\norigin: ${url.origin}\r\n`;
  return line.length + body.length + OTHER_FIELDS;
}
