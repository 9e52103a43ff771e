/**
 * One cookie: how it is read from Set-Cookie and which requests it goes with (RFC 6265bis sections 5.4 to 5.8).
 * tough-cookie parses dates and attributes and knows the public suffix list. Its jar is not used: it counts Max-Age
 * from the last access, takes no clock, and lets an insecure origin overwrite a Secure cookie.
 */
import { Cookie, defaultPath, domainMatch, pathMatch } from "tough-cookie";
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { limits } from "../../../shared/limits.ts";
import { isPotentiallyTrustworthy } from "../../../shared/web/origin.ts";
import { isPublicSuffix } from "../fetch-rules/site.ts";

/** Serializable as JSON. Times in milliseconds since the epoch. */
export interface StoredCookie {
  readonly name: string;
  readonly value: string;
  /** Lower case, no leading dot; an IPv6 address in brackets. */
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  /** "default": it has no such attribute. */
  readonly sameSite: "strict" | "lax" | "none" | "default";
  /** Null for a session cookie. */
  readonly expires: number | null;
  readonly created: number;
  readonly accessed: number;
}

/**
 * How a request relates to the page at the top: "lax" is a top-level navigation from another site with a safe method
 * (RFC 6265bis section 5.2), "lax-unsafe" one with another method.
 */
export type SameSiteContext = "same-site" | "lax" | "lax-unsafe" | "cross-site";

export interface CookieSetting {
  readonly url: URL;
  readonly now: number;
  /** False for `document.cookie`, which can neither set nor see HttpOnly. */
  readonly http: boolean;
  /** False where the request came from another site and is no top-level navigation: only SameSite=None is taken. */
  readonly takesSameSite: boolean;
}

/** RFC 6265bis section 5.6: longer attribute values are ignored. */
const ATTRIBUTE_LENGTH_MAX = 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 6265bis section 5.6 step 1 names them
const CONTROL_CHARACTERS = /[\x00-\x08\x0a-\x1f\x7f]/;
/** RFC 6265bis section 5.6.7.2, as in Chromium: a login that another site answers by a form relies on such cookies. */
const LAX_ALLOWING_UNSAFE_MS = 2 * 60 * 1000;
/** RFC 6265bis section 5.5: no cookie lives longer. */
const MOST_AGE_MS = 400 * 24 * 3600 * 1000;

/** The cookie of a Set-Cookie line, or null where it has to be ignored. In the past: it removes the stored one. */
export function parseSetCookie(line: string, setting: CookieSetting): StoredCookie | null {
  const { url, now } = setting;
  if (CONTROL_CHARACTERS.test(line)) return null;
  const [pair = "", ...attributes] = line.split(";");
  const { name, value } = nameAndValue(pair);
  if (name === "" && value === "") return null;
  if (new TextEncoder().encode(name + value).byteLength > limits.cookieBytes) return null;
  // Only the attributes: tough-cookie takes `=a=b` for a cookie named a, and on Deno bytes of UTF-8 for white space.
  const parsed = Cookie.parse(["a=b", ...attributes.filter(isShort)].join(";"));
  if (parsed === undefined) return null;

  const scope = cookieScope(parsed.cdomain() ?? "", url.hostname);
  if (scope === null) return null;
  const secure = parsed.secure;
  if (secure && !isPotentiallyTrustworthy(url)) return null;
  if (parsed.httpOnly && !setting.http) return null;
  const sameSite = sameSiteOf(parsed.sameSite);
  if (sameSite === "none" && !secure) return null;
  if (sameSite !== "none" && !setting.takesSameSite) return null;

  const isRooted = scope.hostOnly && parsed.path === "/";
  if (!keepsPrefix(name, value, { secure, httpOnly: parsed.httpOnly, isRooted })) return null;

  return {
    name,
    value,
    ...scope,
    path: parsed.path?.startsWith("/") ? parsed.path : defaultPath(url.pathname),
    secure,
    httpOnly: parsed.httpOnly,
    sameSite,
    expires: expiryOf(parsed, now),
    created: now,
    accessed: now,
  };
}

function sameSiteOf(attribute: string | undefined): StoredCookie["sameSite"] {
  return attribute === "strict" || attribute === "lax" || attribute === "none" ? attribute : "default";
}

/** RFC 6265bis section 5.6 steps 3 and 4: without `=` there is no name. */
function nameAndValue(pair: string): Pick<StoredCookie, "name" | "value"> {
  const equals = pair.indexOf("=");
  return { name: equals === -1 ? "" : trimBlanks(pair.slice(0, equals)), value: trimBlanks(pair.slice(equals + 1)) };
}

/** Not `trim`, which takes bytes of UTF-8 away, nor an expression, which takes quadratic time. */
function trimBlanks(text: string): string {
  const isBlank = (index: number) => text[index] === " " || text[index] === "\t";
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (start < end && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

function isShort(attribute: string): boolean {
  return attribute.slice(attribute.indexOf("=") + 1).trim().length <= ATTRIBUTE_LENGTH_MAX;
}

/**
 * Name prefixes are promises about the other attributes (RFC 6265bis section 4.1.3). A value without a name that looks
 * like one would be read as one by a server.
 */
function keepsPrefix(
  name: string,
  value: string,
  { secure, httpOnly, isRooted }: { readonly secure: boolean; readonly httpOnly: boolean; readonly isRooted: boolean },
): boolean {
  const prefix = /^__(?:secure|host-http|host|http)-/i.exec(name === "" ? value : name)?.[0].toLowerCase();
  if (prefix === undefined) return true;
  if (name === "" || !secure) return false;
  if (prefix.endsWith("http-") && !httpOnly) return false;
  return isRooted || !prefix.startsWith("__host-");
}

/** RFC 6265bis section 5.7 steps 8 to 10: which hosts the cookie is for. */
function cookieScope(domain: string, host: string): Pick<StoredCookie, "domain" | "hostOnly"> | null {
  if (domain === "" || domain === host) {
    const hostOnly = domain === "" || isPublicSuffix(host);
    return { domain: host, hostOnly };
  }
  if (isPublicSuffix(domain) || domainMatch(host, domain, false) !== true) return null;
  return { domain, hostOnly: false };
}

function expiryOf(parsed: Cookie, now: number): number | null {
  if (typeof parsed.maxAge === "number") {
    return parsed.maxAge <= 0 ? 0 : now + Math.min(parsed.maxAge * 1000, MOST_AGE_MS);
  }
  if (parsed.expires instanceof Date) return Math.min(parsed.expires.getTime(), now + MOST_AGE_MS);
  return null;
}

export function isExpired(cookie: StoredCookie, now: number): boolean {
  return cookie.expires !== null && cookie.expires <= now;
}

/** Cookies with the same name, domain, host-only flag and path replace each other. */
export function cookieKey(cookie: StoredCookie): string {
  return [cookie.name, cookie.domain, cookie.hostOnly, cookie.path].join("\n");
}

function isForHost(cookie: StoredCookie, host: string): boolean {
  return cookie.hostOnly ? cookie.domain === host : domainMatch(host, cookie.domain, false) === true;
}

/** True if a request for `url` in this context takes the cookie along (RFC 6265bis section 5.8.3). */
export function isSentTo(cookie: StoredCookie, url: URL, context: SameSiteContext, now: number): boolean {
  if (!isForHost(cookie, url.hostname) || !pathMatch(url.pathname, cookie.path)) return false;
  if (cookie.secure && !isPotentiallyTrustworthy(url)) return false;
  if (context === "same-site" || cookie.sameSite === "none") return true;
  // What has no attribute is Lax, but for its first two minutes.
  if (context === "lax-unsafe") return cookie.sameSite === "default" && now - cookie.created <= LAX_ALLOWING_UNSAFE_MS;
  return context === "lax" && cookie.sameSite !== "strict";
}

/** True if `document.cookie` of some document of this origin shows the cookie. */
export function isVisibleToScripts(cookie: StoredCookie, documentUrl: URL): boolean {
  if (cookie.httpOnly || !isForHost(cookie, documentUrl.hostname)) return false;
  return !cookie.secure || isPotentiallyTrustworthy(documentUrl);
}

/** RFC 6265bis section 5.7 step 14: an insecure origin cannot shadow a Secure cookie. */
export function isShadowedBySecure(cookie: StoredCookie, existing: StoredCookie): boolean {
  return (
    existing.secure &&
    existing.name === cookie.name &&
    (domainMatch(cookie.domain, existing.domain, false) === true ||
      domainMatch(existing.domain, cookie.domain, false) === true) &&
    pathMatch(cookie.path, existing.path)
  );
}

/** The Cookie field's value, in the order of RFC 6265bis section 5.8.3: longer paths, then older cookies, first. */
export function cookieField(cookies: readonly StoredCookie[]): string {
  return [...cookies]
    .sort((a, b) => b.path.length - a.path.length || a.created - b.created)
    .map(({ name, value }) => (name === "" ? value : `${name}=${value}`))
    .join("; ");
}

export function toScriptCookie(cookie: StoredCookie): ScriptCookie {
  const { name, value, domain, hostOnly, path, secure, expires } = cookie;
  return { name, value, domain, hostOnly, path, secure, expires };
}
