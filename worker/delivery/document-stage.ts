/**
 * The first stage of `deliver`: how a browser shows a document, and in which encoding it is, by its type and its first bytes
 * (MIME Sniffing, HTML section 13.2.3.2). The phone is told where that is more than the fields say.
 */
import { bytesToByteString } from "../../shared/base-encodings.ts";
import { setTimer as realTimer, type SetTimer } from "../../shared/clock.ts";
import { headerValue, headerValues } from "../../shared/http/head-fields.ts";
import type { HeaderList } from "../../shared/http/heads.ts";
import { SUFFIX_NOTE } from "../../shared/web/cookie.ts";
import {
  type DocumentKind,
  documentNote,
  encodingOf,
  isJson,
  markedEncoding,
  type ShownDocument,
  shownDocument,
} from "../../shared/web/documents.ts";
import { type Attribute, tagEnd } from "../../shared/web/html-tokens.ts";
import { isRedirectStatus } from "../../shared/web/origin.ts";
import { concat } from "../../shared/wire/frame.ts";
import { suffixLabels } from "../upstream/site.ts";
import { bodyOf, type ReadAhead } from "./references.ts";
import type { Stage } from "./stage.ts";

/** Milliseconds that a head waits for them, as HTML section 13.2.3.2 has it for the prescan: pages may come slowly. */
const START_TIME = 500;

/** Of `readStart`: resolves with the first bytes of the body, once they are enough or no more come. */
type IsEnough = (start: Uint8Array) => boolean;

/** Says how a document is shown, and which domains its scripts may set cookies for. What comes of a download that goes on was said before. */
export const describe: Stage = async (response, { request, setTimer = realTimer }) => {
  const { head, body } = response;
  const isWhole = head.continues !== true && head.status !== 206 && !isRedirectStatus(head.status);
  if (request.head.mode !== "navigate" || !isWhole) return response;
  const start = new BodyStart(body, setTimer);
  const document = await documentOf(head.status, head.headers, (isEnough) => start.read(isEnough));
  const alone = shownDocument(head.status, head.headers, "");
  const isTold = (["kind", "essence", "encoding"] as const).every((name) => document[name] === alone[name]);
  const notes = isTold ? [] : [documentNote(document)];
  const suffix = suffixLabels(new URL(head.url).hostname);
  if (suffix > 1) notes.push([SUFFIX_NOTE, String(suffix)]);
  return { ...response, head: { ...head, headers: [...head.headers, ...notes] }, body: start.body };
};

/** A body whose first bytes may be read ahead. */
class BodyStart {
  readonly #source: ReadableStream<Uint8Array>;
  readonly #setTimer: SetTimer;
  #read: ReadAhead | null = null;
  #isLate = false;

  constructor(source: ReadableStream<Uint8Array>, setTimer: SetTimer) {
    this.#source = source;
    this.#setTimer = setTimer;
  }

  async read(isEnough: IsEnough): Promise<Uint8Array> {
    this.#read ??= { chunks: [], rest: { reader: this.#source.getReader(), pending: null } };
    const { chunks, rest } = this.#read;
    const late = Promise.withResolvers<null>();
    const cancelTimer = this.#setTimer(() => late.resolve(null), START_TIME);
    try {
      for (;;) {
        const start = concat(...chunks);
        if (this.#isLate || rest === "whole" || this.#read.rest === "whole" || isEnough(start)) return start;
        const pending = rest.reader.read();
        // A read that fails here fails again for the next reader.
        const read = await Promise.race([pending.catch(() => null), late.promise]);
        this.#isLate = read === null;
        if (read === null) this.#read = { chunks, rest: { reader: rest.reader, pending } };
        if (read?.done) this.#read = { chunks, rest: "whole" };
        if (read === null || read.done) return start;
        chunks.push(read.value.slice());
      }
    } finally {
      cancelTimer();
    }
  }

  /** All of it. */
  get body(): ReadableStream<Uint8Array> {
    return this.#read === null ? this.#source : bodyOf(this.#read, () => {});
  }
}

interface MediaType {
  /** Lower case; "" where no field names one. */
  readonly essence: string;
  /** As the field says it, or null. */
  readonly charset: string | null;
}

const ESSENCE = /^\s*([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)\s*(?:;|$)/;
const PARAMETER = /;\s*([^\s;=]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;]*))/g;

/** "Extract a MIME type" (Fetch section 3.6): of several, the last that says anything. */
export function mediaTypeOf(headers: HeaderList): MediaType {
  let type: MediaType = { essence: "", charset: null };
  const lines = headerValues(headers, "content-type").join(",");
  for (const [value] of lines.matchAll(/(?:"(?:\\.|[^"\\])*"?|[^",])+/g)) {
    const essence = ESSENCE.exec(value)?.[1]?.toLowerCase();
    if (essence === undefined || essence === "*/*") continue;
    let charset = essence === type.essence ? type.charset : null;
    for (const [, name, quoted, token] of value.matchAll(PARAMETER)) {
      if (name?.toLowerCase() !== "charset") continue;
      charset = quoted?.replace(/\\(.)/g, "$1") ?? token ?? "";
      break;
    }
    type = { essence, charset };
  }
  return type;
}

const XML = /^(?:application\/(?:xhtml\+)?xml|text\/(?:xml|xsl)|image\/svg\+xml)$/;
const IMAGE = /^image\/(?:avif|bmp|gif|jpe?g|jxl|pjpeg|(?:x-|a)?png|webp|x-icon|x-xbitmap|vnd\.microsoft\.icon)$/;
const MEDIA =
  /^(?:audio\/(?:aac|flac|(?:x-)?mp3|mp4|mpeg|(?:x-)?mpegurl|ogg|(?:x-)?wav|webm|x-m4a)|video\/(?:3gpp|(?:x-)?matroska|mp4|ogg|webm|x-m4v)|application\/(?:ogg|x-mpegurl|vnd\.apple\.mpegurl))$/;
/** Text that other programs are for, as Chromium sees it. */
const SAVED =
  /^text\/(?:(?:x-)?v?calendar|(?:x-)?vcard|x-vcf|directory|ldif|(?:x-)?qif|(?:x-)?csv|comma-separated-values|tab-separated-values|tsv|rtf|ofx|pdf|vnd\.sun\.j2me\.app-descriptor|x-ms-(?:contact|iqy|odc|rqy))$/;
const TEXT = /^(?:text\/.*|application\/(?:(?:x-)?(?:java|ecma)script|json|[^/]+\+json))$/;
/** Chromium shows these as what they are made of, and not as what they say. */
const FEED = /^application\/(?:rss|atom)\+xml$/;
const UNKNOWN = /^(?:|(?:unknown|application)\/unknown)$/;

/** @param readStart called where the fields alone do not say. */
export async function documentOf(
  status: number,
  headers: HeaderList,
  readStart: (isEnough: IsEnough) => Promise<Uint8Array>,
): Promise<ShownDocument> {
  const type = mediaTypeOf(headers);
  const shown = await typeOf(status, headers, type.essence, () => readStart(({ length }) => length >= SNIFFED_BYTES));
  const { kind, essence } = shown;
  if (kind !== "html" && kind !== "xml" && kind !== "text") return { ...shown, encoding: null };
  const charset = encodingOf(type.charset) ?? (isJson(essence) ? "utf-8" : null);
  // A byte order mark in markup the browser finds itself.
  if (charset !== null && kind !== "text") return { kind, essence, encoding: charset };
  const start = await readStart((bytes) => isDecided(kind, charset, bytes));
  return { kind, essence, encoding: declaredEncoding(kind, charset, start) };
}

async function typeOf(
  status: number,
  headers: HeaderList,
  essence: string,
  readStart: () => Promise<Uint8Array>,
): Promise<Omit<ShownDocument, "encoding">> {
  if (status === 204 || status === 205) return { kind: "none", essence };
  if (/^\s*attachment/i.test(headerValue(headers, "content-disposition") ?? "")) return { kind: "download", essence };
  const isUnknown = UNKNOWN.test(essence);
  const isToBeBelieved = /^\s*nosniff\s*(?:,|$)/i.test(headerValue(headers, "x-content-type-options") ?? "");
  let type = FEED.test(essence) ? "text/plain" : essence;
  if (isUnknown && isToBeBelieved) type = essence === "" ? "text/plain" : "application/octet-stream";
  else if (isUnknown || (essence === "text/plain" && !isToBeBelieved)) type = sniffType(await readStart(), isUnknown);
  return { kind: kindOf(type), essence: type };
}

function kindOf(essence: string): DocumentKind {
  if (essence === "text/html") return "html";
  if (XML.test(essence)) return "xml";
  if (IMAGE.test(essence)) return "image";
  if (MEDIA.test(essence)) return "media";
  return TEXT.test(essence) && !SAVED.test(essence) ? "text" : "download";
}

/** "Resource header" (MIME Sniffing section 5.2). */
const SNIFFED_BYTES = 1445;

const TAGS =
  /^[\t\n\f\r ]*<(?:!doctype html|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)(?=[ >])|!--)/i;

const startsWith =
  (text: string, at = 0) =>
  (start: string) =>
    start.startsWith(text, at);

/** By their first bytes (MIME Sniffing sections 6 and 7.1), one character each. */
const PATTERNS: readonly (readonly [matches: (start: string) => boolean, type: string])[] = [
  [startsWith("%PDF-"), "application/pdf"],
  [startsWith("%!PS-Adobe-"), "application/postscript"],
  [startsWith("\0\0\x01\0"), "image/x-icon"],
  [startsWith("\0\0\x02\0"), "image/x-icon"],
  [startsWith("BM"), "image/bmp"],
  [startsWith("GIF87a"), "image/gif"],
  [startsWith("GIF89a"), "image/gif"],
  [startsWith("WEBPVP", 8), "image/webp"],
  [startsWith("\x89PNG\r\n\x1a\n"), "image/png"],
  [startsWith("\xff\xd8\xff"), "image/jpeg"],
  [startsWith("OggS\0"), "application/ogg"],
  [startsWith("WAVE", 8), "audio/wav"],
  [startsWith("ID3"), "audio/mpeg"],
  [startsWith("\x1aE\xdf\xa3"), "video/webm"],
  [startsWith("ftypavif", 4), "image/avif"],
  [startsWith("ftypmp4", 4), "video/mp4"],
  [startsWith("ftypisom", 4), "video/mp4"],
  [startsWith("\x1f\x8b\x08"), "application/gzip"],
  [startsWith("PK\x03\x04"), "application/zip"],
];
/** Binary data bytes (section 3). */
function isBinaryByte(byte: number): boolean {
  return byte < 0x20 && byte !== 0x1b && (byte < 0x09 || byte === 0x0b || byte > 0x0d);
}

/** @param mayBeMarkup where nothing says that it is plain text. */
function sniffType(bytes: Uint8Array, mayBeMarkup: boolean): string {
  const start = bytesToByteString(bytes.subarray(0, SNIFFED_BYTES));
  if (mayBeMarkup) {
    const text = start.replace(/^\xef\xbb\xbf/, "");
    if (TAGS.test(text)) return "text/html";
    if (/^[\t\n\f\r ]*<\?xml/.test(text)) return "text/xml";
  }
  const isBinary = markedEncoding(bytes) === null && bytes.subarray(0, SNIFFED_BYTES).some(isBinaryByte);
  if (mayBeMarkup || isBinary) {
    const [, type] = PATTERNS.find(([matches]) => matches(start)) ?? [];
    if (type !== undefined) return type;
  }
  return isBinary ? "application/octet-stream" : "text/plain";
}

// In which encoding a document is.

/** Bytes that are read for a declaration. Plain text has none. */
type DocumentForm = "html" | "xml" | "text";

/** How many bytes are looked through for a declaration (HTML section 13.2.3.2). */
const PRESCAN_BYTES = 1024;
const GREATER = 0x3e;
const SPACE = "\\t\\n\\f\\r ";

/**
 * The encoding that bytes, field and document name, in the order of HTML section 13.2.3.2 and XML 1.0 appendix F.
 *
 * @param charset the encoding that the field names, or null.
 * @param start first bytes, as many as there are up to `PRESCAN_BYTES`.
 * @returns lower case; null where nothing does, and the browser guesses.
 */
export function declaredEncoding(form: DocumentForm, charset: string | null, start: Uint8Array): string | null {
  const said = markedEncoding(start) ?? charset;
  if (said !== null || form === "text") return said;
  const text = bytesToByteString(start.subarray(0, PRESCAN_BYTES));
  const wide = /^(?:(<\0\?\0x\0)|\0<\0\?\0x)/.exec(text);
  if (wide !== null) return wide[1] === undefined ? "utf-16be" : "utf-16le";
  return form === "xml" ? (xmlEncoding(text) ?? "utf-8") : (metaEncoding(text) ?? xmlEncoding(text));
}

/** Whether more bytes would change nothing. */
function isDecided(form: DocumentForm, charset: string | null, start: Uint8Array): boolean {
  if (start.length >= PRESCAN_BYTES) return true;
  // Three bytes may be a byte order mark, which comes before what the field says.
  if (start.length < 3) return false;
  if (form === "text" || charset !== null || markedEncoding(start) !== null) return true;
  return form === "xml" ? start.includes(GREATER) : metaEncoding(bytesToByteString(start)) !== null;
}

/** "Get an XML encoding" (HTML section 13.2.3.2). */
function xmlEncoding(text: string): string | null {
  const [declaration = ""] = /^<\?xml[^>]*>/.exec(text) ?? [];
  const label = /encoding[\0- ]*=[\0- ]*(?:"([^"]*)"|'([^']*)')/.exec(declaration);
  const name = label?.[1] ?? label?.[2];
  return name === undefined || /[\0- ]/.test(name) ? null : readAsAscii(encodingOf(name));
}

/** A declaration that could be read as ASCII is in no UTF-16. */
function readAsAscii(encoding: string | null): string | null {
  if (encoding === "x-user-defined") return "windows-1252";
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}

const META = new RegExp(`<meta(?=[${SPACE}/])`, "iy");
const TAG = new RegExp(`</?[a-z][^${SPACE}>]*`, "iy");

/** "Prescan a byte stream to determine its encoding" (HTML section 13.2.3.2). What the end cuts off counts for nothing. */
function metaEncoding(text: string): string | null {
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    META.lastIndex = TAG.lastIndex = at;
    const isMeta = META.test(text);
    let end = at + 1;
    if (text.startsWith("<!--", at)) end = after(text, "-->", at + 2);
    else if (isMeta || TAG.test(text)) {
      const attributes: Attribute[] = [];
      end = tagEnd(text, isMeta ? META.lastIndex : TAG.lastIndex, attributes);
      const encoding = isMeta && end !== -1 ? encodingOfMeta(attributes) : null;
      if (encoding !== null) return encoding;
    } else if (/[!/?]/.test(text[at + 1] ?? "")) end = after(text, ">", at + 1);
    if (end === -1) return null;
    at = end;
  }
  return null;
}

/** Index after `mark`, or -1. */
function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

function encodingOfMeta(attributes: readonly Attribute[]): string | null {
  const value = (name: string) => attributes.find((attribute) => attribute.name === name)?.value;
  const charset = value("charset");
  if (charset !== undefined) return readAsAscii(encodingOf(charset));
  const isPragma = value("http-equiv")?.toLowerCase() === "content-type";
  return isPragma ? readAsAscii(encodingOf(labelIn(value("content") ?? ""))) : null;
}

/** HTML section 4.2.5.3, "extracting a character encoding from a meta element". */
function labelIn(content: string): string | undefined {
  const [, double, single, stray, bare] =
    new RegExp(`charset[${SPACE}]*=[${SPACE}]*(?:"([^"]*)"|'([^']*)'|(["'])|([^${SPACE};]*))`, "i").exec(content) ?? [];
  return stray === undefined ? (double ?? single ?? bare) : undefined;
}
