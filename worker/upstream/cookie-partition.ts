/** The cookies of one partition: a bounded set with the storage rules of RFC 6265bis section 5.7. */
import { limits } from "../../shared/limits.ts";
import {
  type CookieSetting,
  cookieField,
  cookieKey,
  isExpired,
  isSentTo,
  isShadowedBySecure,
  isVisibleToScripts,
  parseSetCookie,
  type SameSiteContext,
  type StoredCookie,
} from "./cookie.ts";
import { isPotentiallyTrustworthy } from "./site.ts";

/** What a Set-Cookie line did: the cookie that stands now (or is in the past), and the one it replaced. */
export interface CookieChange {
  readonly next: StoredCookie;
  readonly previous: StoredCookie | null;
}

export class CookiePartition {
  readonly #cookies = new Map<string, StoredCookie>();

  /** @param stored what `serialize` gave, or anything that is no string for an empty partition */
  constructor(stored: unknown) {
    if (typeof stored !== "string") return;
    for (const cookie of JSON.parse(stored) as StoredCookie[]) this.#cookies.set(cookieKey(cookie), cookie);
  }

  get size(): number {
    return this.#cookies.size;
  }

  /** Null where the line was ignored. */
  set(line: string, setting: CookieSetting): CookieChange | null {
    const cookie = parseSetCookie(line, setting);
    if (cookie === null) return null;
    const key = cookieKey(cookie);
    const previous = this.#cookies.get(key) ?? null;
    if (previous?.httpOnly && !setting.http) return null;
    if (!cookie.secure && !isPotentiallyTrustworthy(setting.url)) {
      for (const existing of this.#cookies.values()) if (isShadowedBySecure(cookie, existing)) return null;
    }
    const next = previous === null ? cookie : { ...cookie, created: previous.created };
    if (isExpired(next, setting.now)) {
      this.#cookies.delete(key);
      return previous === null ? null : { next, previous };
    }
    this.#cookies.set(key, next);
    this.#bound(setting.now);
    return { next, previous };
  }

  /** Value of the Cookie field for a request, "" for none. Marks the cookies as accessed. */
  fieldFor(url: URL, context: SameSiteContext, now: number): string {
    this.#dropExpired(now);
    const sent = [...this.#cookies.values()].filter((cookie) => isSentTo(cookie, url, context));
    for (const cookie of sent) this.#cookies.set(cookieKey(cookie), { ...cookie, accessed: now });
    return cookieField(sent);
  }

  /** What scripts of documents of this origin may see, on any path. */
  visibleTo(documentUrl: URL, now: number): StoredCookie[] {
    this.#dropExpired(now);
    return [...this.#cookies.values()].filter((cookie) => isVisibleToScripts(cookie, documentUrl));
  }

  /** At most `limits.cookiePartitionBytes` of UTF-8; what is over is evicted for good. */
  serialize(now: number): string {
    this.#bound(now);
    const encoder = new TextEncoder();
    for (;;) {
      const text = JSON.stringify([...this.#cookies.values()]);
      const over = encoder.encode(text).byteLength - limits.cookiePartitionBytes;
      if (over <= 0) return text;
      let freed = 0;
      for (const cookie of this.#byAccess()) {
        if (freed >= over) break;
        freed += encoder.encode(JSON.stringify(cookie)).byteLength;
        this.#cookies.delete(cookieKey(cookie));
      }
    }
  }

  #bound(now: number): void {
    if (this.#cookies.size <= limits.cookiesPerPartition) return;
    this.#dropExpired(now);
    const excess = Math.max(0, this.#cookies.size - limits.cookiesPerPartition);
    for (const cookie of this.#byAccess().slice(0, excess)) this.#cookies.delete(cookieKey(cookie));
  }

  #dropExpired(now: number): void {
    for (const [key, cookie] of this.#cookies) if (isExpired(cookie, now)) this.#cookies.delete(key);
  }

  #byAccess(): StoredCookie[] {
    return [...this.#cookies.values()].sort((a, b) => a.accessed - b.accessed);
  }
}
