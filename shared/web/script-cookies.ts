/**
 * A mirror of the cookies that scripts of documents may see. The jar is at the edge; the mirror makes a read right
 * after a write see it, and follows the jar's updates.
 */
import type { ScriptCookie } from "../http/heads.ts";
import { cookieKey, cookieString, isExpired, isForUrl, isShadowedBySecure, parseSetCookie } from "./cookie.ts";

/** Which suffixes are public only the edge knows; a single label is refused here already. */
const isSingleLabel = (domain: string) => !domain.includes(".");

export class ScriptCookies {
  readonly #cookies = new Map<string, ScriptCookie>();
  readonly #now: () => number;

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes cookies that the jar says were set or, with `expires` in the past, removed. */
  apply(cookies: readonly ScriptCookie[]): void {
    for (const cookie of cookies) {
      if (isExpired(cookie, this.#now())) this.#cookies.delete(cookieKey(cookie));
      else this.#cookies.set(cookieKey(cookie), cookie);
    }
  }

  all(): ScriptCookie[] {
    return [...this.#cookies.values()].filter((each) => !isExpired(each, this.#now()));
  }

  /** What `document.cookie` reads in the document with this real URL. */
  read(documentUrl: string): string {
    const url = new URL(documentUrl);
    return cookieString(this.all().filter((each) => isForUrl(each, url)));
  }

  /** Applies `document.cookie = text`. False: refused, nothing changed, and the edge need not hear of it. */
  write(text: string, documentUrl: string): boolean {
    const url = new URL(documentUrl);
    const cookie = parseSetCookie(text, { url, now: this.#now(), http: false }, isSingleLabel);
    if (cookie === null || isShadowedBySecure(cookie, url, this.#cookies.values())) return false;
    this.apply([cookie]);
    return true;
  }
}
