/**
 * The coding `dcz` of RFC 9842: a header that names the dictionary by its SHA-256, then zstd frames (RFC 8878) whose
 * history begins with the dictionary's bytes. PROTOCOL.md section 5.3.
 */

/** A skippable frame of zstd, with the hash in it (RFC 9842 section 5). */
const MAGIC = Uint8Array.of(0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0);

export const DCZ_HEADER_BYTES = 40;

/** Bytes: smaller dictionaries and bodies are not worth it. */
export const DICTIONARY_LEAST = 1024;
/** Bytes: both ends hold all of a dictionary while they use it. */
export const DICTIONARY_MOST = 1024 * 1024;

/** zstd takes bytes that begin so for a dictionary of its own format, and not for content. */
const TRAINED = 0xec30a437;

/** @param hash SHA-256 of the dictionary. */
export function dczHeader(hash: Uint8Array): Uint8Array {
  const header = new Uint8Array(DCZ_HEADER_BYTES);
  header.set(MAGIC);
  header.set(hash, MAGIC.length);
  return header;
}

/** Whether it is a header, and names this dictionary. */
export function isDczHeader(header: Uint8Array, hash: Uint8Array): boolean {
  const expected = dczHeader(hash);
  return header.length === expected.length && header.every((byte, index) => byte === expected[index]);
}

/** Whether a body may be a dictionary. */
export function isDictionary(body: Uint8Array): boolean {
  if (body.length < DICTIONARY_LEAST || body.length > DICTIONARY_MOST) return false;
  return new DataView(body.buffer, body.byteOffset).getUint32(0, true) !== TRAINED;
}
