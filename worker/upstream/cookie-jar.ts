/**
 * All cookies of one phone, at the edge, apart by the site of the top-level page: what a site sets inside one site's
 * pages is never sent from another's.
 */
import type { Clock } from "../../shared/clock.ts";
import type { RequestHead, ScriptCookie } from "../../shared/http/heads.ts";
import {
  type Cookie,
  type CookieSetting,
  cookieKey,
  cookieString,
  isExpired,
  isForOrigin,
  isForUrl,
  isShadowedBySecure,
  parseSetCookie,
} from "../../shared/web/cookie.ts";
import { isSameOrigin } from "../../shared/web/origin.ts";
import type { Tainting } from "./cors.ts";
import { isSameSite, ownerOf, siteOf, suffixLabels } from "./site.ts";

/** Partitions kept in memory; at COOKIE_PARTITION_BYTES each that is under 4 MiB. */
export const COOKIE_PARTITIONS_LOADED = 64;

/** Partitions in memory while a full disk takes none; above that the least recently used are lost. */
export const COOKIE_PARTITIONS_WAITING = 4 * COOKIE_PARTITIONS_LOADED;

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
  /** Characters of each value whose key begins with `prefix`, by key. */
  list(prefix: string): Promise<ReadonlyMap<string, number>>;
}

/** Characters: partitions of a phone in its store, all together. Room for the 3,300 cookies that Chromium keeps, and long ones. */
export const PARTITIONS_LENGTH = 4 * 1024 * 1024;

/** Characters that each partition counts in addition: that bounds how many there are to look through. */
const PARTITION_COST = 1024;

/** Characters that are left once there are too many, so that not each write has to look through all partitions. */
const PARTITIONS_LEFT = (3 / 4) * PARTITIONS_LENGTH;

/** How a partition stands beside others. */
interface Standing {
  /** It was in use for longer than a page needs to lead through many sites, and lately. */
  readonly isLasting: boolean;
  /** Any order will do. */
  readonly usedAt: number;
}

/**
 * Partitions of one kind in a phone's store. A redirect can lead through endless sites, and years of browsing do: those that were
 * in use for a moment go first, and of the others those that were used longest ago.
 */
export class StoredPartitions {
  readonly #store: CookieJarStore;
  readonly #prefix: string;
  readonly #standingOf: (stored: unknown) => Standing;
  /** By partition; null before the store was asked. */
  #lengths: Map<string, number> | null = null;
  #isBounding = false;

  /** @param standingOf of what `set` was given. */
  constructor(store: CookieJarStore, prefix: string, standingOf: (stored: unknown) => Standing) {
    this.#store = store;
    this.#prefix = prefix;
    this.#standingOf = standingOf;
  }

  get(partition: string): Promise<unknown> {
    return this.#store.get(this.#prefix + partition);
  }

  async set(partition: string, text: string): Promise<void> {
    await this.#store.put(this.#prefix + partition, text);
    this.#lengths?.set(partition, text.length);
  }

  async delete(partition: string): Promise<void> {
    await this.#store.delete(this.#prefix + partition);
    this.#lengths?.delete(partition);
  }

  async names(): Promise<string[]> {
    return [...(await this.#ask()).keys()];
  }

  /**
   * Deletes some where they are too long together.
   *
   * @param recent partitions in memory, least recently used first: they go after others that stand as they do, and the last one
   *   stays.
   * @returns those that were deleted. It does not throw: what fails is tried again at the next call.
   */
  async bound(recent: Iterable<string>): Promise<string[]> {
    const deleted: string[] = [];
    if (this.#isBounding) return deleted;
    this.#isBounding = true;
    try {
      if (lengthOf(this.#lengths ?? (await this.#ask())) <= PARTITIONS_LENGTH) return deleted;
      // Another process may have changed them.
      const lengths = await this.#ask();
      let left = lengthOf(lengths);
      const order = await this.#inOrder([...lengths.keys()], [...recent]);
      for (const partition of order) {
        if (left <= PARTITIONS_LEFT) break;
        left -= PARTITION_COST + (lengths.get(partition) ?? 0);
        await this.delete(partition);
        deleted.push(partition);
      }
    } catch {
      this.#lengths = null;
    } finally {
      this.#isBounding = false;
    }
    return deleted;
  }

  /** All but the one that was used last. */
  async #inOrder(partitions: readonly string[], recent: readonly string[]): Promise<string[]> {
    const ranks = new Map(recent.map((partition, index) => [partition, index]));
    const others = partitions.filter((partition) => partition !== recent.at(-1));
    const all: (Standing & { readonly partition: string; readonly rank: number })[] = [];
    for (let at = 0; at < others.length; at += COOKIE_PARTITIONS_LOADED) {
      const some = others.slice(at, at + COOKIE_PARTITIONS_LOADED);
      const read = some.map(async (partition) => {
        const standing = this.#standingOf(await this.get(partition));
        all.push({ ...standing, partition, rank: ranks.get(partition) ?? -1 });
      });
      await Promise.all(read);
    }
    const order = (a: Standing & { rank: number }, b: Standing & { rank: number }): number =>
      Number(a.isLasting) - Number(b.isLasting) || a.rank - b.rank || a.usedAt - b.usedAt;
    return all.sort(order).map(({ partition }) => partition);
  }

  async #ask(): Promise<Map<string, number>> {
    const listed = await this.#store.list(this.#prefix);
    this.#lengths = new Map([...listed].map(([key, length]) => [key.slice(this.#prefix.length), length]));
    return this.#lengths;
  }
}

function lengthOf(lengths: ReadonlyMap<string, number>): number {
  return [...lengths.values()].reduce((sum, length) => sum + length + PARTITION_COST, 0);
}

/** Its clock counts milliseconds since the epoch. */
interface CookieJarDeps extends Clock {
  readonly store: CookieJarStore;
}

interface CookieRequest {
  readonly partition: string;
  readonly url: URL;
  readonly context: SameSiteContext;
}

interface CookieResponse {
  readonly partition: string;
  readonly url: URL;
  readonly lines: readonly string[];
  readonly takesSameSite: boolean;
  /** The site's `Clear-Site-Data` says "cookies": all cookies of its registrable domain go. */
  readonly clearsSite?: boolean;
}

/** Milliseconds. Cookies that are sent are written anew after so long, for when that was; those in use for longer are lasting. */
const LASTING = 3_600_000;
/** Milliseconds, as in Chromium: those that were not used for so long do not count as lasting. */
const LATELY = 30 * 24 * 3_600_000;

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
  readonly #deps: CookieJarDeps;
  readonly #stored: StoredPartitions;
  /** Least recently used first. */
  readonly #loaded = new Map<string, LoadedPartition>();
  #stopTimer: (() => void) | null = null;
  #retriesLeft: number = COOKIE_RETRIES;
  /** Writes happen one after the other, so that an older one never lands on a newer one. */
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: CookieJarDeps) {
    this.#deps = deps;
    this.#stored = new StoredPartitions(deps.store, "cookies/", (stored) =>
      standingOf(parseStored(stored), deps.now()),
    );
  }

  /** Value of the Cookie field, "" for none. */
  async fieldFor({ partition, url, context }: CookieRequest): Promise<string> {
    const loaded = this.#load(partition);
    const cookies = await loaded.cookies;
    const now = this.#deps.now();
    const field = cookies.fieldFor(url, context, now);
    if (field !== "" && now - cookies.writtenAt >= LASTING) this.#markDirty(partition, loaded);
    return field;
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
      const names = await this.#stored.names();
      await Promise.all(names.map((partition) => this.#stored.delete(partition)));
    });
  }

  /** Forgets all cookies below the site that a host belongs to, and that site's own below others. */
  async clearSite(host: string): Promise<void> {
    const own = ["https:", "http:"].map((scheme) => `${scheme}//${ownerOf(host)}`);
    for (const partition of own) this.#discard(partition);
    await this.#enqueue(async () => {
      await Promise.all(own.map((partition) => this.#stored.delete(partition)));
    });
    const partitions = new Set([...(await this.#stored.names()), ...this.#loaded.keys()]);
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
        .then(() => this.#stored.get(partition))
        .then((stored) => new CookiePartition(stored, URL.parse(partition)?.hostname ?? null)),
      dirty: false,
      discarded: false,
    };
    if (known === undefined) loaded.cookies.catch(() => this.#loaded.delete(partition));
    this.#loaded.delete(partition);
    this.#loaded.set(partition, loaded);
    for (const [name, { dirty }] of this.#loaded) {
      if (this.#loaded.size <= COOKIE_PARTITIONS_LOADED) break;
      const mayWait = dirty && this.#loaded.size <= COOKIE_PARTITIONS_WAITING;
      if (!mayWait && name !== partition) this.#loaded.delete(name);
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
    let hasWritten = false;
    for (const [partition, loaded] of [...this.#loaded]) {
      if (!loaded.dirty) continue;
      const cookies = await loaded.cookies;
      loaded.dirty = false;
      const text = cookies.serialize(this.#deps.now());
      try {
        await (cookies.size === 0 ? this.#stored.delete(partition) : this.#stored.set(partition, text));
        hasWritten = true;
      } catch (error) {
        loaded.dirty = true;
        throw error;
      }
    }
    if (!hasWritten) return;
    for (const partition of await this.#stored.bound(this.#loaded.keys())) this.#discard(partition);
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

// Requests of pages that send and store cookies (Fetch section 4.6, RFC 6265bis section 5.2).

interface CookieAccess {
  readonly partition: string;
  /** False: neither sent nor stored. */
  readonly allowed: boolean;
  readonly context: SameSiteContext;
  /** Whether SameSite=Lax and Strict may be stored. */
  readonly takesSameSite: boolean;
}

type AskingPage = Pick<RequestHead, "mode" | "destination" | "credentials" | "origin" | "topLevelOrigin">;

/** A navigation of the page itself, not of a frame in it. */
function isTopLevelNavigation(head: Pick<RequestHead, "mode" | "destination">): boolean {
  return head.mode === "navigate" && head.destination === "document";
}

/**
 * The partition of one hop. The first hop's is what the tunnel stamped, whatever a page claims to be navigating; a
 * top-level navigation that is redirected takes the partition of the site it is led to.
 */
export function hopPartition(head: AskingPage, url: URL, isFirstHop: boolean): string {
  return partitionOf(isTopLevelNavigation(head) && !isFirstHop ? url.origin : head.topLevelOrigin);
}

export function cookieAccess(
  head: AskingPage,
  hop: { readonly url: URL; readonly method: string; readonly tainting: Tainting; readonly isFirstHop: boolean },
): CookieAccess {
  const { url, method } = hop;
  const isTopLevel = isTopLevelNavigation(head);
  // A navigation that the person started has no initiator, and counts as the site's own.
  const fromSameSite = head.origin === null ? head.mode === "navigate" : isSameSite(head.origin, url.origin);
  const belowSameSite = isTopLevel || isSameSite(head.topLevelOrigin, url.origin);
  const isSafe = method === "GET" || method === "HEAD";
  let context: SameSiteContext = "cross-site";
  if (fromSameSite && belowSameSite) context = "same-site";
  else if (isTopLevel) context = isSafe ? "lax" : "lax-unsafe";
  return {
    partition: hopPartition(head, url, hop.isFirstHop),
    allowed: allowsCredentials(head, url, hop.tainting),
    context,
    takesSameSite: isTopLevel || context === "same-site",
  };
}

function allowsCredentials(head: AskingPage, url: URL, tainting: Tainting): boolean {
  if (head.credentials === "omit") return false;
  if (head.mode === "navigate") return true;
  // The slot can read the bytes of no-cors responses, which a browser would keep from the page.
  if (head.mode === "no-cors" && !isSameSite(head.origin, url.origin)) return false;
  if (head.credentials === "include") return true;
  return tainting !== "cors" && isSameOrigin(head.origin, url.origin);
}

/** Cookies of one registrable domain in a partition: as many as browsers keep. */
export const COOKIES_PER_SITE = 180;

/** Cookies of a page's own site and all that it embeds. What is embedded gives way, the site with the most first. */
const COOKIES_PER_PARTITION = 600;

/** Bytes: serialized cookies of one partition, shared as COOKIES_PER_PARTITION; a value of Deno KV holds 64 KiB. */
export const COOKIE_PARTITION_BYTES = 60 * 1024;

/** Count: so many cookies may be set before those are taken away that are too many. */
const BOUNDED_AFTER = 100;

/** Effect of a Set-Cookie line: the cookie that stands now (or is in the past), and the one it replaced. */
export interface CookieChange {
  readonly next: StoredCookie;
  readonly previous: StoredCookie | null;
}

/**
 * The cookies of one partition: a bounded set with the storage rules of RFC 6265bis section 5.7. What a page embeds
 * cannot make it forget its own site's cookies, nor much of what else it embeds.
 */
export class CookiePartition {
  readonly #cookies = new Map<string, StoredCookie>();
  readonly #site: string | null;
  #writtenAt: number;

  /**
   * @param stored what `serialize` gave; anything else makes an empty partition
   * @param host of the partition's own site; null for an opaque one
   */
  constructor(stored: unknown, host: string | null) {
    this.#site = host === null ? null : ownerOf(host);
    for (const cookie of parseStored(stored)) this.#cookies.set(cookieKey(cookie), cookie);
    this.#writtenAt = lastSent(this.#all());
    // Another release may have stored more.
    if (typeof stored === "string" && stored.length > COOKIE_PARTITION_BYTES) this.serialize(0);
  }

  get size(): number {
    return this.#cookies.size;
  }

  /** When one was last sent or set before it was last written, in milliseconds since the epoch; 0 where there is none. */
  get writtenAt(): number {
    return this.#writtenAt;
  }

  /** Null where the line was ignored. */
  set(line: string, setting: JarSetting): CookieChange | null {
    return this.setAll([line], setting)[0] ?? null;
  }

  /** Lines of one response. @returns what those did that were not ignored. */
  setAll(lines: readonly string[], setting: JarSetting): CookieChange[] {
    const changes: CookieChange[] = [];
    for (const line of lines) {
      const change = this.#set(line, setting);
      if (change === null) continue;
      changes.push(change);
      // To weigh all that is kept after each would take time that is quadratic.
      if (changes.length % BOUNDED_AFTER === 0) this.#bound(setting.now, ownerOf(change.next.domain));
    }
    const last = changes.at(-1);
    if (last !== undefined) this.#bound(setting.now, ownerOf(last.next.domain));
    return changes;
  }

  #set(line: string, setting: JarSetting): CookieChange | null {
    const cookie = takeSetCookie(line, setting);
    if (cookie === null) return null;
    const key = cookieKey(cookie);
    const previous = this.#cookies.get(key) ?? null;
    if (previous?.httpOnly && !setting.http) return null;
    if (isShadowedBySecure(cookie, setting.url, this.#cookies.values())) return null;
    const next = previous === null ? cookie : inPlaceOf(previous, cookie);
    if (isExpired(next, setting.now)) {
      this.#cookies.delete(key);
      return previous === null ? null : { next, previous };
    }
    this.#cookies.set(key, next);
    return { next, previous };
  }

  /** All of the site that a host belongs to go. */
  removeSite(host: string): CookieChange[] {
    const site = ownerOf(host);
    const removed = this.#all().filter(({ domain }) => ownerOf(domain) === site);
    for (const cookie of removed) this.#cookies.delete(cookieKey(cookie));
    return removed.map((previous) => ({ next: { ...previous, value: "", expires: 0 }, previous }));
  }

  /** Value of the Cookie field for a request, "" for none. Marks the cookies as accessed. */
  fieldFor(url: URL, context: SameSiteContext, now: number): string {
    this.#dropExpired(now);
    const sent = this.#all().filter((cookie) => isSentTo(cookie, url, context, now));
    for (const cookie of sent) this.#cookies.set(cookieKey(cookie), { ...cookie, accessed: now });
    return cookieField(sent);
  }

  /** Whether any is for the URL's origin, on whatever path. */
  hasFor(url: URL, now: number): boolean {
    this.#dropExpired(now);
    return this.#all().some((cookie) => isForOrigin(cookie, url));
  }

  /** Cookies that scripts of documents of this origin may see, on any path. */
  visibleTo(documentUrl: URL, now: number): StoredCookie[] {
    this.#dropExpired(now);
    return this.#all().filter((cookie) => isVisibleToScripts(cookie, documentUrl));
  }

  /** At most `COOKIE_PARTITION_BYTES` of UTF-8; what is over is evicted for good. */
  serialize(now: number): string {
    this.#bound(now);
    this.#writtenAt = lastSent(this.#all());
    for (;;) {
      const text = JSON.stringify(this.#all());
      const over = utf8Length(text) - COOKIE_PARTITION_BYTES;
      if (over <= 0) return text;
      this.#evict(over, this.#all(), (cookie) => utf8Length(JSON.stringify(cookie)));
    }
  }

  /** @param owner the site that just set a cookie, and may have too many now */
  #bound(now: number, owner: string | null = null): void {
    if (this.#cookies.size <= COOKIES_PER_SITE) return;
    this.#dropExpired(now);
    if (owner !== null) {
      const own = this.#all().filter(({ domain }) => ownerOf(domain) === owner);
      this.#evict(own.length - COOKIES_PER_SITE, own, () => 1);
    }
    this.#evict(this.#cookies.size - COOKIES_PER_PARTITION, this.#all(), () => 1);
  }

  /**
   * Takes `excess` of `candidates` away: from the site that has most by `weigh`, from the partition's own last, and of
   * a site's the least recently sent first.
   */
  #evict(excess: number, candidates: readonly StoredCookie[], weigh: (cookie: StoredCookie) => number): void {
    if (excess <= 0) return;
    const shares = new Map<string, Share>();
    for (const cookie of candidates.toSorted((a, b) => a.accessed - b.accessed)) {
      const site = ownerOf(cookie.domain);
      const share = shares.get(site) ?? { isOwn: site === this.#site, weight: 0, cookies: [] };
      const weight = weigh(cookie);
      share.weight += weight;
      share.cookies.push({ key: cookieKey(cookie), weight });
      shares.set(site, share);
    }
    for (let left = excess; left > 0; ) {
      let largest: Share | null = null;
      for (const share of shares.values()) if (largest === null || givesWayBefore(share, largest)) largest = share;
      const cookie = largest?.cookies.shift();
      if (largest === null || cookie === undefined) return;
      this.#cookies.delete(cookie.key);
      largest.weight -= cookie.weight;
      left -= cookie.weight;
    }
  }

  #dropExpired(now: number): void {
    for (const [key, cookie] of this.#cookies) if (isExpired(cookie, now)) this.#cookies.delete(key);
  }

  #all(): StoredCookie[] {
    return [...this.#cookies.values()];
  }
}

function parseStored(stored: unknown): StoredCookie[] {
  try {
    const parsed: unknown = typeof stored === "string" ? JSON.parse(stored) : null;
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    // Lost cookies are a login; an error would be the end of the site on this phone.
    return [];
  }
}

function standingOf(cookies: readonly StoredCookie[], now: number): Standing {
  const usedAt = lastSent(cookies);
  const isLasting = now - usedAt < LATELY && cookies.some(({ created }) => usedAt - created >= LASTING);
  return { usedAt, isLasting };
}

function lastSent(cookies: readonly StoredCookie[]): number {
  return cookies.reduce((last, { accessed }) => Math.max(last, accessed), 0);
}

/** Cookies of a site in a partition, least recently sent first. */
interface Share {
  readonly isOwn: boolean;
  weight: number;
  readonly cookies: { readonly key: string; readonly weight: number }[];
}

function givesWayBefore(a: Share, b: Share): boolean {
  if (a.weight === 0 || b.weight === 0) return a.weight > 0;
  return a.isOwn === b.isOwn ? a.weight > b.weight : b.isOwn;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** Serializable as JSON. Times in milliseconds since the epoch. */
export interface StoredCookie extends Cookie {
  readonly created: number;
  /** When it got its value, where that was later. */
  readonly valuedAt?: number;
  readonly accessed: number;
}

/**
 * How a request relates to the page at the top: "lax" is a top-level navigation from another site with a safe method
 * (RFC 6265bis section 5.2), "lax-unsafe" one with another method.
 */
export type SameSiteContext = "same-site" | "lax" | "lax-unsafe" | "cross-site";

interface JarSetting extends CookieSetting {
  /** False where the request came from another site and is no top-level navigation: only SameSite=None is taken. */
  readonly takesSameSite: boolean;
}

/** RFC 6265bis section 5.7 step 23: it counts as old as the former, in the order of sending. */
function inPlaceOf(previous: StoredCookie, cookie: StoredCookie): StoredCookie {
  const { created, value, valuedAt = created } = previous;
  return { ...cookie, created, valuedAt: value === cookie.value ? valuedAt : cookie.created };
}

/** RFC 6265bis section 5.6.7.2, as in Chromium, which counts from the time of the value: a login that another site answers by a form relies on such cookies. */
const LAX_ALLOWING_UNSAFE_MS = 2 * 60 * 1000;

/** The cookie of a Set-Cookie line, or null where it has to be ignored. In the past: it removes the stored one. */
export function takeSetCookie(line: string, setting: JarSetting): StoredCookie | null {
  const cookie = parseSetCookie(line, { ...setting, isBytes: true }, suffixLabels(setting.url.hostname));
  if (cookie === null || (cookie.sameSite !== "none" && !setting.takesSameSite)) return null;
  return { ...cookie, created: setting.now, accessed: setting.now };
}

/** True if a request for `url` in this context takes the cookie along (RFC 6265bis section 5.8.3). */
export function isSentTo(cookie: StoredCookie, url: URL, context: SameSiteContext, now: number): boolean {
  if (!isForUrl(cookie, url)) return false;
  if (context === "same-site" || cookie.sameSite === "none") return true;
  // A cookie without the attribute is Lax, but for its first two minutes.
  if (context === "lax-unsafe") {
    const { sameSite, created, valuedAt = created } = cookie;
    return sameSite === "default" && now - valuedAt <= LAX_ALLOWING_UNSAFE_MS;
  }
  return context === "lax" && cookie.sameSite !== "strict";
}

/** True if `document.cookie` of some document of this origin shows the cookie. */
export function isVisibleToScripts(cookie: StoredCookie, documentUrl: URL): boolean {
  return !cookie.httpOnly && isForOrigin(cookie, documentUrl);
}

/** The Cookie field's value, in the order of RFC 6265bis section 5.8.3: longer paths, then older cookies, first. */
export function cookieField(cookies: readonly StoredCookie[]): string {
  return cookieString(cookies.toSorted((a, b) => a.created - b.created));
}

/** A cookie of the jar: lines that the edge takes, and requests that the cookie goes with (RFC 6265bis sections 5.7 and 5.8). */
function toScriptCookie(cookie: StoredCookie): ScriptCookie {
  const { name, value, domain, hostOnly, path, secure, expires } = cookie;
  return { name, value, domain, hostOnly, path, secure, expires };
}
