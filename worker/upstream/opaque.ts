/**
 * Lets in, or not, what a `no-cors` request got of another origin: whole responses, and ranges of audio and video.
 */

import { BoundedMap } from "../../shared/bounded-map.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { isSameOrigin } from "../../shared/web/origin.ts";
import { denied } from "./cors.ts";
import { type ChunkReader, decideOnOpening } from "./response-body.ts";
import { siteOf } from "./site.ts";

interface OpaqueResponse {
  readonly head: RequestHead;
  /** URL of the response. */
  readonly url: URL;
  readonly response: BlockableHead;
  /** The tunnel goes on with what it was given before. */
  readonly isContinuation: boolean;
  readonly known: KnownMedia;
  /** Asks for the first bytes of the same URL; null where those are not to be had. */
  readonly fetchStart: () => Promise<{ readonly response: BlockableHead; readonly body: ChunkReader } | null>;
}

export interface Admission {
  readonly verdict: Verdict;
  /** From its first byte on. */
  readonly body: ChunkReader;
}

/** Takes ownership of `body`. */
export async function admit(opaque: OpaqueResponse, body: ChunkReader): Promise<Admission> {
  const { head, url, response, isContinuation, known } = opaque;
  const isPart = response.status === 206;
  if (isPart && isContinuation) return { verdict: "allowed", body };
  const first = isPart ? firstByte(response) : 0;
  const mayBePart = first !== null && (head.destination === "audio" || head.destination === "video");
  if (isPart && !mayBePart) return { verdict: "blocked", body };
  if (first !== 0) return { verdict: (await continuesMedia(opaque)) ? "allowed" : "blocked", body };
  const opened = await decideOnOpening(body, responseJudge(response));
  const verdict = opened.decision ?? "blocked";
  if (verdict === "media") known.add(head, url);
  return { verdict: isPart && verdict === "public" ? "blocked" : verdict, body: opened.body };
}

async function continuesMedia({ head, url, response, known, fetchStart }: OpaqueResponse): Promise<boolean> {
  if (!isRangeable(response)) return false;
  if (known.has(head, url)) return true;
  const start = await fetchStart();
  if (start === null) return false;
  const { decision, body } = await decideOnOpening(start.body, responseJudge(start.response));
  await body.cancel();
  if (decision === "media") known.add(head, url);
  return decision === "media";
}

/** @returns null where the field does not say. */
export function firstByte({ headers }: BlockableHead): number | null {
  const [, first] = /^\s*bytes\s+(\d{1,15})-/i.exec(headers.get("content-range") ?? "") ?? [];
  return first === undefined ? null : Number(first);
}

// Opaque response blocking (Fetch section 4.6, https://github.com/annevk/orb): which `no-cors` responses of other
// origins a page may have. A slot can read all that it gets, where a browser would keep it in a process of its own, so
// where the standard runs a script's parser this is stricter: see "public".

/**
 * Bytes: of another origin's response, looked at before any of it goes to the phone; as opaque response blocking says.
 */
export const SNIFFED_BYTES = 1024;

/**
 * "media": audio or video, of which ranges may follow. "public": may be a script, and may be anything that is text. It is
 * for the page only as everybody gets it, without cookies.
 */
type Verdict = "media" | "allowed" | "public" | "blocked";

interface BlockableHead {
  readonly status: number;
  readonly headers: Headers;
}

/** Whether ranges of it may be audio or video, for all that its type says. */
function isRangeable({ headers }: BlockableHead): boolean {
  const type = typeClass(headers.get("content-type"));
  return type !== "never" && type !== "data";
}

/**
 * Judges a response from its first byte on.
 *
 * @returns the verdict for its first bytes; null where there must be more of them, of which `SNIFFED_BYTES` or the
 *   whole are always enough.
 */
export function responseJudge({
  status,
  headers,
}: BlockableHead): (bytes: Uint8Array, isWhole: boolean) => Verdict | null {
  const type = typeClass(headers.get("content-type"));
  const isNosniff = headers.get("x-content-type-options")?.split(",", 1)[0]?.trim().toLowerCase() === "nosniff";
  const isOk = status >= 200 && status <= 299;
  return (bytes, isWhole) => {
    if (type === "never" || (isNosniff && (type === "data" || type === "plain"))) return "blocked";
    const head = bytes.subarray(0, SNIFFED_BYTES);
    const signature = signatureOf(head);
    if (signature !== null) return signature === "media" ? "media" : "allowed";
    // Browsers take an error for one whatever came with it, but for images.
    if (!isOk && type !== "svg") return "blocked";
    if (isWhole && head.length === 0) return "allowed";
    if (!isWhole && head.length < SNIFFED_BYTES) return null;
    if (isBinary(head)) return ofBinary(type, head);
    return isNosniff && (type === "other" || type === "image-or-media") ? "blocked" : ofText(type, sniffText(head));
  };
}

function ofBinary(type: TypeClass, head: Uint8Array): Verdict {
  if (type === "image-or-media") return "media";
  if (type === "parts") return "public";
  // Old scripts and style sheets may hold anything in their comments.
  return type === "script" || type === "style" ? ofText(type, sniffText(head)) : "blocked";
}

function ofText(type: TypeClass, { kind, start }: SniffedText): Verdict {
  switch (type) {
    case "svg":
      return start.startsWith("<") && !/^<(?:!doctype\s+html|html)\b/i.test(start) ? "allowed" : "blocked";
    case "style":
      // People put <style> around style sheets, and browsers pass over it.
      return (kind === "markup" && !/^<style\b/i.test(start)) || kind === "json" ? "blocked" : "allowed";
    case "script":
      return kind === "markup" || kind === "json" ? "blocked" : "allowed";
    case "data":
      return kind === "script" ? "public" : "blocked";
    case "playlist":
      return kind === "playlist" ? "public" : "blocked";
    case "parts":
      return "public";
    case "image-or-media":
    case "never":
      return kind === "playlist" && type === "image-or-media" ? "public" : "blocked";
    case "plain":
    case "other":
      return kind === "markup" || kind === "json" || kind === "array" ? "blocked" : "public";
  }
}

// Cross-Origin-Resource-Policy: what an origin lets other origins embed at all (Fetch section 3.7).

/**
 * Cross-origin resource policy check of a response to a `no-cors` request. Documents have no embedder policy here:
 * the phone knows which are isolated.
 *
 * @param origin serialized, of who asks
 * @throws RopewayError CORS_DENIED
 */
export function checkResourcePolicy(headers: Headers, url: URL, origin: string | null): void {
  const policy = headers.get("cross-origin-resource-policy")?.trim();
  if (policy !== "same-origin" && policy !== "same-site") return;
  if (isSameOrigin(origin, url.origin)) return;
  if (policy === "same-site" && isSchemelesslySameSite(origin, url) && !isDowngrade(origin, url)) return;
  throw denied(url, `its resource policy is ${policy}`);
}

function isSchemelesslySameSite(origin: string | null, url: URL): boolean {
  const asker = URL.parse(origin ?? "");
  if (asker === null) return false;
  asker.protocol = url.protocol;
  const site = siteOf(asker.href);
  return site !== null && site === siteOf(url.href);
}

/** A response over https: is not for a page in clear. */
function isDowngrade(origin: string | null, url: URL): boolean {
  return url.protocol === "https:" && origin?.startsWith("https:") !== true;
}

/** Addresses of other origins known to hold audio or video; one that was dropped costs a request more to seek in. */
const KNOWN_MEDIA = 256;
/** Characters; a longer one is looked at again. */
const LONGEST_ADDRESS = 16_384;

type Asker = Pick<RequestHead, "origin" | "topLevelOrigin" | "credentials">;

/**
 * URLs that hold audio or video: a later range of them does not tell by itself (Fetch section 4.6, no-cors media request
 * state). Bounded, in memory: what was forgotten is looked at again.
 */
export class KnownMedia {
  /** Least recently used first. */
  readonly #keys = new BoundedMap<string, true>(KNOWN_MEDIA);

  has(asker: Asker, url: URL): boolean {
    return this.#keys.use(keyOf(asker, url)) === true;
  }

  add(asker: Asker, url: URL): void {
    if (url.href.length <= LONGEST_ADDRESS) this.#keys.set(keyOf(asker, url), true);
  }
}

function keyOf({ origin, topLevelOrigin, credentials }: Asker, url: URL): string {
  return [topLevelOrigin, origin, credentials, url.href].join(" ");
}

// Classes of MIME types as opaque response blocking has them (https://github.com/annevk/orb).

type TypeClass =
  | "script"
  | "style"
  | "svg"
  /** HTML, JSON, XML. */
  | "data"
  /** A response that no element loads, whatever it holds. */
  | "never"
  /** Media playlists, which are text. */
  | "playlist"
  /** A stream of parts. */
  | "parts"
  /** Declared as images, audio or video. */
  | "image-or-media"
  | "plain"
  | "other";

const SCRIPT =
  /^(?:(?:application|text)\/(?:x-)?(?:ecmascript|javascript)|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;
const DATA = /^(?:text\/(?:html|json|xml)|application\/(?:json|xml)|[^/]+\/[^/]+\+(?:json|xml))$/;
const PLAYLIST = /^(?:application\/(?:vnd\.apple\.mpegurl|x-mpegurl)|audio\/(?:x-)?mpegurl)$/;
const NEVER = new RegExp(
  `^(?:${[
    "application/(?:dash\\+xml|(?:x-)?gzip|zip|pdf|x-protobuf(?:fer)?|msexcel|mspowerpoint|msword(?:-template)?)",
    "application/vnd\\.(?:ces-quick.*|ms-.*|msword|openxmlformats-.*|presentation-openxmlm?|(?:spreadsheet|wordprocessing)-openxml)",
    "multipart/(?:byteranges|signed)",
    "text/(?:event-stream|csv|vtt)",
  ].join("|")})$`,
);

/** @param contentType value of the field, lines joined; null or no type for "other". */
export function typeClass(contentType: string | null): TypeClass {
  const type = essence(contentType);
  if (type === "image/svg+xml") return "svg";
  if (type === "text/css") return "style";
  if (type === "text/plain") return "plain";
  if (type === "multipart/x-mixed-replace") return "parts";
  if (SCRIPT.test(type)) return "script";
  if (PLAYLIST.test(type)) return "playlist";
  if (NEVER.test(type)) return "never";
  if (DATA.test(type)) return "data";
  return /^(?:image|audio|video)\//.test(type) || type === "application/ogg" ? "image-or-media" : "other";
}

/** Extract a MIME type (Fetch section 2.2.6): of several lines the last that holds one. */
function essence(contentType: string | null): string {
  const types = (contentType ?? "").split(",").map((line) => (line.split(";", 1)[0] ?? "").trim().toLowerCase());
  return types.findLast((type) => /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'+.^`|~-]+$/.test(type)) ?? "";
}

// Images, audio and video by their first bytes: the patterns of MIME Sniffing section 6, and what browsers show besides.
// None of these is text.

type Signature = "image" | "media";

/** Hexadecimal, `..` for any byte. */
const PATTERNS: readonly (readonly [pattern: string, signature: Signature])[] = [
  // PNG, JPEG, GIF, BMP, ICO and CUR, WebP, TIFF, JPEG XL.
  ["89504e470d0a1a0a", "image"],
  ["ffd8ff", "image"],
  ["474946383761", "image"],
  ["474946383961", "image"],
  ["424d........00000000", "image"],
  ["00000100..00", "image"],
  ["00000200..00", "image"],
  ["52494646........57454250", "image"],
  ["49492a00", "image"],
  ["4d4d002a", "image"],
  ["ff0a", "image"],
  ["0000000c4a584c20", "image"],
  // WebM and Matroska, Ogg, WAVE, AVI, AIFF, FLAC, MIDI, ID3, sound of Sun.
  ["1a45dfa3", "media"],
  ["4f67675300", "media"],
  ["52494646........57415645", "media"],
  ["52494646........41564920", "media"],
  ["464f524d........41494646", "media"],
  ["664c614300", "media"],
  ["4d54686400000006", "media"],
  ["49443302", "media"],
  ["49443303", "media"],
  ["49443304", "media"],
  ["2e736e6400", "media"],
];

const FORMATS = PATTERNS.map(([pattern, signature]) => ({
  bytes: (pattern.match(/../g) ?? []).map((pair) => (pair === ".." ? null : Number.parseInt(pair, 16))),
  signature,
}));

/** Boxes that ISO base media files begin with (ISO/IEC 14496-12), AVIF and HEIC among them. */
const BOXES = /^(?:ftyp|styp|moov|moof|mdat|sidx|free|skip|wide)$/;
const IMAGE_BRANDS = /^(?:avif|avis|heic|heix|mif1|msf1)$/;
const TRANSPORT_PACKET = 188;

/** @returns null for what is neither, or too short to tell. */
function signatureOf(bytes: Uint8Array): Signature | null {
  const format = FORMATS.find((known) => known.bytes.every((byte, at) => byte === null || byte === bytes[at]));
  if (format !== undefined) return format.signature;
  // The size of the box comes first, and is less than the white space that text may begin with.
  const isBoxed = (bytes[0] ?? 0xff) < 0x09 && BOXES.test(ascii(bytes, 4));
  if (isBoxed) return IMAGE_BRANDS.test(ascii(bytes, 8)) ? "image" : "media";
  return isMpegAudio(bytes) || isTransportStream(bytes) ? "media" : null;
}

function ascii(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/** A frame's header without tags before it: MPEG audio, or AAC in ADTS. Not the byte order mark of UTF-16. */
function isMpegAudio(bytes: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0xff] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || second === 0xfe) return false;
  const isAdts = (second & 0xf6) === 0xf0;
  const isLayered = (second & 0x06) !== 0 && (second & 0x18) !== 0x08;
  return isAdts || (isLayered && third >> 4 !== 0xf && (third & 0x0c) !== 0x0c);
}

function isTransportStream(bytes: Uint8Array): boolean {
  const isInStep = [0, TRANSPORT_PACKET, 2 * TRANSPORT_PACKET].every((at) => bytes[at] === 0x47);
  return isInStep && isBinary(bytes);
}

// Kind of a text by its first bytes, where that decides which page may have it.

/**
 * "json" also for what JSON is guarded by against being run as a script, "script": begins with what a script could, and
 * JSON, HTML and XML could not.
 */
type TextKind = "markup" | "json" | "playlist" | "array" | "script" | "unknown";

/** Leading white space and comments, as in HTML, XML and style sheets. */
const LEAD = /^(?:\s|<!--[\s\S]*?-->)*/;
const GUARDS = /^(?:\)\]\}'|\{\}\s*&&|for\s*\(\s*;\s*;\s*\)|while\s*\(\s*(?:1|true)\s*\))/;

interface SniffedText {
  readonly kind: TextKind;
  /** From the first character that counts. */
  readonly start: string;
}

/** `bytes`: the first of it, at most `SNIFFED_BYTES`. */
function sniffText(bytes: Uint8Array): SniffedText {
  const text = decode(bytes);
  const start = text.slice(LEAD.exec(text)?.[0].length ?? 0);
  return { kind: kindOf(start), start };
}

/** Whether it has bytes that no text has (MIME Sniffing section 3, binary data byte); UTF-16 says so by its mark. */
function isBinary(bytes: Uint8Array): boolean {
  if (utf16(bytes) !== null) return false;
  return bytes.some((byte) => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d && byte !== 0x0b) && byte !== 0x1b);
}

function kindOf(start: string): TextKind {
  // A comment that goes on is markup's, or of a script's first line.
  if (/^<(?!!--)[a-z!?/]/i.test(start)) return "markup";
  if (GUARDS.test(start)) return "json";
  if (start.startsWith("#EXTM3U")) return "playlist";
  // A key without an end is one that is longer than what is looked at. `{"use strict"; …}` is a script.
  if (/^\{\s*"(?:[^"\\]|\\[\s\S])*(?:"\s*(?::|$)|$)/.test(start)) return "json";
  if (/^\[\s*(?:[[{"\d\]-]|true|false|null|$)/.test(start)) return "array";
  if (/^(?:true|false|null)\s*$/.test(start)) return "json";
  return /^[a-z_$/;(!~+]/i.test(start) ? "script" : "unknown";
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder(utf16(bytes) ?? "utf-8").decode(bytes);
}

function utf16([first, second]: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}
