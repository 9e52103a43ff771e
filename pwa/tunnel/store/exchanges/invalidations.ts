import type { RequestHead, ResponseHead } from "../../../../shared/http/heads.ts";
import { clearedOrigins, invalidatedUrls } from "../../../../shared/http-cache/cache-rules.ts";
import { isSameOrigin } from "../../../../shared/web/origin.ts";
import type { ResponseStore } from "../database/response-store.ts";
import { type ExchangeEntry, partitionOf, type StoredExchange } from "./stored-exchange.ts";

type Place = Pick<ExchangeEntry, "url" | "kept">;

/** Entries that an exchange has made untrue. */
interface Drop {
  readonly partition: string;
  isGone(entry: Place): boolean;
  /** Number of the requests that were made before. */
  readonly after: number;
}

/** More than a page has under way. */
const DROPS = 64;

/** In place of a URL. */
const ANY_URL = "";

/** Changes that exchanges make in the store, and entries that they have made untrue, until both are done. */
export class Invalidations {
  readonly #store: ResponseStore<StoredExchange>;
  readonly #pending = new PendingChanges();
  /** The latest drops: a response that was asked for before a drop is not stored after it. */
  #drops: Drop[] = [];
  #asked = 0;

  constructor(store: ResponseStore<StoredExchange>) {
    this.#store = store;
  }

  /** A request begins. @returns its number, for `isDropped`. */
  begin(): number {
    return this.#asked++;
  }

  isDropped(number: number, partition: string, url: string): boolean {
    return this.#drops.some((drop) => drop.after > number && drop.partition === partition && drop.isGone({ url }));
  }

  /** The changes that the next request for this URL waits for; null where there are none, or no entry can be read yet. */
  pendingFor(partition: string, url: string): Promise<unknown> | null {
    if (!this.#store.isOpen) return null;
    const [own, any] = [this.#pending.of(keyOf(partition, url)), this.#pending.of(keyOf(partition, ANY_URL))];
    if (own !== null || any !== null) this.#store.hurry();
    return own === null || any === null ? (own ?? any) : Promise.all([own, any]);
  }

  allPending(partition: string): Promise<unknown> {
    this.#store.hurry();
    return this.#pending.all(keyOf(partition, ""));
  }

  /** @param change does not reject. */
  add(partition: string, url: string, change: Promise<unknown>): void {
    this.#pending.add(keyOf(partition, url), change);
  }

  /** An answer of the edge. */
  answered(head: RequestHead, response: ResponseHead): void {
    const urls = invalidatedUrls(head, response);
    // The request was redirected on its way, and nobody here saw the `Location`.
    if (urls.length > 0 && isSameOrigin(response.url, head.url)) urls.push(response.url);
    if (urls.length > 0)
      this.#drop(partitionOf(head), urls, ({ url, kept }) => kept === undefined && urls.includes(url));
    const cleared = clearedOrigins(response);
    if (cleared.length > 0) {
      this.#drop(partitionOf(head), [ANY_URL], ({ url }) => cleared.some((origin) => isSameOrigin(url, origin)));
    }
  }

  /** @param urls those of them that may be asked for next. */
  #drop(partition: string, urls: readonly string[], isGone: (entry: Place) => boolean): void {
    this.#drops = [...this.#drops, { partition, isGone, after: this.#asked++ }].slice(-DROPS);
    const dropped = Promise.all([this.#store.opened, this.allPending(partition)])
      .then(() => this.#store.index(partition))
      .then((index) => this.#store.remove([...index.all(), ...index.allKept()].filter(isGone)));
    for (const url of urls) this.add(partition, url, dropped);
  }
}

const keyOf = (partition: string, url: string): string => `${partition} ${url}`;

/** Changes to entries of a URL that are on their way: the next request waits for them, and finds them. */
class PendingChanges {
  readonly #byKey = new Map<string, Promise<unknown>>();

  /** Null where nothing changes. */
  of(key: string): Promise<unknown> | null {
    return this.#byKey.get(key) ?? null;
  }

  /** The changes for all keys that begin so. */
  all(prefix: string): Promise<unknown> {
    return Promise.all([...this.#byKey].filter(([key]) => key.startsWith(prefix)).map(([, change]) => change));
  }

  /** @param change does not reject. */
  add(key: string, change: Promise<unknown>): void {
    const both = Promise.all([this.#byKey.get(key), change]).then(() => {
      if (this.#byKey.get(key) === both) this.#byKey.delete(key);
    });
    this.#byKey.set(key, both);
  }
}
