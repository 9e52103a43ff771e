/**
 * A document's mirror of the cookies that scripts may see. The jar is at the edge; the mirror makes a read right
 * after a write see it, and follows the jar's updates. RFC 6265bis sections 5.6 to 5.8.
 */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { isPotentiallyTrustworthy as isTrustworthy } from "../../../shared/web/origin.ts";
import { parseCookieDate } from "./cookie-date.ts";

/** RFC 6265bis section 5.6: name plus value. `limits.cookieBytes` without the table, which every page would load. */
const COOKIE_BYTES_MAX = 4096;
/** RFC 6265bis section 5.5: no cookie lives longer than 400 days. */
const LIFETIME_MAX = 400 * 24 * 3_600_000;
/** RFC 6265bis section 5.6: longer attribute values are ignored. */
const ATTRIBUTE_LENGTH_MAX = 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 6265bis section 5.6 step 1 names them
const CONTROL_CHARACTERS = /[\x00-\x08\x0a-\x1f\x7f]/;

function domainMatches(host: string, cookie: ScriptCookie): boolean {
  if (host === cookie.domain) return true;
  return !cookie.hostOnly && host.endsWith(`.${cookie.domain}`) && !isAddress(host);
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[\d.]+$/.test(host);
}

function pathMatches(path: string, cookiePath: string): boolean {
  if (!path.startsWith(cookiePath)) return false;
  return path.length === cookiePath.length || cookiePath.endsWith("/") || path[cookiePath.length] === "/";
}

function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

function keyOf(cookie: ScriptCookie): string {
  return `${cookie.domain};${cookie.path};${cookie.name}`;
}

interface CookieAttributes {
  maxAge: number | null;
  expires: number | null;
  /** "" when absent, no leading dot. */
  domain: string;
  path: string;
  secure: boolean;
  httpOnly: boolean;
}

/** RFC 6265bis section 5.6, steps 5 on. The last of a repeated attribute counts. */
function parseAttributes(attributes: readonly string[]): CookieAttributes {
  const result: CookieAttributes = {
    maxAge: null,
    expires: null,
    domain: "",
    path: "",
    secure: false,
    httpOnly: false,
  };
  for (const attribute of attributes) {
    const at = attribute.indexOf("=");
    const key = (at === -1 ? attribute : attribute.slice(0, at)).trim().toLowerCase();
    const setting = at === -1 ? "" : attribute.slice(at + 1).trim();
    if (setting.length > ATTRIBUTE_LENGTH_MAX) continue;
    if (key === "max-age" && /^-?\d+$/.test(setting)) result.maxAge = Number(setting);
    else if (key === "expires") result.expires = parseCookieDate(setting) ?? result.expires;
    else if (key === "domain") result.domain = setting.replace(/^\./, "").toLowerCase();
    else if (key === "path") result.path = setting;
    else if (key === "secure") result.secure = true;
    else if (key === "httponly") result.httpOnly = true;
  }
  return result;
}

/** Name prefixes are promises about the other attributes (RFC 6265bis section 4.1.3). */
function keepsPrefix(name: string, value: string, { secure, domain, path }: CookieAttributes): boolean {
  const prefixed = (name === "" ? value : name).toLowerCase();
  if (!/^__(?:secure|host|http|host-http)-/.test(prefixed)) return true;
  // The last two promise that a Set-Cookie field made the cookie.
  if (name === "" || !secure || /^__(?:host-)?http-/.test(prefixed)) return false;
  return prefixed.startsWith("__secure-") || (domain === "" && path === "/");
}

function expiryOf({ maxAge, expires }: CookieAttributes, now: number): number | null {
  const at = maxAge === null ? expires : maxAge <= 0 ? 0 : now + maxAge * 1000;
  return at === null ? null : Math.min(at, now + LIFETIME_MAX);
}

/** Reads one `document.cookie = text`. Null: the cookie is refused. Removal is a cookie whose `expires` is past. */
export function parseScriptCookie(text: string, documentUrl: string, now: number): ScriptCookie | null {
  if (CONTROL_CHARACTERS.test(text)) return null;
  const url = new URL(documentUrl);
  const [pair = "", ...rest] = text.split(";");
  const equals = pair.indexOf("=");
  const name = equals === -1 ? "" : pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  if (name === "" && value === "") return null;
  if (new TextEncoder().encode(name + value).length > COOKIE_BYTES_MAX) return null;
  const attributes = parseAttributes(rest);
  const { domain, path, secure, httpOnly } = attributes;
  if (httpOnly || (secure && !isTrustworthy(url)) || !keepsPrefix(name, value, attributes)) return null;

  const host = url.hostname;
  const cookie: ScriptCookie = {
    name,
    value,
    domain: domain === "" ? host : domain,
    hostOnly: domain === "" || (domain === host && !host.includes(".")),
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    secure,
    expires: expiryOf(attributes, now),
  };
  // Which suffixes are public only the edge knows; a single label is refused here already.
  if (!cookie.hostOnly && (!domain.includes(".") || !domainMatches(host, cookie))) return null;
  return cookie;
}

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
      if (this.#isExpired(cookie)) this.#cookies.delete(keyOf(cookie));
      else this.#cookies.set(keyOf(cookie), cookie);
    }
  }

  /** What `document.cookie` reads in the document with this real URL (RFC 6265bis section 5.8.3). */
  read(documentUrl: string): string {
    const url = new URL(documentUrl);
    const secure = isTrustworthy(url);
    return [...this.#cookies.values()]
      .filter((cookie) => !this.#isExpired(cookie) && (secure || !cookie.secure))
      .filter((cookie) => domainMatches(url.hostname, cookie) && pathMatches(url.pathname, cookie.path))
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => (name === "" ? value : `${name}=${value}`))
      .join("; ");
  }

  /** Applies `document.cookie = text`. False: refused, nothing changed, and the edge need not hear of it. */
  write(text: string, documentUrl: string): boolean {
    const cookie = parseScriptCookie(text, documentUrl, this.#now());
    if (cookie === null || this.#shadowsSecure(cookie, documentUrl)) return false;
    this.apply([cookie]);
    return true;
  }

  #isExpired(cookie: ScriptCookie): boolean {
    return cookie.expires !== null && cookie.expires <= this.#now();
  }

  /** A plain-HTTP document must not overlay a secure cookie (RFC 6265bis section 5.7 step 15). */
  #shadowsSecure(cookie: ScriptCookie, documentUrl: string): boolean {
    if (cookie.secure || isTrustworthy(new URL(documentUrl))) return false;
    for (const other of this.#cookies.values()) {
      if (!other.secure || other.name !== cookie.name || !pathMatches(cookie.path, other.path)) continue;
      if (domainMatches(cookie.domain, { ...other, hostOnly: false })) return true;
      if (domainMatches(other.domain, { ...cookie, hostOnly: false })) return true;
    }
    return false;
  }
}
