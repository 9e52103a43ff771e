const MAX_OCTET = 0xff;
/** Arguments of one `String.fromCharCode` call; engines fail beyond some ten thousands. */
const CHUNK_BYTES = 4096;

const utf8 = new TextEncoder();

/** The byte string of `bytes[start..end)`: one character per octet (isomorphic decode, Infra standard section 4.5). */
export function bytesToByteString(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= CHUNK_BYTES) return chunkToByteString(bytes, start, end);
  let text = "";
  for (let at = start; at < end; at += CHUNK_BYTES) {
    text += chunkToByteString(bytes, at, Math.min(at + CHUNK_BYTES, end));
  }
  return text;
}

/** `text` itself if it is a byte string already, else the byte string of its UTF-8 octets. */
export function toByteString(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > MAX_OCTET) {
      const bytes = utf8.encode(text);
      return bytesToByteString(bytes, 0, bytes.length);
    }
  }
  return text;
}

function chunkToByteString(bytes: Uint8Array, start: number, end: number): string {
  // `apply` takes any array-like; its type knows only arrays.
  return String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
}
