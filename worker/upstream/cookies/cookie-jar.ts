/**
 * All cookies of one phone, at the edge, apart by the site of the top-level page: what a site sets inside one site's
 * pages is never sent from another's.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { isSameSite, ownerOf, siteOf } from "../fetch-rules/site.ts";
import { isVisibleToScripts, type SameSiteContext, toScriptCookie } from "./cookie.ts";
import { type CookieChange, CookiePartition } from "./cookie-partition.ts";

/** Partitions kept in memory; at COOKIE_PARTITION_BYTES each that is under 4 MiB. */
export const COOKIE_PARTITIONS_LOADED = 64;

/** Milliseconds: cookies set within this time are written together; one page load often sets dozens. */
const COOKIE_WRITE_DELAY = 250;

/**
 * Milliseconds: cookies that could not be stored are tried again after this time: somebody makes room on a full disk.
 */
const COOKIE_RETRY_DELAY = 10_000;

/** Then only the next change tries again: what waits keeps a Durable Object in memory, here for an hour. */
export const COOKIE_RETRIES = 360;

/** Where cookies are kept: the storage of a Durable Object, Deno KV, or a Map. Values are strings. */
export interface CookieJarStore {
  get(key: string): Promise<unknown>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that begin with `prefix`. */
  list(prefix: string): Promise<readonly string[]>;
}

/** Its clock counts milliseconds since the epoch. */
export interface CookieJarDeps extends Clock {
  readonly store: CookieJarStore;
}

export interface CookieRequest {
  readonly partition: string;
  readonly url: URL;
  readonly context: SameSiteContext;
}

export interface CookieResponse {
  readonly partition: string;
  readonly url: URL;
  readonly lines: readonly string[];
  readonly takesSameSite: boolean;
  /** The site's `Clear-Site-Data` says "cookies": all cookies of its registrable domain go. */
  readonly clearsSite?: boolean;
}

const KEY_PREFIX = "cookies/";

/** The partition of a top-level origin. An opaque one shares a single partition that no site is in. */
export function partitionOf(topLevelOrigin: string): string {
  return siteOf(topLevelOrigin) ?? "opaque";
}

interface LoadedPartition {
  readonly cookies: Promise<CookiePartition>;
  dirty: boolean;
  /** Cleared while an exchange still held it: what that exchange sets is not kept. */
  discarded: boolean;
}

export class CookieJar {
  readonly #deps: Required<CookieJarDeps>;
  /** Least recently used first. */
  readonly #loaded = new Map<string, LoadedPartition>();
  #stopTimer: (() => void) | null = null;
  #retriesLeft: number = COOKIE_RETRIES;
  /** Writes happen one after the other, so that an older one never lands on a newer one. */
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: CookieJarDeps) {
    this.#deps = deps;
  }

  /** Value of the Cookie field, "" for none. */
  async fieldFor({ partition, url, context }: CookieRequest): Promise<string> {
    return (await this.#load(partition).cookies).fieldFor(url, context, this.#deps.now());
  }

  /** Whether any cookie is for the URL's origin, on whatever path. */
  async hasFor(partition: string, url: URL): Promise<boolean> {
    return (await this.#load(partition).cookies).hasFor(url, this.#deps.now());
  }

  /** Takes the Set-Cookie lines of a response. Lines that are not allowed are ignored, as browsers do. */
  async store({ partition, url, lines, takesSameSite, clearsSite }: CookieResponse): Promise<CookieChange[]> {
    if (lines.length === 0 && !clearsSite) return [];
    const loaded = this.#load(partition);
    const cookies = await loaded.cookies;
    const setting = { url, now: this.#deps.now(), http: true, takesSameSite };
    const changes = cookies.setAll(lines, setting);
    if (clearsSite) changes.push(...cookies.removeSite(url.hostname));
    if (changes.length > 0) this.#markDirty(partition, loaded);
    return changes;
  }

  /** All cookies that scripts of documents of `documentUrl`'s origin may see, on any path. */
  async scriptCookies(partition: string, documentUrl: URL): Promise<ScriptCookie[]> {
    const cookies = await this.#load(partition).cookies;
    return cookies.visibleTo(documentUrl, this.#deps.now()).map(toScriptCookie);
  }

  /**
   * `document.cookie = setCookieString` in a document of `documentUrl` below a page of `topLevelOrigin`.
   * @returns true if the cookie was set or removed, false if it was ignored
   */
  async setScriptCookie(topLevelOrigin: string, documentUrl: URL, setCookieString: string): Promise<boolean> {
    const partition = partitionOf(topLevelOrigin);
    const loaded = this.#load(partition);
    const cookies = await loaded.cookies;
    const change = cookies.set(setCookieString, {
      url: documentUrl,
      now: this.#deps.now(),
      http: false,
      takesSameSite: isSameSite(topLevelOrigin, documentUrl.origin),
    });
    if (change !== null) this.#markDirty(partition, loaded);
    return change !== null;
  }

  /** Forgets every cookie of every partition. */
  async clear(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = null;
    for (const partition of [...this.#loaded.keys()]) this.#discard(partition);
    await this.#enqueue(async () => {
      const keys = await this.#deps.store.list(KEY_PREFIX);
      await Promise.all(keys.map((key) => this.#deps.store.delete(key)));
    });
  }

  /** Forgets all cookies below the site that a host belongs to, and that site's own below others. */
  async clearSite(host: string): Promise<void> {
    const own = ["https:", "http:"].map((scheme) => `${scheme}//${ownerOf(host)}`);
    for (const partition of own) this.#discard(partition);
    await this.#enqueue(async () => {
      await Promise.all(own.map((partition) => this.#deps.store.delete(KEY_PREFIX + partition)));
    });
    const keys = await this.#deps.store.list(KEY_PREFIX);
    const partitions = new Set([...keys.map((key) => key.slice(KEY_PREFIX.length)), ...this.#loaded.keys()]);
    for (const partition of partitions) {
      const loaded = this.#load(partition);
      if ((await loaded.cookies).removeSite(host).length > 0) this.#markDirty(partition, loaded);
    }
    await this.flush();
  }

  /** Resolves when everything set so far is stored. Rejects if the store failed; what failed is tried again later. */
  async flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = null;
    await this.#enqueue(() => this.#writeDirty()).catch((error: unknown) => {
      this.#retryLater();
      throw error;
    });
    this.#retriesLeft = COOKIE_RETRIES;
  }

  #load(partition: string): LoadedPartition {
    const known = this.#loaded.get(partition);
    const loaded = known ?? {
      // After the writes before it, so that what `clear` is deleting is not read.
      cookies: this.#writing
        .then(() => this.#deps.store.get(KEY_PREFIX + partition))
        .then((stored) => new CookiePartition(stored, URL.parse(partition)?.hostname ?? null)),
      dirty: false,
      discarded: false,
    };
    if (known === undefined) loaded.cookies.catch(() => this.#loaded.delete(partition));
    this.#loaded.delete(partition);
    this.#loaded.set(partition, loaded);
    for (const [name, { dirty }] of this.#loaded) {
      if (this.#loaded.size <= COOKIE_PARTITIONS_LOADED) break;
      if (!dirty && name !== partition) this.#loaded.delete(name);
    }
    return loaded;
  }

  #discard(partition: string): void {
    const loaded = this.#loaded.get(partition);
    if (loaded !== undefined) loaded.discarded = true;
    this.#loaded.delete(partition);
  }

  #markDirty(partition: string, loaded: LoadedPartition): void {
    if (loaded.discarded) return;
    loaded.dirty = true;
    this.#loaded.set(partition, loaded);
    this.#flushAfter(COOKIE_WRITE_DELAY);
  }

  #flushAfter(delay: number): void {
    // A failed write leaves its partition dirty.
    this.#stopTimer ??= this.#deps.setTimer(() => void this.flush().catch(() => {}), delay);
  }

  #retryLater(): void {
    if (this.#retriesLeft === 0) return;
    this.#retriesLeft -= 1;
    this.#flushAfter(COOKIE_RETRY_DELAY);
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }

  async #writeDirty(): Promise<void> {
    for (const [partition, loaded] of [...this.#loaded]) {
      if (!loaded.dirty) continue;
      const cookies = await loaded.cookies;
      loaded.dirty = false;
      const text = cookies.serialize(this.#deps.now());
      const key = KEY_PREFIX + partition;
      try {
        await (cookies.size === 0 ? this.#deps.store.delete(key) : this.#deps.store.put(key, text));
      } catch (error) {
        loaded.dirty = true;
        throw error;
      }
    }
  }
}

/**
 * The changes that scripts of `documentUrl`'s origin may know of, as `ResponseHead.scriptCookies` lists them: a
 * cookie that became HttpOnly counts as removed.
 */
export function visibleChanges(changes: readonly CookieChange[], documentUrl: URL): ScriptCookie[] {
  const visible: ScriptCookie[] = [];
  for (const { next, previous } of changes) {
    if (isVisibleToScripts(next, documentUrl)) visible.push(toScriptCookie(next));
    else if (previous !== null && isVisibleToScripts(previous, documentUrl)) {
      visible.push({ ...toScriptCookie(previous), value: "", expires: 0 });
    }
  }
  return visible;
}
