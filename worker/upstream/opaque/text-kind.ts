/** What text is by its first bytes, where that decides who may have it. */

/**
 * "json" also for what JSON is guarded by against being run as a script, "script": begins with what a script could, and
 * JSON, HTML and XML could not.
 */
export type TextKind = "markup" | "json" | "playlist" | "array" | "script" | "unknown";

/** Leading white space and comments, as in HTML, XML and style sheets. */
const LEAD = /^(?:\s|<!--[\s\S]*?-->)*/;
const GUARDS = /^(?:\)\]\}'|\{\}\s*&&|for\s*\(\s*;\s*;\s*\)|while\s*\(\s*(?:1|true)\s*\))/;

export interface SniffedText {
  readonly kind: TextKind;
  /** From the first character that counts. */
  readonly start: string;
}

/** `bytes`: the first of it, at most `SNIFFED_BYTES`. */
export function sniffText(bytes: Uint8Array): SniffedText {
  const text = decode(bytes);
  const start = text.slice(LEAD.exec(text)?.[0].length ?? 0);
  return { kind: kindOf(start), start };
}

/** Whether it has bytes that no text has (MIME Sniffing section 3, binary data byte); UTF-16 says so by its mark. */
export function isBinary(bytes: Uint8Array): boolean {
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
