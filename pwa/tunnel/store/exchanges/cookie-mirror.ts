/**
 * Cookies that scripts of documents may read as `document.cookie`, as far as the phone has heard: a document from the store
 * needs them, and the jar is at the edge. Each document that comes from the edge brings all cookies of its host, and the edge
 * can be asked for them. A host is unknown again once the edge may have changed its cookies without telling.
 */
import { BoundedMap } from "../../../../shared/bounded-map.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../../shared/subprotocol.ts";
import { isForOrigin, ScriptCookies } from "../../../../shared/web/cookie.ts";
import { areMaybeSameSite, isSameOrigin, parseUrl } from "../../../../shared/web/origin.ts";
import { isForgetting } from "../store.ts";

/** Documents' hosts that are known. */
const HOSTS = 64;

interface KnownHost {
  readonly topLevelOrigin: string;
  readonly origin: string;
  /** Null until the edge has answered for them. */
  readonly cookies: ScriptCookies | null;
}

export class CookieMirror {
  readonly #now: () => number;
  readonly #tellOthers: (urls: readonly string[]) => void;
  readonly #hosts = new BoundedMap<string, KnownHost>(HOSTS);

  /**
   * @param now milliseconds since the epoch.
   * @param tellOthers that cookies of these URLs' sites may have changed, for `forgetSites` of the other windows.
   */
  constructor(now: () => number, tellOthers: (urls: readonly string[]) => void) {
    this.#now = now;
    this.#tellOthers = tellOthers;
  }

  /** The cookies that a document with this head reads, or null where they are not known. */
  cookiesFor({ url, topLevelOrigin }: Pick<RequestHead, "url" | "topLevelOrigin">): readonly ScriptCookie[] | null {
    const origin = parseUrl(url)?.origin ?? "";
    return this.#hosts.get(keyOf(topLevelOrigin, origin))?.cookies?.all() ?? null;
  }

  /** A request goes out. @returns whether it is a cookie of a script, which the edge may not have yet. */
  sent(head: RequestHead): boolean {
    if (isForgetting(head)) this.#hosts.clear();
    if (head.url === EdgeRequest.SCRIPT_COOKIES) this.#asked(head.topLevelOrigin);
    if (head.url !== EdgeRequest.SCRIPT_COOKIE) return false;
    const documentUrl = headerValue(head.headers, "document-url") ?? "";
    this.#tellOthers([documentUrl]);
    const cookie = decodeURIComponent(headerValue(head.headers, "cookie-string") ?? "");
    const known = this.#hosts.get(keyOf(head.topLevelOrigin, parseUrl(documentUrl)?.origin ?? ""));
    const before = namesAndValues(known);
    if (known?.cookies === null) this.#forget(known);
    known?.cookies?.write(cookie, documentUrl);
    for (const other of this.#partition(head.topLevelOrigin)) {
      // Its site may have set one for the domain above both.
      if (other !== known && areMaybeSameSite(other.origin, documentUrl)) this.#forget(other);
    }
    return known === undefined || namesAndValues(known) !== before;
  }

  /** The edge's answer has come. */
  answered(head: RequestHead, response: ResponseHead): void {
    if (head.mode === "navigate") return this.#document(head, response);
    if (head.url === EdgeRequest.SCRIPT_COOKIES) return this.#told(head.topLevelOrigin, response);
    if (head.credentials === "omit") return;
    if (!isOwnOnly(head, response) || response.scriptCookies.length > 0) this.#tellOthers([head.url, response.url]);
    for (const known of this.#partition(head.topLevelOrigin)) {
      const isAsker = known.topLevelOrigin === head.topLevelOrigin && isSameOrigin(known.origin, head.origin);
      if (isAsker) this.#changed(known, cookiesOf(response.scriptCookies, known.origin));
      else if (this.#mayHaveChanged(known, head, response)) this.#forget(known);
    }
  }

  /** The request failed, or was given up, before a head came: nobody tells which cookies its origin has set. */
  lost(head: RequestHead): void {
    if (head.mode !== "navigate" && head.credentials === "omit") return;
    this.mayHaveChanged([head.url, head.origin ?? ""]);
  }

  /** Cookies of these URLs' sites, of which this window has not heard. */
  mayHaveChanged(urls: readonly string[]): void {
    this.forgetSites(urls);
    this.#tellOthers(urls);
  }

  /** Cookies of these URLs' sites may have changed. */
  forgetSites(urls: readonly string[]): void {
    for (const known of [...this.#hosts.values()]) {
      if (urls.some((url) => areMaybeSameSite(known.origin, url))) this.#forget(known);
    }
  }

  #document(head: RequestHead, { url, redirected, scriptCookies }: ResponseHead): void {
    this.#tellOthers([head.url, url]);
    // On its way it may have met any site.
    if (redirected) this.#hosts.clear();
    const { origin } = new URL(url);
    const topLevelOrigin = head.destination === "document" ? origin : head.topLevelOrigin;
    for (const other of this.#partition(topLevelOrigin)) {
      if (areMaybeSameSite(other.origin, url) || areMaybeSameSite(other.origin, head.url)) this.#forget(other);
    }
    this.#learn(topLevelOrigin, origin, scriptCookies);
  }

  /** The edge is asked for those of a site's own pages. */
  #asked(origin: string): void {
    const key = keyOf(origin, origin);
    if (!this.#hosts.has(key)) this.#hosts.set(key, { topLevelOrigin: origin, origin, cookies: null });
  }

  /** An answer that has overtaken this one may have changed them: it has made the host unknown. */
  #told(origin: string, { scriptCookies }: ResponseHead): void {
    if (this.#hosts.get(keyOf(origin, origin))?.cookies === null) this.#learn(origin, origin, scriptCookies);
  }

  #learn(topLevelOrigin: string, origin: string, scriptCookies: readonly ScriptCookie[]): void {
    const cookies = new ScriptCookies(this.#now);
    cookies.apply(scriptCookies);
    this.#hosts.set(keyOf(topLevelOrigin, origin), { topLevelOrigin, origin, cookies });
  }

  #changed(known: KnownHost, changes: readonly ScriptCookie[]): void {
    // Whether the answer that is still to come has them, nobody knows.
    if (known.cookies === null && changes.length > 0) this.#forget(known);
    known.cookies?.apply(changes);
  }

  /** Of what the asker may not see the edge tells nothing, nor of where a request was redirected on its way. */
  #mayHaveChanged({ origin }: KnownHost, head: RequestHead, response: ResponseHead): boolean {
    if (isOwnOnly(head, response)) return response.scriptCookies.length > 0 && areMaybeSameSite(origin, head.url);
    return [head.url, response.url, head.origin ?? ""].some((url) => areMaybeSameSite(origin, url));
  }

  /** Whose jar may be the same: the edge parts them by site, of which there is no list here. */
  *#partition(topLevelOrigin: string): Iterable<KnownHost> {
    for (const known of [...this.#hosts.values()]) {
      if (areMaybeSameSite(known.topLevelOrigin, topLevelOrigin)) yield known;
    }
  }

  #forget({ topLevelOrigin, origin }: KnownHost): void {
    this.#hosts.delete(keyOf(topLevelOrigin, origin));
  }
}

const keyOf = (topLevelOrigin: string, origin: string): string => `${topLevelOrigin} ${origin}`;

function namesAndValues(known: KnownHost | undefined): string {
  return JSON.stringify(known?.cookies?.all().map(({ name, value }) => [name, value]));
}

function cookiesOf(cookies: readonly ScriptCookie[], origin: string): ScriptCookie[] {
  const url = new URL(origin);
  return cookies.filter((cookie) => isForOrigin(cookie, url));
}

function isOwnOnly(head: RequestHead, response: ResponseHead): boolean {
  return isSameOrigin(head.url, head.origin) && !response.redirected;
}
