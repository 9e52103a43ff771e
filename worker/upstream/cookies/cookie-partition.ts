/**
 * The cookies of one partition: a bounded set with the storage rules of RFC 6265bis section 5.7. What a page embeds
 * cannot make it forget its own site's cookies, nor much of what else it embeds.
 */
import { cookieKey, isExpired, isForOrigin, isShadowedBySecure } from "../../../shared/web/cookie.ts";
import { ownerOf } from "../fetch-rules/site.ts";
import {
  cookieField,
  isSentTo,
  isVisibleToScripts,
  type JarSetting,
  type SameSiteContext,
  type StoredCookie,
  takeSetCookie,
} from "./cookie.ts";

/** Cookies of one registrable domain in a partition: as many as browsers keep. */
export const COOKIES_PER_SITE = 180;

/** Cookies of a page's own site and all that it embeds. What is embedded gives way, the site with the most first. */
const COOKIES_PER_PARTITION = 600;

/** Bytes: serialized cookies of one partition, shared as COOKIES_PER_PARTITION; a value of Deno KV holds 64 KiB. */
export const COOKIE_PARTITION_BYTES = 60 * 1024;

/** Count: so many cookies may be set before those are taken away that are too many. */
const BOUNDED_AFTER = 100;

/** What a Set-Cookie line did: the cookie that stands now (or is in the past), and the one it replaced. */
export interface CookieChange {
  readonly next: StoredCookie;
  readonly previous: StoredCookie | null;
}

export class CookiePartition {
  readonly #cookies = new Map<string, StoredCookie>();
  readonly #site: string | null;

  /**
   * @param stored what `serialize` gave; anything else makes an empty partition
   * @param host of the partition's own site; null for an opaque one
   */
  constructor(stored: unknown, host: string | null) {
    this.#site = host === null ? null : ownerOf(host);
    for (const cookie of parseStored(stored)) this.#cookies.set(cookieKey(cookie), cookie);
  }

  get size(): number {
    return this.#cookies.size;
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
    const next = previous === null ? cookie : { ...cookie, created: previous.created };
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

  /** What scripts of documents of this origin may see, on any path. */
  visibleTo(documentUrl: URL, now: number): StoredCookie[] {
    this.#dropExpired(now);
    return this.#all().filter((cookie) => isVisibleToScripts(cookie, documentUrl));
  }

  /** At most `COOKIE_PARTITION_BYTES` of UTF-8; what is over is evicted for good. */
  serialize(now: number): string {
    this.#bound(now);
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

/** What one site has in a partition, least recently sent first. */
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
