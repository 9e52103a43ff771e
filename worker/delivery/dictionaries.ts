/** The dictionaries of one phone: what its responses are coded against, and what of them is kept to be one (PROTOCOL.md section 5.3). */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { toBase64Url } from "../../shared/base-encodings.ts";
import { pause, type SetTimer } from "../../shared/clock.ts";
import {
  DICTIONARY_LEAST,
  DICTIONARY_MOST,
  dczHeader,
  isDictionary,
  steppedStream,
} from "../../shared/coding/link-coding.ts";
import { FairShares, type Holding, type Room } from "../../shared/fair-shares.ts";
import { contentLength, headerValue } from "../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { BODY_HASH_BYTES } from "../../shared/http/phone-fields.ts";
import { cacheControl } from "../../shared/http-cache/cache-rules.ts";
import { isSameOrigin } from "../../shared/web/origin.ts";
import { concat } from "../../shared/wire/frame.ts";
import { siteOf } from "../upstream/site.ts";
import { isCompressible, LINK_FLUSH_DELAY } from "./coding.ts";
import { bodyOf, KeptBytes, type ReadAhead, readAhead } from "./references.ts";
import type { DecodedResponse, DictionaryStages } from "./stage.ts";

/** Milliseconds after which bodies are sealed and written: by then a page has mostly loaded. */
const KEPT_AFTER = 1500;

interface Waiting {
  readonly kept: KeptBodies;
  readonly place: string;
  readonly url: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Name of the body that was there before. */
  readonly replaces: string | null;
}

export class PhoneDictionaries {
  readonly #store: SealedBodyStore;
  readonly #compressor: DictionaryCompressor;
  readonly #room: Room;
  readonly #setTimer: SetTimer;
  /** By the key that the phone's last session brought: one phone has one. */
  #kept: { readonly key: string; readonly bodies: KeptBodies } | null = null;
  #waiting: Waiting[] = [];
  /** Counts calls of `forget`: bodies that were asked for before the last are not kept. */
  #era = 0;
  /** Body that is being written. */
  #keeping: Promise<void> = Promise.resolve();

  /** @param room for what deliveries hold, of all phones in the process. */
  constructor(store: SealedBodyStore, compressor: DictionaryCompressor, room: Room, setTimer: SetTimer) {
    this.#store = store;
    this.#compressor = compressor;
    this.#room = room;
    this.#setTimer = setTimer;
  }

  /** @returns null for a request whose response shares a context with no other. @param key of `readDictionaryKey`. */
  stagesFor(key: Uint8Array<ArrayBuffer>, head: RequestHead): DictionaryStages | null {
    const place = dictionaryPlace(head);
    if (place === null) return null;
    const kept = this.#keptBy(key);
    const { url, stored } = head;
    const named = stored?.hash;
    const era = this.#era;
    let replaces: string | null = null;
    return {
      keep: (response) => this.#keep(response, (body) => this.#add({ kept, place, url, body, replaces }, era)),
      code: async (response) => {
        const hold = named === undefined || !isText(response.head) ? null : this.#hold(response.head);
        if (named === undefined || hold === null) return response;
        try {
          // Not earlier: while the origin is being asked, nothing is held.
          const dictionary = await kept.find(place, named);
          if (dictionary !== null && hold.grow(dictionary.bytes.length)) {
            // A sibling's stays: the phone has both.
            if (await kept.isOf(dictionary, url)) replaces = named;
            const coder = { compressor: this.#compressor, setTimer: this.#setTimer };
            return await codeAgainst(response, dictionary, coder, hold);
          }
        } catch (error) {
          hold.release();
          throw error;
        }
        hold.release();
        return response;
      },
    };
  }

  /** For a body that is to be coded. @returns null where too much is held already. */
  #hold({ headers }: ResponseHead): (Hold & { grow(bytes: number): boolean }) | null {
    const taker = {};
    const grow = (bytes: number) => this.#room.take(taker, bytes);
    if (!grow(contentLength(headers) ?? DICTIONARY_MOST)) return null;
    const release = () => this.#room.give(taker);
    const shrink = (bytes: number): void => {
      release();
      grow(bytes);
    };
    return { grow, shrink, release };
  }

  /** All that is kept of this phone. */
  async forget(): Promise<void> {
    this.#era += 1;
    for (const { body } of this.#waiting.splice(0)) this.#room.give(body);
    await this.#keeping;
    await this.#store.clear();
  }

  #keptBy(key: Uint8Array<ArrayBuffer>): KeptBodies {
    const text = key.join();
    if (this.#kept?.key !== text) this.#kept = { key: text, bodies: new KeptBodies(this.#store, key) };
    return this.#kept.bodies;
  }

  #keep({ head, body }: DecodedResponse, onWhole: (body: Uint8Array<ArrayBuffer>) => void): DecodedResponse {
    if (!isText(head)) return { head, body };
    return { head, body: copied(body, this.#room, onWhole) };
  }

  #add(waiting: Waiting, era: number): void {
    if (era !== this.#era || !isDictionary(waiting.body)) return this.#room.give(waiting.body);
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#setTimer(() => this.#keepAll(), KEPT_AFTER);
  }

  #keepAll(): void {
    const bodies = this.#waiting.splice(0);
    this.#keeping = this.#keeping.then(async () => {
      // In turn: requests that come meanwhile find the processor between two.
      for (const each of bodies) await this.#keepOne(each);
    });
  }

  async #keepOne({ kept, place, url, body, replaces }: Waiting): Promise<void> {
    try {
      const name = await kept.keep(place, url, body);
      if (replaces !== null && replaces !== name) await kept.drop(place, replaces);
    } catch {
      // The body is no dictionary then.
    }
    this.#room.give(body);
  }
}

/** Whether the body is worth a dictionary, and may have one. */
function isText(head: ResponseHead): boolean {
  if (!mayShareContext(head) || !isCompressible(headerValue(head.headers, "content-type"))) return false;
  const length = contentLength(head.headers);
  return length === null || (length >= DICTIONARY_LEAST && length <= DICTIONARY_MOST);
}

/** Hands a body on, and the whole of it at its end, whose bytes are then taken from `room`; `onWhole` gives them back. */
function copied(
  source: ReadableStream<Uint8Array>,
  room: Room,
  onWhole: (body: Uint8Array<ArrayBuffer>) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let kept: KeptBytes | null = new KeptBytes();
  let size = 0;
  const giveUp = (): void => {
    room.give(giveUp);
    kept = null;
  };
  const copy = (chunk: Uint8Array): void => {
    if (kept === null) return;
    if (size + chunk.length > DICTIONARY_MOST || !room.take(giveUp, chunk.length)) return giveUp();
    size += chunk.length;
    kept.add(chunk);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          if (!done) {
            copy(value);
            return controller.enqueue(value);
          }
        } catch (error) {
          giveUp();
          throw error;
        }
        const whole = kept && (concat(...kept.take()) as Uint8Array<ArrayBuffer>);
        giveUp();
        if (whole !== null && room.take(whole, whole.length)) onWhole(whole);
        controller.close();
      },
      cancel(reason) {
        giveUp();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

// Codes a body against another that the phone has (PROTOCOL.md section 5.3), where that is worth it. What has come of the
// body by then goes as one frame of zstd; what the origin sends later goes in further ones, as it pauses.

/** Milliseconds to wait for the whole body. Most are there by then, since the edge is near to origins. */
const WITHIN = 100;

/** Frames with the dictionary: to read it anew for each costs as much as to code a body of its length. */
const FRAMES_WITH_DICTIONARY = 8;

/** Bytes of a further frame. */
const FRAME_BYTES = 256 * 1024;

const NOTHING = new Uint8Array();
/** Level of zstd, for comparison: the least work. */
const QUICKEST = 1;

interface Coder {
  readonly compressor: DictionaryCompressor;
  readonly setTimer: SetTimer;
}

/** Bytes of the edge's memory that a response takes. */
interface Hold {
  /** From now on no more than so many bytes. */
  shrink(bytes: number): void;
  release(): void;
}

/** @param hold released when the body that is returned is over. @returns the body as it was where the dictionary is of no great use. */
async function codeAgainst(
  { head, body }: DecodedResponse,
  dictionary: Dictionary,
  { compressor, setTimer }: Coder,
  hold: Hold,
): Promise<DecodedResponse> {
  const read = await readAhead(body, DICTIONARY_MOST, WITHIN, setTimer);
  const first = concat(...read.chunks);
  const frame = first.length < DICTIONARY_LEAST ? null : frameIfSmall(first, dictionary, compressor);
  const release = () => hold.release();
  if (frame === null) {
    hold.shrink(first.length);
    return { head, body: bodyOf(read, release) };
  }
  const frames = [dczHeader(dictionary.hash), frame];
  const { rest } = read;
  if (rest === "whole") {
    hold.shrink(frame.length);
    return { head: { ...head, coding: "dcz" }, body: bodyOf({ chunks: frames, rest }, release) };
  }
  hold.shrink(frame.length + dictionary.bytes.length + FRAME_BYTES);
  return {
    head: { ...head, coding: "dcz" },
    body: codedBody(frames, rest, dictionary, { compressor, setTimer }, release),
  };
}

/** @returns null where it is not clearly less than without the dictionary, or the compressor has no room. */
function frameIfSmall(body: Uint8Array, { bytes }: Dictionary, compressor: DictionaryCompressor): Uint8Array | null {
  try {
    const frame = compressor.compress(body, bytes);
    const isTiny = frame.length < body.length / 20;
    return isTiny || frame.length < 0.75 * compressor.compress(body, NOTHING, QUICKEST).length ? frame : null;
  } catch {
    return null;
  }
}

function codedBody(
  frames: readonly Uint8Array[],
  rest: Exclude<ReadAhead["rest"], "whole">,
  { bytes }: Dictionary,
  { compressor, setTimer }: Coder,
  onOver: () => void,
): ReadableStream<Uint8Array> {
  const { reader } = rest;
  const output = [...frames];
  let { pending } = rest;
  let left = FRAMES_WITH_DICTIONARY;
  let gathered: Uint8Array[] = [];
  let size = 0;

  function flush(): void {
    if (size === 0) return;
    left -= 1;
    output.push(compressor.compress(concat(...gathered), left > 0 ? bytes : NOTHING));
    gathered = [];
    size = 0;
  }

  /** A step: a chunk in, or a frame out. True when the source has ended. */
  async function step(): Promise<boolean> {
    pending ??= reader.read();
    const next = await (size > 0
      ? Promise.race([pending, pause(setTimer, LINK_FLUSH_DELAY).then(() => null)])
      : pending);
    if (next !== null) pending = null;
    if (next !== null && !next.done) {
      gathered.push(next.value.slice());
      size += next.value.length;
    }
    if (next === null || next.done || size >= FRAME_BYTES) flush();
    if (next?.done === true) onOver();
    return next?.done === true;
  }

  return steppedStream({ reader, output, step, destroy: onOver });
}

interface Dictionary {
  readonly bytes: Uint8Array;
  /** SHA-256 */
  readonly hash: Uint8Array;
}

interface KeptBody extends Dictionary {
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

/**
 * Bodies that a phone was sent, kept to be dictionaries. They are sealed with a key that the phone brings with each session
 * and the edge does not write down: what lies on the edge's disk tells neither what they say nor whose they are.
 */
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

/**
 * Bodies of one place may share a compression context (PROTOCOL.md section 5.3): those of one origin that the same document
 * may read, asked for with the same credentials. So the length of one tells nobody more about another than they can read.
 * @returns null for a request whose body shares with none.
 */
export function dictionaryPlace(head: RequestHead): string | null {
  const { method, mode, url, origin, topLevelOrigin, credentials, headers, delivery } = head;
  if (method !== "GET" || delivery?.continuation != null || !/^https?:/.test(url)) return null;
  if (headers.some(([name]) => name === "authorization" || name === "range")) return null;
  const target = new URL(url).origin;
  const isOwn = isSameOrigin(origin, url);
  if (mode === "navigate") {
    // Cookies with SameSite go with the one and not with the other.
    return JSON.stringify([topLevelOrigin, target, mode, origin === null || isOwn ? "own" : origin]);
  }
  if (isOwn) return JSON.stringify([topLevelOrigin, target, "own", credentials]);
  // A page must not measure a body that it cannot read, and the phone stores none that was asked for with cookies.
  if (mode !== "cors" || credentials === "include") return null;
  return JSON.stringify([topLevelOrigin, target, mode, origin, credentials]);
}

/** Whose pages are at such a place. */
function placeSite(place: string): string {
  const [topLevelOrigin] = JSON.parse(place) as [string];
  return siteOf(topLevelOrigin) ?? topLevelOrigin;
}

/** Whether the body of the response may be one, or be coded against one. */
export function mayShareContext({ status, headers, redirected, continues }: ResponseHead): boolean {
  if (status !== 200 || redirected || continues === true) return false;
  return !cacheControl(headers).has("no-store") && headerValue(headers, "content-range") === null;
}

/** Milliseconds that a body is kept after it was put, whether its phone comes back or not. */
export const KEPT_FOR = 30 * 24 * 60 * 60 * 1000;

/** Where one phone's sealed bodies are. Each is at most a little above DICTIONARY_MOST. What fails is as if it were not there. */
export interface SealedBodyStore {
  get(id: string): Promise<Uint8Array | null>;
  put(id: string, sealed: Uint8Array, share: BodyShare): Promise<void>;
  delete(id: string): Promise<void>;
  clear(): Promise<void>;
}

interface BodyShare {
  /** Whose pages it was sent to, by a name that tells nobody which site that is. */
  readonly site: string;
  /** Bytes of all: of more, those of the site that has most go, the longest unused first. */
  readonly most: number;
}

interface SealedBody {
  readonly id: string;
  readonly site: string;
  readonly bytes: number;
}

/**
 * Dictionaries that have to go.
 *
 * @param bodies those used longest ago first.
 */
export function bodiesAbove(most: number, bodies: readonly SealedBody[]): SealedBody[] {
  let over = bodies.reduce((sum, { bytes }) => sum + bytes, 0) - most;
  if (over <= 0) return [];
  const holdings = new Map<string, Holding>();
  const left = new Map<string, SealedBody[]>();
  for (const [usedAt, body] of bodies.entries()) {
    const { site, bytes } = body;
    holdings.set(site, { amount: bytes + (holdings.get(site)?.amount ?? 0), usedAt });
    left.set(site, [...(left.get(site) ?? []), body]);
  }
  const shares = new FairShares(most, holdings);
  const gone: SealedBody[] = [];
  while (over > 0) {
    const site = shares.giver();
    const body = left.get(site ?? "")?.shift();
    if (site === undefined || body === undefined) break;
    gone.push(body);
    shares.gave(site, body.bytes);
    over -= body.bytes;
  }
  return gone;
}

/** Sealed bodies in memory, for an edge without a disk. */
export function memoryBodyStore(): SealedBodyStore {
  const bodies = new Map<string, { readonly sealed: Uint8Array; readonly site: string }>();
  return {
    async get(id) {
      const body = bodies.get(id);
      if (body === undefined) return null;
      bodies.delete(id);
      bodies.set(id, body);
      return body.sealed;
    },
    async put(id, sealed, { site, most }) {
      bodies.delete(id);
      bodies.set(id, { sealed, site });
      const all = [...bodies].map(([key, body]) => ({ id: key, site: body.site, bytes: body.sealed.length }));
      for (const gone of bodiesAbove(most, all)) bodies.delete(gone.id);
    },
    delete: async (id) => void bodies.delete(id),
    clear: async () => bodies.clear(),
  };
}

/** zstd of the package: its functions of zstd.h, and what Emscripten needs. Sizes are bytes, the rest addresses. */
interface ZstdExports {
  readonly f: WebAssembly.Memory;
  /** Runs constructors. */
  g(): void;
  /** ZSTD_isError */
  h(result: number): number;
  /** ZSTD_compressBound */
  i(size: number): number;
  /** ZSTD_createCCtx */
  j(): number;
  /** ZSTD_freeCCtx */
  k(context: number): number;
  /** ZSTD_compress_usingDict */
  l(
    context: number,
    to: number,
    capacity: number,
    from: number,
    size: number,
    dictionary: number,
    dictionarySize: number,
    level: number,
  ): number;
  /** malloc */
  s(size: number): number;
  /** free */
  t(address: number): void;
}

const PAGE = 65_536;

/** Bytes: memory of wasm never shrinks, so an instance that has grown larger is given up. */
const KEPT_MEMORY = 24 * 1024 * 1024;

/** Levels by bytes of a body, each with the most: a few milliseconds for any. With a dictionary a quick one is nearly as small. */
const LEVELS: readonly (readonly [most: number, level: number])[] = [
  [64 * 1024, 9],
  [256 * 1024, 6],
];
const QUICK_LEVEL = 3;

/**
 * zstd with a dictionary of raw content (RFC 9842). The platforms' own zstd takes none on workerd, so it is wasm, of
 * `@bokuweb/zstd-wasm`: that package's script cannot take a module that the platform has compiled, so its few functions
 * are called here by the names that its build gives them. The version is pinned for that.
 */
export class DictionaryCompressor {
  readonly #module: WebAssembly.Module;
  #zstd: ZstdExports | null = null;

  /** @param module zstd.wasm of the package. */
  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /**
   * A single frame of zstd, without a checksum.
   *
   * @param level of zstd.
   * @throws Error where zstd has no memory.
   */
  compress(body: Uint8Array, dictionary: Uint8Array, level = levelFor(body)): Uint8Array {
    this.#zstd ??= instantiate(this.#module);
    const zstd = this.#zstd;
    const capacity = zstd.i(body.length);
    const [from, to, prefix, context] = [zstd.s(body.length), zstd.s(capacity), zstd.s(dictionary.length), zstd.j()];
    try {
      if (from === 0 || to === 0 || prefix === 0 || context === 0) throw new Error("Cannot compress: no memory");
      // Views are made anew, since memory that grows has another buffer.
      new Uint8Array(zstd.f.buffer).set(body, from);
      new Uint8Array(zstd.f.buffer).set(dictionary, prefix);
      const size = zstd.l(context, to, capacity, from, body.length, prefix, dictionary.length, level);
      if (zstd.h(size) !== 0) throw new Error("Cannot compress: zstd failed");
      return new Uint8Array(zstd.f.buffer, to, size).slice();
    } finally {
      zstd.k(context);
      for (const address of [from, to, prefix]) zstd.t(address);
      if (zstd.f.buffer.byteLength > KEPT_MEMORY) this.#zstd = null;
    }
  }
}

function levelFor({ length }: Uint8Array): number {
  return LEVELS.find(([most]) => length <= most)?.[1] ?? QUICK_LEVEL;
}

function instantiate(module: WebAssembly.Module): ZstdExports {
  const fail = (): never => {
    throw new Error("Cannot compress: zstd stopped");
  };
  const grow = (size: number): number => {
    try {
      zstd.f.grow(Math.ceil(((size >>> 0) - zstd.f.buffer.byteLength) / PAGE));
      return 1;
    } catch {
      return 0;
    }
  };
  // Exit, keep-alive, abort, timers, and more memory.
  const { exports } = new WebAssembly.Instance(module, { a: { a: fail, b() {}, c: fail, d: () => 0, e: grow } });
  const zstd = exports as unknown as ZstdExports;
  zstd.g();
  return zstd;
}
