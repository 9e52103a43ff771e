/** One cookie of the jar: what the edge takes, and which requests it goes with (RFC 6265bis sections 5.7 and 5.8). */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import {
  type Cookie,
  type CookieSetting,
  cookieString,
  isForOrigin,
  isForUrl,
  parseSetCookie,
} from "../../../shared/web/cookie.ts";
import { isPublicSuffix } from "../fetch-rules/site.ts";

/** Serializable as JSON. Times in milliseconds since the epoch. */
export interface StoredCookie extends Cookie {
  readonly created: number;
  readonly accessed: number;
}

/**
 * How a request relates to the page at the top: "lax" is a top-level navigation from another site with a safe method
 * (RFC 6265bis section 5.2), "lax-unsafe" one with another method.
 */
export type SameSiteContext = "same-site" | "lax" | "lax-unsafe" | "cross-site";

export interface JarSetting extends CookieSetting {
  /** False where the request came from another site and is no top-level navigation: only SameSite=None is taken. */
  readonly takesSameSite: boolean;
}

/** RFC 6265bis section 5.6.7.2, as in Chromium: a login that another site answers by a form relies on such cookies. */
const LAX_ALLOWING_UNSAFE_MS = 2 * 60 * 1000;

/** The cookie of a Set-Cookie line, or null where it has to be ignored. In the past: it removes the stored one. */
export function takeSetCookie(line: string, setting: JarSetting): StoredCookie | null {
  const cookie = parseSetCookie(line, setting, isPublicSuffix);
  if (cookie === null || (cookie.sameSite !== "none" && !setting.takesSameSite)) return null;
  return { ...cookie, created: setting.now, accessed: setting.now };
}

/** True if a request for `url` in this context takes the cookie along (RFC 6265bis section 5.8.3). */
export function isSentTo(cookie: StoredCookie, url: URL, context: SameSiteContext, now: number): boolean {
  if (!isForUrl(cookie, url)) return false;
  if (context === "same-site" || cookie.sameSite === "none") return true;
  // What has no attribute is Lax, but for its first two minutes.
  if (context === "lax-unsafe") return cookie.sameSite === "default" && now - cookie.created <= LAX_ALLOWING_UNSAFE_MS;
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

export function toScriptCookie(cookie: StoredCookie): ScriptCookie {
  const { name, value, domain, hostOnly, path, secure, expires } = cookie;
  return { name, value, domain, hostOnly, path, secure, expires };
}
