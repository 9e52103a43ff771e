/** Which encoding an HTML document is in: HTML section 13.2.3.2 as far as a streaming reader can know it. */

import { concat } from "../../../shared/wire/frame.ts";

/** How many bytes are looked through for a declaration (HTML section 13.2.3.2, step 5). */
const PRESCAN_BYTES = 1024;
const FALLBACK = "windows-1252";

/** A document's bytes as text, from when its encoding is known: a first chunk may be short, with a declaration in the next. */
export class DocumentDecoder {
  readonly #contentType: string;
  #start: Uint8Array = new Uint8Array(0);
  #decoder: TextDecoder | null = null;

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  /** @param chunk undefined at the end. */
  decode(chunk: Uint8Array | undefined): string {
    if (this.#decoder !== null) return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    if (chunk !== undefined) this.#start = concat(this.#start, chunk);
    if (chunk !== undefined && !isEnoughToSniff(this.#contentType, this.#start)) return "";
    this.#decoder = new TextDecoder(sniffCharset(this.#contentType, this.#start));
    return this.#decoder.decode(this.#start, { stream: chunk !== undefined });
  }
}

function isEnoughToSniff(contentType: string, start: Uint8Array): boolean {
  // Three bytes may be a byte order mark, which comes before what the field says.
  return start.length >= PRESCAN_BYTES || (start.length >= 3 && declaredIn(contentType, start) !== null);
}

/** @param start first bytes of the document. */
export function sniffCharset(contentType: string, start: Uint8Array): string {
  return declaredIn(contentType, start) ?? (isUtf8(start) ? "utf-8" : FALLBACK);
}

function declaredIn(contentType: string, start: Uint8Array): string | null {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return "utf-8";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  const text = ascii(start.subarray(0, PRESCAN_BYTES));
  return labelIn(`${contentType};`) ?? asciiCompatible(labelIn(text));
}

/** The encoding that the field names, or "". */
export function charsetOf(contentType: string): string {
  return labelIn(`${contentType};`) ?? "";
}

/** At the end of what has come a label may be cut. */
function labelIn(text: string): string | null {
  const label = /charset\s*=\s*(?:["']\s*)?([a-z0-9_:.-]+)(?![a-z0-9_:.-]|$)/i.exec(text)?.[1];
  if (label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** A document whose declaration could be read as ASCII cannot be in UTF-16 (HTML section 13.2.3.3). */
function asciiCompatible(encoding: string | null): string | null {
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}

function ascii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** A chunk may end inside a character; what is before must be valid. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
