/**
 * What the phone has of the page that it navigates to: PROTOCOL.md section 5.6. Two bytes stand for a URL; where another
 * has the same two, one push in a thousand is not made.
 */
import { fromBase64Url, toBase64Url } from "../base-encodings.ts";
import type { EncodableField } from "../wire/hpack/tables.ts";
import type { HeaderField, KnownUrls } from "./heads.ts";

/** Edges that do not know it drop it: origins never get `sec-` fields of a phone. */
export const KNOWN_URLS = "sec-ropeway-known";

const MOST = 128;
const BITS = 16;

export function knownUrls(urls: readonly string[]): KnownUrls {
  return new Set(urls.slice(0, MOST).map(hashOf));
}

export function isKnownUrl(known: KnownUrls, url: string): boolean {
  return known.has(hashOf(url));
}

export function knownUrlsField(known: KnownUrls): EncodableField {
  const bytes = [...known].flatMap((hash) => [hash >> 8, hash & 255]);
  return [KNOWN_URLS, toBase64Url(Uint8Array.from(bytes)), "without"];
}

/** Undefined where nothing is said, or nothing that can be read. */
export function parseKnownUrls(headers: readonly HeaderField[]): KnownUrls | undefined {
  const value = headers.find(([name]) => name === KNOWN_URLS)?.[1];
  const bytes = value === undefined ? null : fromBase64Url(value);
  if (bytes === null || bytes.length % 2 !== 0 || bytes.length > 2 * MOST) return undefined;
  const hashes = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.subarray(2 * at, 2 * at + 2));
  return new Set(hashes.map(([high = 0, low = 0]) => (high << 8) | low));
}

/** FNV-1a, folded. */
function hashOf(url: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < url.length; at++) hash = Math.imul(hash ^ url.charCodeAt(at), 0x01000193);
  return ((hash >>> BITS) ^ hash) & 0xffff;
}
