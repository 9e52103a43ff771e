/** Bodies that the phone has stored, by name: PROTOCOL.md section 5.7. */
import { fromBase64Url, fromHex, toBase64Url } from "../base-encodings.ts";
import type { EncodableField } from "../wire/hpack/tables.ts";
import type { BodyName, HeaderField, StoredBody } from "./heads.ts";

/** Names the body that the phone has of a request. Edges that do not know it drop it: origins never get `sec-` fields of a phone. */
export const STORED_BODY = "sec-ropeway-stored";

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
