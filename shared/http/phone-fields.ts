/**
 * Fields by which phone and edge speak to each other, beside those of pages: PROTOCOL.md sections 5.2 to 5.9. Edges that do not
 * know one drop it: origins never get `sec-` fields of a phone.
 */
import { fromBase64Url, fromHex, toBase64Url } from "../base-encodings.ts";
import type { EncodableField } from "../wire/frame.ts";
import type {
  BodyName,
  CredentialsMode,
  Destination,
  HeaderField,
  HeaderList,
  ImageWish,
  KnownUrls,
  Recoding,
  RequestMode,
  StoredBody,
} from "./heads.ts";

// The `accept` that browsers send for what an element loads. Chromium's is known to both ends, so it stays unsaid
// (section 5.2); another browser's is announced, so that what is pushed is what it would ask for (5.6).

/** The `accept` of a browser, where Chromium sends something else. */
export type AcceptTable = Partial<Record<Destination, string>>;

/** Chromium's. Part of the protocol: both sides have to know them. */
const DEFAULT_ACCEPT: AcceptTable = {
  font: "*/*",
  image: "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
  script: "*/*",
  style: "text/css,*/*;q=0.1",
};

/** Fields of the session's head. */
const ANNOUNCED = "accept-";
/** No browser's is longer. Visible ASCII, since it goes on to origins. */
const SENSIBLE = /^[\x20-\x7e]{1,256}$/;

/** The lines to send: without an `accept` that the receiver adds. */
export function withoutDefaultAccept(headers: HeaderList, destination: Destination): HeaderList {
  const lines = headers.filter(([name]) => name === "accept");
  const isDefault = lines.length === 1 && lines[0]?.[1] === DEFAULT_ACCEPT[destination];
  return isDefault ? headers.filter(([name]) => name !== "accept") : headers;
}

/** The lines received, `accept` last where it was not said. @param own of the browser that asks, as far as announced. */
export function withDefaultAccept(headers: HeaderList, destination: Destination, own: AcceptTable = {}): HeaderList {
  const accept = own[destination] ?? DEFAULT_ACCEPT[destination];
  if (accept === undefined || headers.some(([name]) => name === "accept")) return headers;
  return [...headers, ["accept", accept]];
}

/** @param seen what a browser sends by destination. @returns what of it is not Chromium's; null before it is complete. */
export function ownAccept(seen: ReadonlyMap<string, string>): AcceptTable | null {
  const own = Object.entries(DEFAULT_ACCEPT).map(([destination, accept]) => [
    destination,
    seen.get(destination),
    accept,
  ]);
  if (own.some(([, sent]) => sent === undefined)) return null;
  return Object.fromEntries(own.filter(([, sent, accept]) => sent !== accept));
}

/** Facts of its browser that a phone announces. */
export function acceptToFields(own: AcceptTable): HeaderField[] {
  return Object.entries(own).map(([destination, accept]) => [ANNOUNCED + destination, accept]);
}

/** @param fields of the session's head. What makes no sense counts as unsaid. */
export function fieldsToAccept(fields: HeaderList): AcceptTable {
  const own: AcceptTable = {};
  for (const destination of Object.keys(DEFAULT_ACCEPT) as Destination[]) {
    const accept = fields.find(([name]) => name === ANNOUNCED + destination)?.[1] ?? "";
    if (SENSIBLE.test(accept)) own[destination] = accept;
  }
  return own;
}

// What a phone's pages are shown in, as it says in the session's head: section 5.6.

export const VIEWPORT = "sec-ropeway-viewport";

export interface Viewport {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for one of CSS. */
  readonly density: number;
}

/** Undefined where it is no width, height and density of a screen. */
export function parseViewport(value: string): Viewport | undefined {
  const match = /^(\d{1,5}) (\d{1,5}) (\d{1,2}(?:\.\d{1,9})?)\d*$/.exec(value);
  const [width = 0, height = 0, density = 0] = (match ?? []).slice(1).map(Number);
  return width > 0 && height > 0 && density > 0 ? { width, height, density } : undefined;
}

// The phone's wish for pictures on their way, and what was done: section 5.8.

/** In the session's head for all requests of it, and in a request for that alone. */
export const IMAGES = "sec-ropeway-images";

/** Field of a response whose picture is not its origin's: a note for the phone, which no page gets. */
const IMAGE_NOTE = "ropeway-image";

/** All as its origin sends it. */
export const ORIGINAL: ImageWish = { recoding: "none", most: null };

const WISH = /^(none|balanced|strong)(?: (\d{1,9}))?$/;

export function imageWishField({ recoding, most }: ImageWish): HeaderField {
  return [IMAGES, most === null ? recoding : `${recoding} ${most}`];
}

/** Undefined where nothing is wished, or nothing that is a wish. */
export function parseImageWish(headers: HeaderList): ImageWish | undefined {
  const match = headers.find(([name]) => name === IMAGES)?.[1].match(WISH);
  if (match == null) return undefined;
  return { recoding: match[1] as Recoding, most: match[2] === undefined ? null : Number(match[2]) };
}

/** What became of a picture: it was coded anew so that nobody sees it, so that one may see it, or held back. */
export interface ImageNote {
  readonly kind: "recoded" | "reduced" | "held";
  /** Bytes of the origin's picture; 0 where nobody knows. */
  readonly bytes: number;
}

export function imageNoteField({ kind, bytes }: ImageNote): HeaderField {
  return [IMAGE_NOTE, `${kind} ${bytes}`];
}

/** Null where the picture is its origin's. */
export function parseImageNote(headers: HeaderList): ImageNote | null {
  const match = headers.find(([name]) => name === IMAGE_NOTE)?.[1].match(/^(recoded|reduced|held) (\d{1,12})$/);
  return match == null ? null : { kind: match[1] as ImageNote["kind"], bytes: Number(match[2]) };
}

// Whether reads of `location` and `top` in scripts are to be marked, and were: section 5.12.

/** In a request: the page has the function that they pass through. */
export const MARK_READS: HeaderField = ["sec-ropeway-reads", "mark"];

/** Note in a response whose body has marks. */
export const READS_MARKED: HeaderField = ["ropeway-reads", "marked"];

// The phone's wish for requests for trackers: section 5.9.

const TRACKERS = "sec-ropeway-trackers";

/** In the session's head: no request of it goes to a tracker. */
export const TRACKERS_BLOCKED: HeaderField = [TRACKERS, "block"];

/** In a request: it goes wherever it leads, since the person lets trackers be on that page. */
export const TRACKERS_ALLOWED: HeaderField = [TRACKERS, "allow"];

export const isTrackerField = ([name]: HeaderField): boolean => name === TRACKERS;

export function has(headers: HeaderList, [name, value]: HeaderField): boolean {
  return headers.some((field) => field[0] === name && field[1] === value);
}

// Bodies that the phone has stored, by name: section 5.7.

/** Names the body that the phone has of a request. */
export const STORED_BODY = "sec-ropeway-stored";
/** In a session's head: the phone takes reason phrases. */
export const TAKES_REASONS = "sec-ropeway-reasons";

/**
 * In the session's head: the key with which the edge seals what it keeps of this phone, in base64url. By it the phone says,
 * too, that it undoes `dcz` (section 5.3).
 */
export const DICTIONARY_KEY = "sec-ropeway-dictionary";
export const DICTIONARY_KEY_BYTES = 32;

/** Bytes: shorter ones cost hardly more than their names. */
export const NAMED_BODY_LEAST = 256;
/** Bytes: the edge holds so much of one, to see whether it is what was named. */
export const NAMED_BODY_MOST = 1024 * 1024;

/** Bytes of its SHA-256 by which a body is named. */
export const BODY_HASH_BYTES = 16;
const NAME = /^([A-Za-z0-9_-]{22}) (\d{1,9})(?: (.{1,256}))?$/;

/** @param hash SHA-256 in hexadecimal. */
export function bodyName(hash: string, size: number): BodyName {
  return { hash: toBase64Url(fromHex(hash).subarray(0, BODY_HASH_BYTES)), size };
}

export async function hashOfBody(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", body)).subarray(0, BODY_HASH_BYTES));
}

export function storedBodyField({ hash, size, validator }: StoredBody): EncodableField {
  return [STORED_BODY, `${hash} ${size}${validator === undefined ? "" : ` ${validator}`}`, "without"];
}

/** Undefined where nothing is named, or nothing that is a name. */
export function parseStoredBody(headers: readonly HeaderField[]): StoredBody | undefined {
  const value = headers.find(([name]) => name === STORED_BODY)?.[1];
  const match = value?.match(NAME);
  if (match == null) return undefined;
  const [, hash = "", size, validator] = match;
  return { hash, size: Number(size), ...(validator === undefined ? {} : { validator }) };
}

/** @returns null for what is no key. */
export function readDictionaryKey(text: string): Uint8Array<ArrayBuffer> | null {
  const key = fromBase64Url(text);
  return key?.length === DICTIONARY_KEY_BYTES ? new Uint8Array(key) : null;
}

// URLs that the phone has of the page that it navigates to: section 5.6. Two bytes stand for a URL; where another has the
// same two, one push in a thousand is not made.

export const KNOWN_URLS = "sec-ropeway-known";

const MOST_KNOWN = 128;
const BITS = 16;

export function knownUrls(urls: readonly string[]): KnownUrls {
  return new Set(urls.slice(0, MOST_KNOWN).map(hashOf));
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
  if (bytes === null || bytes.length % 2 !== 0 || bytes.length > 2 * MOST_KNOWN) return undefined;
  const hashes = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.subarray(2 * at, 2 * at + 2));
  return new Set(hashes.map(([high = 0, low = 0]) => (high << 8) | low));
}

/** FNV-1a, folded. */
function hashOf(url: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < url.length; at++) hash = Math.imul(hash ^ url.charCodeAt(at), 0x01000193);
  return ((hash >>> BITS) ^ hash) & 0xffff;
}

// What a page is likely to ask for that its document does not name, and the phone lacks: the phone has seen it asked for
// before, and says so with the navigation (section 5.6).

/** A request for a page to come, as the page would make it. */
export interface LearnedRequest {
  /** Absolute. */
  readonly url: string;
  readonly destination: Destination;
  readonly mode: RequestMode;
  readonly credentials: CredentialsMode;
  /** "" where it is the browser's usual one for its destination, or none. */
  readonly accept: string;
}

const MOST_LEARNED = 32;
/** Characters of the field. With what else a navigation says, it still rides in a handshake (`limits.openingBytes`). */
const LEARNED_LENGTH = 1024;

const DESTINATIONS: ReadonlySet<string> = new Set(["", "font", "image", "script", "style"]);
const MODES: ReadonlySet<string> = new Set(["cors", "no-cors", "same-origin"]);
const CREDENTIALS: ReadonlySet<string> = new Set(["include", "omit", "same-origin"]);
/** Visible ASCII: what goes on to origins, and into a field as it is. */
const ACCEPT = /^[\x20-\x7e]{0,256}$/;

/**
 * JSON: lists of what requests have in common (destination, mode, credentials mode, `accept`), and then their URLs.
 *
 * @param learned the surest first: what does not fit is left out.
 * @param documentUrl URLs of its origin go without that.
 * @returns null where there is nothing to say.
 */
export function sayLearned(learned: readonly LearnedRequest[], documentUrl: string): string | null {
  const groups = new Map<string, string[]>();
  let value = "";
  for (const { url, destination, mode, credentials, accept } of learned.slice(0, MOST_LEARNED)) {
    const common = [destination, mode, credentials, accept];
    const key = JSON.stringify(common);
    groups.set(key, [...(groups.get(key) ?? common), withoutOrigin(url, new URL(documentUrl).origin)]);
    const longer = JSON.stringify([...groups.values()]);
    if (longer.length > LEARNED_LENGTH) break;
    value = longer;
  }
  return value === "" ? null : value;
}

/** @returns none where nothing can be read. */
export function readLearned(value: string, documentUrl: string): readonly LearnedRequest[] {
  if (value.length > LEARNED_LENGTH) return [];
  try {
    const groups: unknown = JSON.parse(value);
    const learned = Array.isArray(groups) ? groups.flatMap((group) => toRequests(group, documentUrl)) : [];
    return learned.length <= MOST_LEARNED && learned.every(isLearned) ? learned : [];
  } catch {
    return [];
  }
}

/** @throws TypeError for what has no such shape. */
function toRequests(group: unknown, documentUrl: string): LearnedRequest[] {
  if (!Array.isArray(group) || !group.every((text) => typeof text === "string")) throw new TypeError("No requests");
  const [destination, mode, credentials, accept = "", ...urls] = group;
  return urls.map((url) => ({
    url: new URL(url, documentUrl).href,
    // `isLearned` has the last word.
    destination: destination as Destination,
    mode: mode as RequestMode,
    credentials: credentials as CredentialsMode,
    accept,
  }));
}

/** Whether it may be learned: scripts and style sheets ask so, and a push can answer it. */
export function isLearned({ url, destination, mode, credentials, accept }: LearnedRequest): boolean {
  const isHow = DESTINATIONS.has(destination) && MODES.has(mode) && CREDENTIALS.has(credentials);
  return isHow && ACCEPT.test(accept) && /^https?:/.test(url);
}

function withoutOrigin(url: string, origin: string): string {
  const path = url.slice(origin.length);
  // A path that begins with two slashes would name a host.
  return url.startsWith(`${origin}/`) && !path.startsWith("//") ? path : url;
}

// Fields that the edge adds to a response for the phone's store, and for no page: section 5.2.

/** Seconds that the response was old when the edge got it, where its own fields do not say so. */
export const HIDDEN_AGE = "ropeway-age";
/** The validators of a response of another origin, where its page is not shown them. */
export const HIDDEN_ETAG = "ropeway-etag";
export const HIDDEN_LAST_MODIFIED = "ropeway-last-modified";
/** Serialized origins whose responses in the exchange, of redirects too, said to empty their cache. */
export const CLEARED_ORIGINS = "ropeway-cleared";
/** "hit" where the edge's shared cache had the response, or a part of getting it. */
export const SHARED_CACHE = "ropeway-shared-cache";

export function clearedField(origins: ReadonlySet<string>): HeaderField[] {
  return origins.size === 0 ? [] : [[CLEARED_ORIGINS, [...origins].join(" ")]];
}

export function isStoreNote([name]: HeaderField): boolean {
  return name.startsWith("ropeway-");
}
