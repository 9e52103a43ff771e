/**
 * A shared cache before a fetch: RFC 9111 by the rules of `shared/http-cache`, for public responses to requests without
 * credentials. Who asks what another is asking for already gets the same response.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { Clock } from "../../../shared/clock.ts";
import {
  type Decision,
  decide,
  headersWithAge,
  invalidatedUrls,
  type StoredResponse,
  sharedView,
} from "../../../shared/http-cache/cache-rules.ts";
import type { FetchFunction } from "../send/send.ts";
import type { Question } from "./ask-origin.ts";
import { Flight } from "./flight.ts";
import { type Found, fromRecord, toRecord, toResponse } from "./record.ts";
import type { Room } from "./room.ts";
import { keyOf, type ShareableRequest, shareable } from "./shareable-request.ts";
import { markFromCache, type SharedCache } from "./shared-cache.ts";

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

export interface SharedResponsesDeps extends Clock {
  readonly cache: SharedCache;
  /** For bodies that come: of all phones in the process. */
  readonly room: Room;
}

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
    // What it has changed is out of date for itself at once. For the others it stays: a page can post anywhere.
    const changed = new BoundedMap<string, number>(MOST_CHANGED);
    return async (request, topLevelOrigin) => {
      const shared = shareable(request, topLevelOrigin);
      if (shared !== null) return this.#answer(shared, request, fetch, changed.get(request.url) ?? null);
      const { method, url } = request;
      const response = await fetch(request);
      const answer = { status: response.status, headers: [...response.headers] };
      for (const each of invalidatedUrls({ method, url }, answer)) changed.set(each, this.#deps.now());
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
    const known =
      found === null || !("fields" in decision) ? null : { stored: found.stored, conditions: decision.fields };
    const readKnown = async () => (await this.#find(key, shared))?.body ?? null;
    const question = { shared, request, fetch, known, readKnown, now };
    if (decision.kind === "answer-and-validate" && !this.#flights.has(shared.identity)) this.#refresh(key, question);
    if (found !== null && decision.kind.startsWith("answer")) {
      const { stored, body } = found;
      return markFromCache(toResponse({ ...stored, headers: headersWithAge(stored, now()) }, body));
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
    // It was found by all that may select it.
    return decide(asked, [{ ...sharedView(found.stored), selecting: [] }], this.#deps.now());
  }

  /** Asks the origin, for all who want to know meanwhile. */
  #start(key: string, question: Question): Flight {
    const { identity } = question.shared;
    const flight: Flight = new Flight({
      question,
      room: this.#deps.room,
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

  /** What is stored was answered with, stale; the next who asks gets what the origin says now. */
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
      // It has no room, or is not there.
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
