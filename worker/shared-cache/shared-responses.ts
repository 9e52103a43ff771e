/**
 * A shared cache before a fetch: RFC 9111 by the rules of `shared/http-cache`, for public responses to requests without
 * credentials. A second asker gets the response that the first one is waiting for.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../shared/base-encodings.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { type Clock, epochClock } from "../../shared/clock.ts";
import { Room } from "../../shared/fair-shares.ts";
import { reasonOf, statusTextOf, toAsciiJson } from "../../shared/http/head-fields.ts";
import type { HeaderList } from "../../shared/http/heads.ts";
import {
  type Answer,
  type CacheRequest,
  type Decision,
  decide,
  type ExchangeTimes,
  fieldValue,
  freshnessLifetime,
  headersWithAge,
  invalidatedUrls,
  judgeValidation,
  type StoredResponse,
  sharedView,
  staleGrace,
  toShared,
} from "../../shared/http-cache/cache-rules.ts";
import * as limits from "../../shared/limits.ts";
import { hasNullBody } from "../../shared/web/origin.ts";
import { concat } from "../../shared/wire/frame.ts";
import { decodedLength, hopByHopFilter } from "../upstream/fields.ts";
import { type ChunkReader, openReader, rawBody, startingWith } from "../upstream/response-body.ts";
import { type FetchFunction, markAsStored } from "../upstream/send.ts";
import { siteOf } from "../upstream/site.ts";
import { SITE_FIELD } from "./site-entries.ts";

/** Milliseconds to wait for the cache, longer than data centres and disks take. Then the origin is asked. */
const LOOKUP_TIME = 100;
/** Milliseconds to wait until the cache has taken a response. */
const STORE_TIME = 5_000;
/** Milliseconds that a request waits for the head of another's response. */
const JOIN_TIME = 500;
/** Milliseconds for which nobody waits for a response that was not for others last time; and of how many that is known. */
const UNSHARED_TIME = 60_000;
const MOST_UNSHARED = 1_000;
/** Count: of URLs that a phone has changed, of which it is known. */
const MOST_CHANGED = 256;
/** Milliseconds to ask about what was answered stale. */
const REFRESH_TIME = 30_000;
/** Bytes of all bodies that are kept while they come: of the 128 MB that all objects of an isolate have on Cloudflare. */
export const KEPT_BYTES = 16 * 1024 * 1024;

interface SharedResponsesDeps extends Clock {
  readonly cache: SharedCache;
  /** For bodies that come: that of all phones in the process, unless a test has its own. */
  readonly room?: Room;
}

const ROOM_OF_PROCESS = new Room(KEPT_BYTES, epochClock.now);

export class SharedResponses {
  readonly #deps: SharedResponsesDeps;
  /** By what is asked. */
  readonly #flights = new Map<string, Flight>();
  /** When the response was not for others, by what was asked. */
  readonly #unshared = new BoundedMap<string, number>(MOST_UNSHARED);

  /** @param deps its clock counts milliseconds since the epoch. */
  constructor(deps: SharedResponsesDeps) {
    this.#deps = deps;
  }

  /** @returns the same fetch of one phone, which asks origins only where it has to. */
  through(fetch: FetchFunction): FetchFunction {
    // For this phone the response is out of date at once. For others it stays: a page can post anywhere.
    const changed = new BoundedMap<string, number>(MOST_CHANGED);
    return async (request, topLevelOrigin) => {
      const shared = topLevelOrigin === null ? null : shareable(request, topLevelOrigin);
      if (shared !== null) return this.#answer(shared, request, fetch, changed.get(nameOf(request.url)) ?? null);
      const { method, url } = request;
      const response = await fetch(request);
      const answer = { status: response.status, headers: [...response.headers] };
      for (const each of invalidatedUrls({ method, url }, answer)) changed.set(nameOf(each), this.#deps.now());
      return response;
    };
  }

  /** @param changedAt when the phone changed what is there; null where it did not. */
  async #answer(
    shared: ShareableRequest,
    request: Request,
    fetch: FetchFunction,
    changedAt: number | null,
  ): Promise<Response> {
    const { now } = this.#deps;
    const key = keyOf(shared);
    const found = await this.#find(key, shared);
    if (changedAt !== null && (found === null || found.stored.requestTime <= changedAt)) {
      await found?.body?.cancel().catch(() => {});
      const readKnown = () => Promise.resolve(null);
      return this.#start(key, { shared, request, fetch, known: null, readKnown, now }).lead(request.signal);
    }
    const decision = this.#decide(shared, found);
    // A reload wants the response whole (Fetch section 4.6).
    const isReload = request.headers.get("cache-control") === "no-cache";
    const known =
      found === null || isReload || !("fields" in decision)
        ? null
        : { stored: found.stored, conditions: decision.fields };
    const readKnown = async () => (await this.#find(key, shared))?.body ?? null;
    const question = { shared, request, fetch, known, readKnown, now };
    if (decision.kind === "answer-and-validate" && !this.#flights.has(shared.identity)) this.#refresh(key, question);
    if (found !== null && decision.kind.startsWith("answer")) {
      const { stored, body } = found;
      return markAsStored(toResponse({ ...stored, headers: headersWithAge(stored, now()) }, body));
    }
    await found?.body?.cancel().catch(() => {});

    // Nothing is awaited between this look and the start, or two would start.
    const flight = this.#flights.get(shared.identity);
    if (flight === undefined) return this.#start(key, question).lead(request.signal);
    const late = this.#late(JOIN_TIME);
    const joined = await flight.join(request.signal, late.promise).finally(late.cancel);
    // Its answer may be for others, too; the other fetch brings that.
    return joined ?? fetch(request);
  }

  /** A cache that is slow, fails, or has what no rule can read has nothing. */
  async #find(key: string, shared: ShareableRequest): Promise<Found | null> {
    const late = this.#late(LOOKUP_TIME);
    const matching = matched(this.#deps.cache, key);
    const response = await Promise.race([matching, late.promise]);
    late.cancel();
    if (response === null) {
      void matching.then((tooLate) => tooLate?.body?.cancel()).catch(() => {});
      return null;
    }
    const found = fromRecord(response, shared.selector);
    if (found === null) await response.body?.cancel().catch(() => {});
    return found;
  }

  #decide({ asked }: ShareableRequest, found: Found | null): Decision<StoredResponse> {
    if (found === null) return { kind: "fetch", fields: [] };
    // The response was found by all that may select it.
    return decide(asked, [{ ...sharedView(found.stored), selecting: [] }], this.#deps.now());
  }

  /** Asks the origin, for all who want to know meanwhile. */
  #start(key: string, question: Question): Flight {
    const { identity } = question.shared;
    const flight: Flight = new Flight({
      question,
      room: this.#deps.room ?? ROOM_OF_PROCESS,
      store: (stored, body) => this.#store(key, question.shared, stored, body),
      onOver: (response) => {
        if (this.#flights.get(identity) === flight) this.#flights.delete(identity);
        if (response === "own") this.#unshared.set(identity, this.#deps.now());
      },
    });
    const unshared = this.#unshared.get(identity) ?? Number.NEGATIVE_INFINITY;
    if (this.#deps.now() - unshared > UNSHARED_TIME) this.#flights.set(identity, flight);
    return flight;
  }

  /** A stale response was the answer; the next request gets a response that the origin gives now. */
  #refresh(key: string, question: Question): void {
    const controller = new AbortController();
    const cancelTimer = this.#deps.setTimer(() => controller.abort(), REFRESH_TIME);
    this.#start(key, question)
      .refresh(controller.signal)
      .catch(() => {})
      .finally(cancelTimer);
  }

  async #store(
    key: string,
    { selector, site }: ShareableRequest,
    stored: StoredResponse,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    const record = toRecord(stored, { selector, site }, body);
    if (record === null) return;
    const late = this.#late(STORE_TIME);
    try {
      await Promise.race([this.#deps.cache.put(key, record), late.promise]);
    } catch {
      // The store has no room, or is not there.
    }
    late.cancel();
  }

  #late(delay: number): { readonly promise: Promise<null>; readonly cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<null>();
    return { promise, cancel: this.#deps.setTimer(() => resolve(null), delay) };
  }
}

async function matched(cache: SharedCache, key: string): Promise<Response | null> {
  try {
    return (await cache.match(key)) ?? null;
  } catch {
    return null;
  }
}

/**
 * Public responses that phones of one edge share: a store of the platform's. It may forget anything at any time, and
 * fail; all works without.
 */
export interface SharedCache {
  /** @param key an https: URL. */
  match(key: string): Promise<Response | undefined>;
  /** @param response tells its length. */
  put(key: string, response: Response): Promise<void>;
}

/** Bytes of an entry on disk or in memory: its body, its fields, and what a store spends on any. */
export function entrySize({ headers }: Response): number {
  const fields = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return Number(headers.get("content-length")) + fields + 1024;
}

/** Opens the store when it is first used; where there is none, each call fails. */
export function lazyCache(open: () => Promise<SharedCache>): SharedCache {
  let opened: Promise<SharedCache> | null = null;
  const cache = () => {
    opened ??= open();
    return opened;
  };
  return {
    match: async (key) => (await cache()).match(key),
    put: async (key, response) => (await cache()).put(key, response),
  };
}

interface FlightOptions {
  readonly question: Question;
  readonly room: Room;
  /** Never rejects. */
  readonly store: (stored: StoredResponse, body: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** Nobody may join any more: its response is not for others, or failed, or is stored. */
  readonly onOver: (response: "own" | "shared" | "failed") => void;
}

type SharedAnswer = OriginAnswer & { kind: "shared" };

/** A single fetch for all that ask the same at the same time. It goes on while one of them is left. */
class Flight {
  readonly #options: FlightOptions;
  readonly #controller = new AbortController();
  readonly #members = new Set<AbortSignal>();
  readonly #answer: Promise<OriginAnswer>;
  #body: SharedBody | null = null;
  #isStoring = false;

  constructor(options: FlightOptions) {
    this.#options = options;
    this.#answer = this.#ask();
    this.#answer.catch(() => {});
  }

  /** For who started it. */
  async lead(signal: AbortSignal): Promise<Response> {
    this.#enter(signal);
    const answer = await untilAborted(this.#answer, signal);
    if (answer.kind === "own") return answer.response;
    const response = this.#open(answer, signal);
    return answer.isKnown ? markAsStored(response) : response;
  }

  /** @returns null where its response is not for others, or `late` is first, or it never came. */
  async join(signal: AbortSignal, late: Promise<null>): Promise<Response | null> {
    this.#enter(signal);
    const answer = await untilAborted(Promise.race([this.#answer.catch(() => null), late]), signal);
    if (answer?.kind === "shared") {
      const { stored } = answer;
      // Its body may have been on the way for a while, or on its way into the store.
      const aged = { ...stored, headers: headersWithAge(stored, this.#options.question.now()) };
      return markAsStored(this.#open({ ...answer, stored: aged }, signal));
    }
    this.#leave(signal);
    return null;
  }

  /** Reads the response for nobody, so that it is stored. */
  async refresh(signal: AbortSignal): Promise<void> {
    const response = await this.lead(signal);
    if ((await this.#answer).kind === "own") await response.body?.cancel();
    else for await (const _ of response.body ?? []);
    this.#leave(signal);
  }

  async #ask(): Promise<OriginAnswer> {
    const { question, onOver } = this.#options;
    try {
      const answer = await askOrigin(question, this.#controller.signal);
      if (answer.kind === "own") onOver("own");
      else this.#take(answer);
      return answer;
    } catch (error) {
      onOver("failed");
      throw error;
    }
  }

  #take({ stored, body }: SharedAnswer): void {
    if (body === null) return void this.#store(stored, new Uint8Array());
    this.#body = new SharedBody(body, {
      hasRoom: (bytes) => this.#options.room.take(this, bytes),
      onEnd: (whole) => (whole === null ? this.#options.onOver("failed") : void this.#store(stored, whole)),
    });
  }

  async #store(stored: StoredResponse, body: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#isStoring = true;
    await this.#options.store(stored, body);
    this.#isStoring = false;
    this.#options.onOver("shared");
    this.#release();
  }

  #open({ stored }: SharedAnswer, signal: AbortSignal): Response {
    const { fetch, request } = this.#options.question;
    const onOver = () => this.#leave(signal);
    if (this.#body === null) onOver();
    const readAnew = async () => {
      const response = await fetch(new Request(request, { signal }));
      const { status, headers, body } = response;
      if (body !== null && isSame(stored, { status, headers: [...headers] })) return openReader(body, false);
      await body?.cancel();
      throw new Error("Cannot go on: connection reset, since the response is another by now");
    };
    return toResponse(stored, this.#body?.open({ readAnew, onOver }) ?? null);
  }

  #enter(signal: AbortSignal): void {
    this.#members.add(signal);
    if (signal.aborted) this.#leave(signal);
    else signal.addEventListener("abort", () => this.#leave(signal), { once: true });
  }

  #leave(signal: AbortSignal): void {
    if (!this.#members.delete(signal) || this.#members.size > 0) return;
    this.#controller.abort();
    this.#body?.close();
    this.#release();
  }

  #release(): void {
    if (this.#members.size > 0 || this.#isStoring) return;
    this.#options.room.give(this);
  }
}

/** Whether a body may go on under a head that came with another. */
function isSame(one: Answer, other: Answer): boolean {
  const names = ["etag", "last-modified", "content-type", "content-length", "content-encoding"];
  return (
    one.status === other.status &&
    names.every((name) => fieldValue(one.headers, name) === fieldValue(other.headers, name))
  );
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

// Asks the origin for what the cache does not have, or not fresh, and says what of its answer is for others.

interface Question {
  readonly shared: ShareableRequest;
  readonly request: Request;
  readonly fetch: FetchFunction;
  /** The stored response, and the conditions by which the origin can say that it holds. */
  readonly known: { readonly stored: StoredResponse; readonly conditions: HeaderList } | null;
  /** The body of what is stored, or null where that is forgotten meanwhile. */
  readonly readKnown: () => Promise<ReadableStream<Uint8Array> | null>;
  readonly now: () => number;
}

type OriginAnswer =
  /** May be stored, and given to others. */
  | {
      readonly kind: "shared";
      readonly stored: StoredResponse;
      readonly body: ChunkReader | null;
      readonly isKnown: boolean;
    }
  | { readonly kind: "own"; readonly response: Response };

/** @param signal ends the fetch, and the body of its response. */
async function askOrigin(question: Question, signal: AbortSignal): Promise<OriginAnswer> {
  const { shared, request, fetch, known, now } = question;
  const headers = new Headers(request.headers);
  for (const [name, value] of known?.conditions ?? []) headers.set(name, value);
  const requestTime = now();
  const response = await fetch(new Request(request.url, { headers, redirect: "manual", signal }));
  const times = { requestTime, responseTime: now() };
  const answer = { status: response.status, ...reasonOf(response), headers: [...response.headers] };
  if (known !== null) {
    // A 304 is told of what is stored with its own fields; a failure is judged by what those say to a shared cache.
    const judged = judgeValidation(
      response.status === 304 ? known.stored : sharedView(known.stored),
      shared.asked,
      answer,
      times,
    );
    if (judged.kind !== "replaced") {
      await response.body?.cancel();
      const stored = judged.kind === "not-modified" ? judged.stored : known.stored;
      return answerKnown(question, stored, judged.kind === "not-modified" ? times : null, signal);
    }
  }
  const stored = toShared(shared.asked, answer, times);
  const length = decodedLength(response.headers);
  if (stored === null || (length !== null && length > SHARED_BODY_BYTES)) return { kind: "own", response };
  const body = hasNullBody("GET", response.status) ? null : openReader(await rawBody(response), false);
  return { kind: "shared", stored, body: body === null ? null : ofLength(body, length), isKnown: false };
}

/** @param times of the exchange in which the origin said that it holds; null where it failed, and nothing is stored anew. */
async function answerKnown(
  question: Question,
  stored: StoredResponse,
  times: ExchangeTimes | null,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const body = await question.readKnown();
  if (body === null) return askOrigin({ ...question, known: null }, signal);
  const again = times === null ? null : toShared(question.shared.asked, stored, times);
  const aged = times === null ? { ...stored, headers: headersWithAge(stored, question.now()) } : stored;
  if (again === null) return { kind: "own", response: toResponse(aged, body) };
  return { kind: "shared", stored: again, body: openReader(body, false), isKnown: true };
}

/** Fails where the body is not as long as its head says: platforms see to that, some of the time. */
function ofLength(body: ChunkReader, length: number | null): ChunkReader {
  let read = 0;
  return {
    cancel: body.cancel,
    async read() {
      const chunk = await body.read();
      read += chunk?.length ?? 0;
      const isWrong = length !== null && (read > length || (chunk === null && read < length));
      if (isWrong) throw new Error("Cannot read the body: connection reset before it was whole");
      return chunk;
    },
  };
}

/** Bytes of one body that are kept, with what its chunks cost, and so of the largest that is stored; above nearly all scripts, fonts and pictures. */
export const SHARED_BODY_BYTES = 2 * 1024 * 1024;

type State =
  | { readonly kind: "reading" }
  | { readonly kind: "whole" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "taken"; readonly by: symbol };

interface SharedBodyOptions {
  /** Asked before more is kept. */
  readonly hasRoom: (bytes: number) => boolean;
  /** Once: with the whole body, or null where it is too long, broken or wanted by nobody, or there is no room. */
  readonly onEnd: (body: Uint8Array<ArrayBuffer> | null) => void;
}

interface BodyReaderOptions {
  /** Gives the body from its start, where this reader cannot go on with the source. */
  readonly readAnew: () => Promise<ChunkReader>;
  /** The reader has the whole body, or does not want the rest. */
  readonly onOver: () => void;
}

/**
 * A body for several readers, each at a pace of its own. What was read is kept until its end for who comes later or is
 * slower, up to a bound; beyond it the reader that is farthest has the source to itself, and the others go on alone.
 */
class SharedBody {
  readonly #source: ChunkReader;
  readonly #options: SharedBodyOptions;
  #chunks: Uint8Array[] = [];
  /** What they take: a chunk of one byte costs more than a hundred. */
  #cost = 0;
  #state: State = { kind: "reading" };
  #step: Promise<void> | null = null;

  constructor(source: ChunkReader, options: SharedBodyOptions) {
    this.#source = source;
    this.#options = options;
  }

  open({ readAnew, onOver }: BodyReaderOptions): ReadableStream<Uint8Array> {
    const reader = Symbol("reader");
    let chunks = this.#chunks;
    let position = 0;
    let own: ChunkReader | null = null;
    const next = async (): Promise<Uint8Array | null> => {
      while (own === null) {
        const chunk = chunks[position];
        if (chunk !== undefined) position++;
        if (chunk !== undefined) return chunk;
        if (this.#state.kind === "whole") return null;
        if (this.#state.kind === "failed") throw this.#state.error;
        if (this.#state.kind === "reading") await this.#advance(reader);
        else {
          own = this.#state.by === reader ? this.#source : await startingBehind(chunks, await readAnew());
          chunks = [];
        }
      }
      return own.read();
    };
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const chunk = await next();
          if (chunk !== null) return controller.enqueue(chunk);
          onOver();
          controller.close();
        },
        async cancel(reason) {
          await own?.cancel(reason);
          onOver();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Nobody reads it any more. */
  close(): void {
    if (this.#state.kind !== "reading") return;
    this.#end({ kind: "failed", error: new Error("Cannot read on: the body was given up") });
    this.#source.cancel().catch(() => {});
  }

  #advance(reader: symbol): Promise<void> {
    this.#step ??= this.#read(reader).finally(() => {
      this.#step = null;
    });
    return this.#step;
  }

  async #read(reader: symbol): Promise<void> {
    try {
      const chunk = await this.#source.read();
      if (this.#state.kind !== "reading") return;
      if (chunk === null) return this.#end({ kind: "whole" });
      this.#chunks.push(chunk);
      const cost = chunk.length + limits.retainedFrameBytes;
      this.#cost += cost;
      const mayGoOn = this.#cost <= SHARED_BODY_BYTES && this.#options.hasRoom(cost);
      if (!mayGoOn) this.#end({ kind: "taken", by: reader });
    } catch (error) {
      if (this.#state.kind === "reading") this.#end({ kind: "failed", error });
    }
  }

  #end(state: Exclude<State, { kind: "reading" }>): void {
    this.#state = state;
    const body = state.kind === "whole" ? (concat(...this.#chunks) as Uint8Array<ArrayBuffer>) : null;
    // Readers that need them yet have them.
    if (state.kind !== "whole") this.#chunks = [];
    this.#options.onEnd(body);
  }
}

/** @throws Error where the body does not start as the former did: it is another by now. */
async function startingBehind(chunks: readonly Uint8Array[], body: ChunkReader): Promise<ChunkReader> {
  const former = concat(...chunks);
  for (let passed = 0; passed < former.length; ) {
    const chunk = await body.read();
    const part = chunk?.subarray(0, former.length - passed);
    const from = passed;
    if (chunk === null || part?.every((byte, index) => byte === former[from + index]) !== true) {
      await body.cancel();
      throw new Error("Cannot go on: connection reset, since the body is another by now");
    }
    passed += part.length;
    if (part.length < chunk.length) return startingWith(chunk.slice(part.length), body);
  }
  return body;
}

// Requests that a shared cache may answer, and their keys. What a phone's request carries and an origin gets is in
// the key, or the cache has no part in it: so no phone, and no page on one, can have an origin make an answer for others
// by a field that those do not send (cache poisoning by unkeyed fields).

/**
 * A response is selected by all of these fields, as though its `Vary` named them. What its `Vary` does name adds
 * nothing to that.
 */
const SELECTING = [
  "accept",
  "accept-encoding",
  "accept-language",
  "origin",
  "referer",
  "save-data",
  "sec-ch-ua",
  "sec-ch-ua-mobile",
  "sec-ch-ua-platform",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "sec-fetch-user",
  "upgrade-insecure-requests",
  "user-agent",
];

/** Values that browsers send to caches when a person reloads. They go to origins, too. Any other value was set by a page. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  "cache-control": ["no-cache", "max-age=0"],
  pragma: ["no-cache"],
};

/** Of the hash of a site. Two sites with the same hash would share what is cached for them: no harm beyond that. */
const SITE_BYTES = 8;

/** Count: of responses stored for one URL, by hash of what selects them: a new one takes the place of another. */
const MOST_VARIANTS = 8;

interface ShareableRequest {
  /** For the rules of caching, with all fields as they go to the origin. */
  readonly asked: CacheRequest;
  /** The same for all requests that one stored response answers. */
  readonly selector: string;
  /** The same for all requests that one fetch answers. */
  readonly identity: string;
  /** Whose page asks: a name of its top-level site that tells nobody which. What it brings counts as that site's. */
  readonly site: string;
}

/** @returns null where there are credentials, conditions, a range, a body, or any field that is not known to be of no use. */
function shareable({ method, url, headers }: Request, topLevelOrigin?: string): ShareableRequest | null {
  const fields = [...headers];
  const isKnown = ([name, value]: readonly [string, string]) =>
    SELECTING.includes(name) || DIRECTIVES[name]?.includes(value) === true;
  if (method !== "GET" || !fields.every(isKnown)) return null;
  const asked: CacheRequest = {
    method,
    url,
    headers: fields,
    cacheMode: "default",
    // Only what the fields say counts.
    destination: "",
    mode: "same-origin",
    origin: null,
    referrer: "",
  };
  const selector = JSON.stringify([url, ...SELECTING.map((name) => headers.get(name))]);
  const directives = Object.keys(DIRECTIVES).map((name) => headers.get(name));
  const site = toHex(digestOf(siteOf(topLevelOrigin ?? null) ?? "").subarray(0, SITE_BYTES));
  return { asked, selector, identity: nameOf(JSON.stringify([selector, ...directives])), site };
}

/** Short, whatever pages ask for: so many are kept, and no more bytes. */
const nameOf = (text: string): string => toHex(digestOf(text));

/** The URL as its hash: stores limit the length of keys, and need not know where people were. */
function keyOf({ asked, selector }: ShareableRequest): string {
  const [slot = 0] = digestOf(selector);
  return `https://shared-cache.ropeway.invalid/${toHex(digestOf(asked.url))}/${slot % MOST_VARIANTS}`;
}

function digestOf(text: string): Uint8Array {
  return sha256(new TextEncoder().encode(text));
}

// A stored response as the platform's cache has it: a plain 200 whose body is the body, with the rest in one field.

/** Bodies are in it as fetch handed them out. */
const RECORD = "ropeway-record-2";

/** Characters: Cloudflare lets a response have 32 KB of fields. What has a longer head is not stored. */
const MOST_RECORD = 16 * 1024;

/** Seconds that a response is kept beyond its lifetime, to be validated; and at most. */
const KEPT_STALE = 24 * 60 * 60;
const KEPT = 30 * KEPT_STALE;

interface Found {
  readonly stored: StoredResponse;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** @returns null where the head is too long. */
function toRecord(
  stored: StoredResponse,
  { selector, site }: Pick<ShareableRequest, "selector" | "site">,
  body: Uint8Array<ArrayBuffer>,
): Response | null {
  const record = toAsciiJson({ ...stored, headers: endToEnd(stored), selector });
  if (record.length > MOST_RECORD) return null;
  const view = sharedView(stored);
  const lifetime = freshnessLifetime(view) + staleGrace(view, "stale-while-revalidate") + KEPT_STALE;
  return new Response(body, {
    headers: {
      "cache-control": `public, max-age=${Math.ceil(Math.min(lifetime, KEPT))}`,
      "content-length": String(body.length),
      "content-type": "application/octet-stream",
      [RECORD]: record,
      [SITE_FIELD]: site,
    },
  });
}

/** @returns null where the record is of other requests, or none. Its body is the caller's in any case. */
function fromRecord(response: Response, selector: string): Found | null {
  const record = response.headers.get(RECORD);
  if (record === null) return null;
  const { selector: itsSelector, ...stored } = JSON.parse(record) as StoredResponse & { readonly selector: string };
  // If several requests share one slot, only the last one's response is there.
  return itsSelector === selector ? { stored, body: response.body } : null;
}

/** A response for an exchange, as though its origin had sent it: with a body as the platform hands it out. */
function toResponse(answer: Answer, body: ReadableStream<Uint8Array> | null): Response {
  const { status, headers } = answer;
  return new Response(hasNullBody("GET", status) ? null : body, {
    status,
    statusText: statusTextOf(answer),
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
}

function endToEnd({ headers }: StoredResponse): StoredResponse["headers"] {
  const isHopByHop = hopByHopFilter(headers.find(([name]) => name === "connection")?.[1] ?? null);
  return headers.filter(([name]) => !isHopByHop(name));
}
