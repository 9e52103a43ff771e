/**
 * Bodies that a phone was sent, kept to be dictionaries. They are sealed with a key that the phone brings with each session
 * and the edge does not write down: what lies on the edge's disk tells neither what they say nor whose they are.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { toBase64Url } from "../../../shared/base-encodings.ts";
import { DICTIONARY_MOST } from "../../../shared/coding/link-coding.ts";
import { BODY_HASH_BYTES } from "../../../shared/http/phone-fields.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { placeSite } from "./dictionary-place.ts";
import type { SealedBodyStore } from "./sealed-body-store.ts";

export interface Dictionary {
  readonly bytes: Uint8Array;
  /** SHA-256 */
  readonly hash: Uint8Array;
}

export interface KeptBody extends Dictionary {
  /** Its URL, in a code of this phone's. */
  readonly address: Uint8Array;
}

/** Bytes that are kept of a phone, sealed: some hundred pages. */
const KEPT_BYTES = 32 * 1024 * 1024;

const HASH_BYTES = 32;
/** Bytes of that code. */
const ADDRESS_BYTES = 16;
/** Bytes of the same for a site: two that have it in common share what they may keep. */
const SITE_BYTES = 8;
const IV_BYTES = 12;
/** Nobody waits for it, but it costs the edge time. */
const QUICK = { level: 1 };

export class KeptBodies {
  readonly #store: SealedBodyStore;
  readonly #keys: Promise<Keys>;

  /** @param secret of `readDictionaryKey` (phone-fields.ts). */
  constructor(store: SealedBodyStore, secret: Uint8Array<ArrayBuffer>) {
    this.#store = store;
    this.#keys = deriveKeys(secret);
  }

  /**
   * @param place of `dictionaryPlace`.
   * @param name of the body (phone-fields.ts).
   * @returns null where it is not kept, was not sent to that place, or cannot be opened.
   */
  async find(place: string, name: string): Promise<KeptBody | null> {
    try {
      const { sealing, id } = await this.#named(place, name);
      const sealed = await this.#store.get(id);
      return sealed === null ? null : await open(sealing, id, sealed);
    } catch {
      return null;
    }
  }

  /** Whether the body came from there. */
  async isOf({ address }: KeptBody, url: string): Promise<boolean> {
    const code = await this.#addressOf(url);
    return code.every((byte, index) => byte === address[index]);
  }

  /** @returns its name. */
  async keep(place: string, url: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    const name = toBase64Url(hash.subarray(0, BODY_HASH_BYTES));
    const { sealing, id } = await this.#named(place, name);
    if ((await this.#store.get(id)) !== null) return name;
    const kept = { bytes: body, hash, address: await this.#addressOf(url) };
    const site = toBase64Url((await this.#codeOf(`of ${placeSite(place)}`)).subarray(0, SITE_BYTES));
    await this.#store.put(id, await seal(sealing, id, kept), { site, most: KEPT_BYTES });
    return name;
  }

  async drop(place: string, name: string): Promise<void> {
    await this.#store.delete((await this.#named(place, name)).id);
  }

  async #addressOf(url: string): Promise<Uint8Array> {
    return (await this.#codeOf(`at ${url}`)).subarray(0, ADDRESS_BYTES);
  }

  async #codeOf(text: string): Promise<Uint8Array> {
    const { naming } = await this.#keys;
    return new Uint8Array(await crypto.subtle.sign("HMAC", naming, new TextEncoder().encode(text)));
  }

  async #named(place: string, name: string): Promise<{ readonly sealing: CryptoKey; readonly id: string }> {
    const { sealing, naming } = await this.#keys;
    const code = await crypto.subtle.sign("HMAC", naming, new TextEncoder().encode(`${name} ${place}`));
    return { sealing, id: toBase64Url(new Uint8Array(code).subarray(0, BODY_HASH_BYTES)) };
  }
}

type DeriveKey = Parameters<SubtleCrypto["deriveKey"]>;

interface Keys {
  readonly sealing: CryptoKey;
  readonly naming: CryptoKey;
}

async function deriveKeys(secret: Uint8Array<ArrayBuffer>): Promise<Keys> {
  const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const derive = (info: string, algorithm: DeriveKey[2], usages: DeriveKey[4]) =>
    crypto.subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new TextEncoder().encode(info) },
      base,
      algorithm,
      false,
      usages,
    );
  const [sealing, naming] = await Promise.all([
    derive("ropeway kept body", { name: "AES-GCM", length: 256 }, ["encrypt", "decrypt"]),
    derive("ropeway kept body name", { name: "HMAC", hash: "SHA-256", length: 256 }, ["sign"]),
  ]);
  return { sealing, naming };
}

async function seal(key: CryptoKey, id: string, { bytes, hash, address }: KeptBody): Promise<Uint8Array> {
  const coded = deflateRawSync(bytes, QUICK);
  const plain = concat(hash, address, coded);
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = new Uint8Array(await crypto.subtle.encrypt(sealedAs(iv, id), key, plain));
  return concat(iv, sealed);
}

/** @throws Error where it is another's, or was changed. */
async function open(key: CryptoKey, id: string, all: Uint8Array): Promise<KeptBody> {
  const iv = new Uint8Array(all.subarray(0, IV_BYTES));
  const sealed = new Uint8Array(all.subarray(IV_BYTES));
  const plain = new Uint8Array(await crypto.subtle.decrypt(sealedAs(iv, id), key, sealed));
  const [hash, address] = [plain.slice(0, HASH_BYTES), plain.slice(HASH_BYTES, HASH_BYTES + ADDRESS_BYTES)];
  const bytes = inflateRawSync(plain.subarray(HASH_BYTES + ADDRESS_BYTES), { maxOutputLength: DICTIONARY_MOST });
  return { bytes, hash, address };
}

function sealedAs(iv: Uint8Array<ArrayBuffer>, id: string) {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(id) };
}
