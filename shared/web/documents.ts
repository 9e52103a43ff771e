/**
 * Documents: how a browser shows a response that answers a navigation, by what the edge says of it or its fields alone, and
 * its bytes as text in which markup can be read and changed without another byte of it becoming a different one.
 */
import { byteStringToBytes, bytesToByteString } from "../base-encodings.ts";
import { headerValue } from "../http/head-fields.ts";
import type { HeaderField, HeaderList } from "../http/heads.ts";

/** "xml": by the elements that are in it. */
export type DocumentKind = "html" | "xml" | "image" | "text" | "media" | "download" | "none";

export interface ShownDocument {
  readonly kind: DocumentKind;
  /** The value of `document.contentType`. */
  readonly essence: string;
  /** As the Encoding standard calls it, in lower case; null where nothing declares one, and the browser guesses. */
  readonly encoding: string | null;
}

/** Field of a response to a navigation, where the edge knows more than its other fields say (PROTOCOL.md section 5.2). */
export const DOCUMENT_NOTE = "ropeway-document";

export function documentNote({ kind, essence, encoding }: ShownDocument): HeaderField {
  return [DOCUMENT_NOTE, `${kind} ${essence} ${encoding ?? ""}`.trim()];
}

/** The name of the encoding with this label; null for none, and for what cannot be decoded. */
export function encodingOf(label: string | null | undefined): string | null {
  try {
    return label == null ? null : new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

const NOTE = /^(html|xml|image|text|media|download) (\S+)(?: (\S+))?$/;
const IMAGE = /^image\/(?:avif|bmp|gif|jpe?g|png|webp|x-icon|vnd\.microsoft\.icon|apng)$/;
const TEXT = /^(?:text\/|application\/(?:json|(?:x-)?javascript|(?:rss|atom)\+xml)$)|\+json$/;

/** @param noted by the edge; left out: by the fields alone, of which an edge that reads more tells where it differs. */
export function shownDocument(
  status: number,
  headers: HeaderList,
  noted = headerValue(headers, DOCUMENT_NOTE),
): ShownDocument {
  const [field = "", parameters] = (headerValue(headers, "content-type") ?? "").split(/;(.*)/s, 2);
  const essence = field.trim().toLowerCase();
  const charset = /^\s*charset="?([^\s";]+)/i.exec(parameters ?? "")?.[1];
  const said = { kind: kindOf(essence), essence, encoding: encodingOf(charset) };
  if (status === 204 || status === 205) return { ...said, kind: "none" };
  if (/^\s*attachment/i.test(headerValue(headers, "content-disposition") ?? "")) return { ...said, kind: "download" };
  const [, kind, sniffed = "", encoding] = NOTE.exec(noted ?? "") ?? [];
  return kind === undefined ? said : { kind: kind as DocumentKind, essence: sniffed, encoding: encodingOf(encoding) };
}

function kindOf(essence: string): DocumentKind {
  if (essence === "" || essence === "text/html") return "html";
  if (/^(?:application\/(?:xhtml\+)?xml|text\/xml|image\/svg\+xml)$/.test(essence)) return "xml";
  if (IMAGE.test(essence)) return "image";
  if (/^(?:audio|video)\//.test(essence)) return "media";
  return TEXT.test(essence) ? "text" : "download";
}

export function isJson(essence: string): boolean {
  return /[/+]json$/.test(essence);
}

/** Values of attributes, where their document's text is none of characters. References are left as they are. */
export interface MarkupValues {
  /** As characters. */
  decode(written: string): string;
  /** The same of an address: bytes in its query become percent-encoded, as by a browser (URL section 4.4). */
  decodeAddress(written: string): string;
  /** In characters that the document can have. */
  encode(value: string): string;
}

/** The encoding that a byte order mark says, which goes before all else (HTML section 13.2.3.2). */
export function markedEncoding([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : null;
}

/** Encodings in which a byte that looks like markup may be none. */
const RECODED = /^(?:utf-16|iso-2022-jp)/;

/** The encoding that `DocumentBytes` writes what it has read in this one. */
export function writtenEncoding(encoding: string | null): string | null {
  return encoding !== null && RECODED.test(encoding) ? "utf-8" : encoding;
}

/**
 * A document on its way: from bytes to text that has its markup, and back to the same bytes where nothing was changed.
 * In UTF-8 that is its text; UTF-16 and ISO-2022-JP become UTF-8. In other encodings, and those that nobody has told, a
 * character stands for a byte. A byte that looks like ASCII and is part of a longer character is marked: `<`, `>`, `&`, `=`,
 * quotes and space never are one, `]` and `\` may be.
 */
export class DocumentBytes {
  readonly #encoding: string | null;
  readonly #isPlain: boolean;
  #start: Uint8Array = new Uint8Array(0);
  #codec: Codec | null = null;
  readonly values: MarkupValues = {
    decode: (written) => this.#codec?.decode?.(written) ?? written,
    decodeAddress: (written) => this.#codec?.decode?.(withEncodedQuery(written)) ?? written,
    encode: (value) => (this.#codec?.decode === undefined ? value : asReferences(value)),
  };

  /**
   * @param encoding as the Encoding standard calls it, in lower case; null where nobody knows.
   * @param isPlain text: before it something else will stand, and so no byte order mark is part of it.
   */
  constructor(encoding: string | null, isPlain: boolean) {
    this.#encoding = encoding;
    this.#isPlain = isPlain;
  }

  /** @param chunk undefined at the end. @returns "" as long as there may be a byte order mark. */
  read(chunk: Uint8Array | undefined): string {
    if (this.#codec !== null) return this.#codec.read(chunk ?? new Uint8Array(0), chunk === undefined);
    const start = new Uint8Array(this.#start.length + (chunk?.length ?? 0));
    start.set(this.#start);
    start.set(chunk ?? [], this.#start.length);
    if (chunk !== undefined && start.length < 3) {
      this.#start = start;
      return "";
    }
    this.#start = new Uint8Array(0);
    this.#codec = codecOf(markedEncoding(start) ?? this.#encoding, this.#isPlain);
    return this.#codec.read(start, chunk === undefined);
  }

  /** After the first piece was read. */
  write(text: string): Uint8Array<ArrayBuffer> {
    return (this.#codec ?? asCharacters("utf-8", this.#isPlain)).write(text);
  }
}

interface Codec {
  read(bytes: Uint8Array, isLast: boolean): string;
  write(text: string): Uint8Array<ArrayBuffer>;
  /** A part of the text as characters; left out where it has them. */
  readonly decode?: (written: string) => string;
}

function codecOf(encoding: string | null, isPlain: boolean): Codec {
  if (encoding !== null && writtenEncoding(encoding) === "utf-8") return asCharacters(encoding, isPlain);
  const mark = markTrails(encoding ?? "");
  return {
    read: (bytes) => mark(bytes),
    write: byteStringToBytes,
    decode: (written) => decodeValue(written, encoding),
  };
}

function asCharacters(encoding: string, isPlain: boolean): Codec {
  const isRecoded = encoding !== "utf-8";
  const decoder = new TextDecoder(encoding, { fatal: false, ignoreBOM: !isRecoded && !isPlain });
  const encoder = new TextEncoder();
  // The mark goes before whatever a field says.
  let held = isRecoded ? "\ufeff" : "";
  return {
    read: (bytes, isLast) => decoder.decode(bytes, { stream: !isLast }),
    write(text) {
      // A character of two may have been cut.
      const [whole, high] = [held + text, /[\ud800-\udbff]$/.exec(text)?.[0] ?? ""];
      held = high;
      return encoder.encode(whole.slice(0, whole.length - high.length)) as Uint8Array<ArrayBuffer>;
    },
  };
}

/** Of a character that stands for a byte of a longer one. */
const MARK = 0x100;
/** Characters to a call: arguments are few. */
const PART = 8 * 1024;

/** A character for each. */
function charactersOf(codes: Uint16Array): string {
  let text = "";
  for (let at = 0; at < codes.length; at += PART) text += String.fromCharCode(...codes.subarray(at, at + PART));
  return text;
}

function asReferences(value: string): string {
  return value.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** To the bytes that the browser would come to, whatever it takes the encoding for. */
function withEncodedQuery(written: string): string {
  return written.replace(/\?[^\s#]*/g, (query) =>
    query.replace(/[^\0-\x7f]/g, (character) => {
      const byte = character.charCodeAt(0) & 0xff;
      return byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`;
    }),
  );
}

function decodeValue(written: string, encoding: string | null): string {
  return /[^\0-\x7f]/.test(written)
    ? new TextDecoder(encoding ?? "windows-1252").decode(byteStringToBytes(written))
    : written;
}

/** Of two bytes, the second may look like ASCII, behind one of these. Four bytes (GB 18030) read as two of a byte and a digit. */
const LEADS: readonly (readonly [encoding: RegExp, lead: RegExp])[] = [
  [/^shift/, /[\x81-\x9f\xe0-\xfc]/],
  [/^(?:big5|euc-kr|gb)/, /[\x81-\xfe]/],
];

function markTrails(encoding: string): (bytes: Uint8Array) => string {
  const [, leads] = LEADS.find(([name]) => name.test(encoding)) ?? [];
  if (leads === undefined) return (bytes) => bytesToByteString(bytes);
  const isLead = Array.from({ length: 0x100 }, (_, byte) => leads.test(String.fromCharCode(byte)));
  let isBehind = false;
  return (bytes) => {
    const codes = new Uint16Array(bytes);
    for (const [at, byte] of bytes.entries()) {
      if (isBehind && byte >= 0x40 && byte < 0x7f) codes[at] = MARK + byte;
      isBehind = !isBehind && isLead[byte] === true;
    }
    return charactersOf(codes);
  };
}
