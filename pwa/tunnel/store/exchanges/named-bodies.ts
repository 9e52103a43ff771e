import { fromHex } from "../../../../shared/base-encodings.ts";
import { DICTIONARY_LEAST, DICTIONARY_MOST, type OpenDecoder } from "../../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, StoredBody } from "../../../../shared/http/heads.ts";
import {
  bodyName,
  HIDDEN_ETAG,
  HIDDEN_LAST_MODIFIED,
  NAMED_BODY_LEAST,
  NAMED_BODY_MOST,
} from "../../../../shared/http/phone-fields.ts";
import { isSameOrigin } from "../../../../shared/web/origin.ts";
import { concat } from "../../../../shared/wire/frame.ts";

import { lateDecoder, type StoredDictionary } from "../../coding/late-decoder.ts";
import type { PartitionIndex, ResponseStore } from "../database/response-store.ts";
import { type ExchangeEntry, isBasic, type StoredExchange, type Variant, variantsOf } from "./stored-exchange.ts";

/** A stored response that an answer may be like. */
export interface Alike {
  /** "version": it may be the same body. "sibling": it is another, most of which may be the same. */
  readonly kind: "version" | "sibling";
  readonly variant: Variant;
}

/** Kinds of files that sites rename with each release, though most of their bytes stay as they were. */
const VERSIONED: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);
/** In `app.4f5e6a.js` or `app-123.js`; it has a digit. */
const VERSION = /[.\-_](?=[^.\-_/]*\d)[^.\-_/]+(?=\.\w+$)/;

/**
 * A stored response of the request's own origin that its answer may be like. Responses of other origins never are: the page
 * may not compare them. Null where there is none.
 */
export function alikeOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Alike | null {
  if (!isBasic(head)) return null;
  const version = versionOf(index, head, context);
  if (version !== null) return { kind: "version", variant: version };
  const sibling = siblingOf(index, head, context);
  return sibling && { kind: "sibling", variant: sibling };
}

/** The newest version of a URL that names it so: `app.456.js` may be `app.123.js` still. */
function versionOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  if (!VERSIONED.has(head.destination)) return null;
  const [before, after] = aroundVersion(head.url);
  const isVersion = ({ url, meta }: ExchangeEntry): boolean => {
    if (!url.startsWith(before) || url === head.url || meta.context !== context) return false;
    const [start, end] = aroundVersion(url);
    return start === before && end === after;
  };
  const newestFirst = (a: ExchangeEntry, b: ExchangeEntry) => b.meta.responseTime - a.meta.responseTime;
  const [newest, former = newest] = index.all().filter(isVersion).sort(newestFirst);
  if (newest === undefined) return null;
  // Pictures of a series (`photo-1.jpg`) are named so, too, and a picture is of no use for another.
  if (head.destination === "image" && newest.body.hash !== former?.body.hash) return null;
  return variantsOf(index, { ...head, url: newest.url }, context)[0] ?? null;
}

function aroundVersion(url: string): readonly [before: string, after: string] {
  const [path = ""] = url.split("?", 1);
  const version = VERSION.exec(path);
  return version === null ? [path, ""] : [path.slice(0, version.index), path.slice(version.index + version[0].length)];
}

/** Types whose bodies are much alike on one site, by what they are asked for as. */
const TYPES: Readonly<Partial<Record<RequestHead["destination"], RegExp>>> = {
  document: /^(?:text\/html|application\/xhtml\+xml)\b/i,
  frame: /^text\/html\b/i,
  iframe: /^text\/html\b/i,
  "": /^application\/(?:[\w.+-]+\+)?json\b/i,
};

/**
 * Another URL of the request's own origin whose stored body the answer may be much like: the one that its origin has named
 * (`Use-As-Dictionary`, RFC 9842), else a page for a page, an answer of an API for one; the one that shares the most of its
 * path, and of several the newest. All were asked for alike, by documents that may read them.
 */
export function siblingOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  const type = TYPES[head.destination];
  let best: { readonly entry: ExchangeEntry; readonly rank: readonly number[] } | null = null;
  for (const entry of index.all()) {
    const rank = isOfUse(entry, head, context) ? rankOf(entry, head, type) : null;
    if (rank !== null && (best === null || isHigher(rank, best.rank))) best = { entry, rank };
  }
  return best && { ...best.entry.meta, entry: best.entry };
}

function isOfUse({ url, meta, body }: ExchangeEntry, head: RequestHead, context: string): boolean {
  if (meta.context !== context || meta.status !== 200 || meta.movedTo !== undefined) return false;
  return body.size >= DICTIONARY_LEAST && body.size <= DICTIONARY_MOST && isSameOrigin(head.url, url);
}

/** Null for what is no sibling. */
function rankOf({ url, meta }: ExchangeEntry, head: RequestHead, type: RegExp | undefined): readonly number[] | null {
  const named = namesForUse(url, meta.headers, head);
  if (named > 0) return [named, 0, meta.responseTime];
  return type?.test(typeOf(meta.headers)) ? [0, sharedPath(url, head.url), meta.responseTime] : null;
}

const typeOf = (headers: HeaderList): string => headerValue(headers, "content-type") ?? "";

/** Segments that both paths begin with. */
function sharedPath(one: string, other: string): number {
  const [these, those] = [one, other].map((url) => new URL(url).pathname.split("/"));
  const differs = these?.findIndex((segment, place) => segment !== those?.[place]) ?? 0;
  return differs < 0 ? (these?.length ?? 0) : differs;
}

function isHigher(rank: readonly number[], than: readonly number[]): boolean {
  const place = rank.findIndex((value, at) => value !== than[at]);
  return place >= 0 && (rank[place] ?? 0) > (than[place] ?? 0);
}

/** Characters of the field: more nobody needs. */
const LONGEST = 1024;

/** Of patterns (https://urlpattern.spec.whatwg.org/) those of a path with wildcards: no others are matched in linear time. The origin is that of the response. */
const PATH = /^(?!\/\/)[^:{}()\\+?#]*$/;

/** Members of a dictionary of RFC 9651: a string, or a list of strings. */
const MATCH = /(?:^|[,\s])match="((?:[^"\\]|\\["\\])*)"/;
const DESTINATIONS = /(?:^|[,\s])match-dest=\(([^)]*)\)/;
const TYPE = /(?:^|[,\s])type=([\w.-]+)/;

/**
 * By `Use-As-Dictionary` (RFC 9842 section 2): how narrowly the response at `url` says that it is for a request of its
 * origin. The length of the pattern, 0 where the request is not meant.
 */
function namesForUse(url: string, headers: HeaderList, head: Pick<RequestHead, "url" | "destination">): number {
  const value = headerValue(headers, "use-as-dictionary");
  if (value === null || value.length > LONGEST || (TYPE.exec(value)?.[1] ?? "raw") !== "raw") return 0;
  const match = MATCH.exec(value)?.[1]?.replace(/\\(.)/g, "$1");
  const destinations: readonly string[] = DESTINATIONS.exec(value)?.[1]?.match(/"[^"]*"/g) ?? [];
  if (match === undefined || (destinations.length > 0 && !destinations.includes(`"${head.destination}"`))) return 0;
  return matches(match, url, head.url) ? match.length : 0;
}

function matches(match: string, base: string, url: string): boolean {
  if (!PATH.test(match) || !URL.canParse(match, base)) return false;
  return matchesParts(new URL(match, base).pathname.split("*"), new URL(url).pathname);
}

/** Whether the path has these parts in their order, from its beginning to its end, and anything between them. */
function matchesParts([first = "", ...others]: readonly string[], path: string): boolean {
  const last = others.pop();
  if (last === undefined) return path === first;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}

type Dictionaries = Pick<StoredDictionaries, "isOffered" | "decoderFor">;

/** In this order: an origin heeds the date only where there is no tag (RFC 9110 section 13.2.2). */
const VALIDATORS = [HIDDEN_ETAG, "etag", HIDDEN_LAST_MODIFIED, "last-modified"];

/**
 * The note to the edge about the body that is stored for a request, so that the edge need not send it: the body's name, and
 * of another origin the validator. Null where the note is not worth its bytes, and where a part is asked for.
 *
 * @param dictionaries undo what is coded against the body; null where there are none.
 */
export function storedBodyOf(
  head: RequestHead,
  variant: Variant,
  dictionaries: Dictionaries | null,
): StoredBody | null {
  const { entry } = variant;
  const { meta, body } = entry;
  if (meta.status !== 200 || head.headers.some(([name]) => name === "range")) return null;
  const validator = isBasic(head) ? null : validatorOf(meta.headers);
  const name = {
    ...bodyName(body.hash, body.size),
    ...(dictionaries === null ? {} : { decode: dictionaries.decoderFor(entry) }),
  };
  if (validator !== null) return { ...name, validator };
  if (body.size < NAMED_BODY_LEAST || body.size > NAMED_BODY_MOST) return null;
  if (meta.wasOther !== true) return name;
  // The edge has to read all of a body to know it by its name: in vain if it is another each time. But that may be like
  // this one.
  return dictionaryOf(variant, dictionaries);
}

/** The note to the edge about another body that the answer may be like. Null where the note is of no use. */
export function dictionaryOf({ entry }: Variant, dictionaries: Dictionaries | null): StoredBody | null {
  const { hash, size } = entry.body;
  if (dictionaries?.isOffered !== true || size < DICTIONARY_LEAST || size > DICTIONARY_MOST) return null;
  return { ...bodyName(hash, size), size: 0, decode: dictionaries.decoderFor(entry) };
}

function validatorOf(headers: HeaderList): string | null {
  for (const name of VALIDATORS) {
    const value = headerValue(headers, name);
    if (value !== null) return value;
  }
  return null;
}

type DecoderChunk = Pick<typeof import("../../coding/dcz-chunk.ts"), "openDczDecoder">;

/** Stored bodies as dictionaries: a changed body from the edge may be coded against them (PROTOCOL.md section 5.3). */
export class StoredDictionaries {
  /** The edge has the key with which it seals what it keeps. */
  isOffered = false;
  readonly #store: ResponseStore<StoredExchange>;
  readonly #loadChunk: () => Promise<DecoderChunk>;
  #chunk: Promise<DecoderChunk> | null = null;

  /** @param loadChunk loads the decoder, when it may first be needed. */
  constructor(store: ResponseStore<StoredExchange>, loadChunk: () => Promise<DecoderChunk>) {
    this.#store = store;
    this.#loadChunk = loadChunk;
  }

  /** Of use before they are offered, too: the edge may have the key before it gets the request. */
  decoderFor(entry: ExchangeEntry): OpenDecoder {
    // While the request is under way, so that no response waits for it.
    const loaded = this.isOffered ? this.#load() : null;
    return (handler) =>
      lateDecoder(async (deliver) => {
        const [chunk, dictionary] = await Promise.all([loaded ?? this.#load(), this.#read(entry)]);
        return chunk.openDczDecoder(dictionary, deliver);
      }, handler);
  }

  /** A load that failed is tried again. */
  #load(): Promise<DecoderChunk> {
    this.#chunk ??= this.#loadChunk();
    const chunk = this.#chunk;
    chunk.catch(() => {
      if (this.#chunk === chunk) this.#chunk = null;
    });
    return chunk;
  }

  /** @throws Error where it is not whole. */
  async #read(entry: ExchangeEntry): Promise<StoredDictionary> {
    const reader = await this.#store.read(entry);
    if (reader === null) throw new Error("Cannot decode the response: what it is coded against is not stored any more");
    return { bytes: concat(...(await reader.whole())), hash: fromHex(entry.body.hash) };
  }
}
