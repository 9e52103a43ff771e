/**
 * What the pages of one phone are likely to have at hand, since it was delivered in this session and is fresh: pushing it
 * again would be waste. The phone corrects a wrong guess by asking: then the resource is pushed from there on.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { currentAge, freshnessLifetime, toStored } from "../../../shared/http-cache/cache-rules.ts";

/** Resources that the edge takes a phone's pages to keep; 8 bytes each of a hibernated socket's attachment. */
export const DELIVERED_RESOURCES = 256;

/** Pairs of hash and state: seconds since the epoch until when it is fresh, or 0. Plain data, for structured clone. */
export type DeliveredSnapshot = Uint32Array;

/** The phone asked again for what was fresh: its pages do not keep it. */
const NOT_KEPT = 0;
/** Seconds in which the page of a navigation asks for what the phone has asked about with it. */
const ASKED_WITHIN = 60;
/** Seconds after which the browser has thrown a resource away. */
const LONGEST = 24 * 3600;

export class DeliveredResources {
  #now: () => number;
  /** By hash of the request, oldest first. If two requests have the same hash, one push is not made. */
  #states = new BoundedMap<number, number>(DELIVERED_RESOURCES);

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number, snapshot: DeliveredSnapshot = new Uint32Array(0)) {
    this.#now = now;
    for (let at = 0; at + 1 < snapshot.length; at += 2) {
      this.#states.set(snapshot[at] as number, snapshot[at + 1] as number);
    }
  }

  isAtHand(head: RequestHead): boolean {
    return (this.#states.get(hashOf(head)) ?? NOT_KEPT) > this.#seconds;
  }

  /** The phone asks for it by itself. */
  asked(head: RequestHead): void {
    if (this.isAtHand(head)) this.#states.set(hashOf(head), NOT_KEPT);
  }

  /** The phone has it, and asks whether it holds. */
  stored(head: RequestHead): void {
    this.#states.set(hashOf(head), this.#seconds + ASKED_WITHIN);
  }

  delivered(head: RequestHead, response: ResponseHead): void {
    const hash = hashOf(head);
    if (this.#states.get(hash) === NOT_KEPT) return;
    this.#states.delete(hash);
    const lifetime = freshFor(head, response, this.#now());
    if (lifetime <= 0) return;
    this.#states.set(hash, this.#seconds + Math.min(lifetime, LONGEST));
  }

  /** It was given up before it was whole. */
  undelivered(head: RequestHead): void {
    if (this.isAtHand(head)) this.#states.delete(hashOf(head));
  }

  snapshot(): DeliveredSnapshot {
    return Uint32Array.from([...this.#states].flat());
  }

  get #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

/** In seconds, as a browser reckons that gets it now; a server's failure is worth asking again. */
function freshFor(head: RequestHead, response: ResponseHead, now: number): number {
  if (response.status >= 500) return 0;
  const stored = toStored({ ...head, cacheMode: "default" }, response, { requestTime: now, responseTime: now });
  return stored === null ? 0 : freshnessLifetime(stored) - currentAge(stored, now);
}

/** FNV-1a over all that decides about a response. */
function hashOf({ topLevelOrigin, origin, destination, mode, credentials, url }: RequestHead): number {
  let hash = 0x811c9dc5;
  const text = [topLevelOrigin, origin, destination, mode, credentials, url].join(" ");
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
