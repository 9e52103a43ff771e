/** Bytes as text (RFC 4648). The methods of `Uint8Array` for it are younger than the browsers that the app is built for. */

/** In lower case. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param text an even number of hexadecimal digits. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(2 * index, 2 * index + 2), 16),
  );
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** @throws DOMException for what is not base64; padding may be missing, and spaces are skipped. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @returns null for what is not base64url without padding. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Arguments of one `String.fromCharCode` call; engines fail beyond some ten thousands. */
const CHUNK_BYTES = 4096;

/** The byte string of `bytes[start..end)`: one character per octet (isomorphic decode, Infra standard section 4.5). */
export function bytesToByteString(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (end - start <= CHUNK_BYTES) return chunkToByteString(bytes, start, end);
  let text = "";
  for (let at = start; at < end; at += CHUNK_BYTES) {
    text += chunkToByteString(bytes, at, Math.min(at + CHUNK_BYTES, end));
  }
  return text;
}

/** The octets of a byte string (isomorphic encode, Infra standard section 4.6). */
export function byteStringToBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** `text` itself if it is a byte string already, else the byte string of its UTF-8 octets. */
export function toByteString(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0xff) {
      const bytes = new TextEncoder().encode(text);
      return bytesToByteString(bytes, 0, bytes.length);
    }
  }
  return text;
}

function chunkToByteString(bytes: Uint8Array, start: number, end: number): string {
  // `apply` takes any array-like; its type knows only arrays.
  return String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
}
