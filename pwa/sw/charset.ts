/** Which encoding an HTML document is in: HTML section 13.2.3.2 as far as a streaming reader can know it. */

/** How many bytes are looked through for a declaration (HTML section 13.2.3.2, step 5). */
const PRESCAN_BYTES = 1024;
const FALLBACK = "windows-1252";

/** @param start first bytes of the document, at most a chunk. */
export function sniffCharset(contentType: string, start: Uint8Array): string {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return "utf-8";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  const declared = labelIn(contentType) ?? asciiCompatible(labelIn(ascii(start.subarray(0, PRESCAN_BYTES))));
  if (declared !== null) return declared;
  return isUtf8(start) ? "utf-8" : FALLBACK;
}

function labelIn(text: string): string | null {
  const label = /charset\s*=\s*["']?\s*([a-z0-9_:.-]+)/i.exec(text)?.[1];
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
