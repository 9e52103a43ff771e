/**
 * Cookies: how a line sets one, and where it goes (RFC 6265bis sections 5.5 to 5.8). The edge's jar and a page's `document.cookie`
 * apply the same rules, or a script would read what is never sent.
 */
import { headerValue } from "../http/head-fields.ts";
import type { HeaderList, ScriptCookie } from "../http/heads.ts";
import { isPotentiallyTrustworthy, parseUrl } from "./origin.ts";

/** Times in milliseconds since the epoch. `expires` in the past: it removes the stored one. */
export interface Cookie extends ScriptCookie {
  readonly httpOnly: boolean;
  /** "default": it has no such attribute. */
  readonly sameSite: "strict" | "lax" | "none" | "default";
}

export interface CookieSetting {
  readonly url: URL;
  readonly now: number;
  /** False for `document.cookie`, which can neither set nor see HttpOnly. */
  readonly http: boolean;
  /** The line has a character for each byte; by default it is text. */
  readonly isBytes?: boolean;
}

/** Section 5.6: name plus value, in UTF-8; what browsers take. */
export const COOKIE_BYTES_MAX = 4096;
/** Section 5.6: longer attribute values are ignored. */
const ATTRIBUTE_LENGTH_MAX = 1024;
/** Section 5.5: no cookie lives longer. Milliseconds. */
const LIFETIME_MAX = 400 * 24 * 3_600_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: section 5.6 step 1 names them
const CONTROL_CHARACTERS = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * The cookie of a Set-Cookie line, or of one `document.cookie = line`; null where it has to be ignored.
 *
 * @param suffixLabels of the URL's host, as of `suffixIn`. A domain with no more labels than that is a public suffix.
 */
export function parseSetCookie(
  line: string,
  { url, now, http, isBytes = false }: CookieSetting,
  suffixLabels: number,
): Cookie | null {
  if (CONTROL_CHARACTERS.test(line)) return null;
  const [pair = "", ...rest] = line.split(";");
  const { name, value } = nameAndValue(pair);
  if (name === "" && value === "") return null;
  const bytes = isBytes ? name.length + value.length : new TextEncoder().encode(name + value).length;
  if (bytes > COOKIE_BYTES_MAX) return null;
  const { domain, path, expires, maxAge, ...flags } = parseAttributes(rest);
  const { secure, httpOnly, sameSite } = flags;
  if (secure && !isPotentiallyTrustworthy(url)) return null;
  if (httpOnly && !http) return null;
  if (sameSite === "none" && !secure) return null;

  const host = url.hostname;
  const isPublicSuffix = (name: string) => name.replace(/\.$/, "").split(".").length <= suffixLabels;
  const hostOnly = domain === "" || (domain === host && isPublicSuffix(host));
  if (!hostOnly && domain !== host && (isPublicSuffix(domain) || !domainMatches(host, domain))) return null;
  if (!keepsPrefix(name, value, { ...flags, isRooted: hostOnly && path === "/" })) return null;

  const at = maxAge === null ? expires : maxAge <= 0 ? 0 : now + maxAge * 1000;
  return {
    name,
    value,
    domain: domain === "" ? host : domain,
    hostOnly,
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    ...flags,
    expires: at === null ? null : Math.min(at, now + LIFETIME_MAX),
  };
}

/** Section 5.6 steps 3 and 4: without `=` there is no name. */
function nameAndValue(pair: string): Pick<Cookie, "name" | "value"> {
  const equals = pair.indexOf("=");
  return { name: equals === -1 ? "" : trimBlanks(pair.slice(0, equals)), value: trimBlanks(pair.slice(equals + 1)) };
}

/** Not `trim`, which takes bytes of UTF-8 away, nor an expression, which takes quadratic time. */
export function trimBlanks(text: string): string {
  const isBlank = (index: number) => text[index] === " " || text[index] === "\t";
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (start < end && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

interface CookieAttributes {
  maxAge: number | null;
  expires: number | null;
  /** "" when absent, no leading dot. */
  domain: string;
  path: string;
  secure: boolean;
  httpOnly: boolean;
  sameSite: Cookie["sameSite"];
}

/** Section 5.6, steps 5 on. The last of a repeated attribute counts. */
function parseAttributes(attributes: readonly string[]): CookieAttributes {
  const result: CookieAttributes = {
    maxAge: null,
    expires: null,
    domain: "",
    path: "",
    secure: false,
    httpOnly: false,
    sameSite: "default",
  };
  for (const attribute of attributes) {
    const equals = attribute.indexOf("=");
    const key = trimBlanks(equals === -1 ? attribute : attribute.slice(0, equals)).toLowerCase();
    const setting = equals === -1 ? "" : trimBlanks(attribute.slice(equals + 1));
    if (setting.length > ATTRIBUTE_LENGTH_MAX) continue;
    if (key === "max-age" && /^-?\d+$/.test(setting)) result.maxAge = Number(setting);
    else if (key === "expires") result.expires = parseCookieDate(setting) ?? result.expires;
    else if (key === "domain") result.domain = canonicalDomain(setting.replace(/^\./, ""));
    else if (key === "path") result.path = setting;
    else if (key === "secure") result.secure = true;
    else if (key === "httponly") result.httpOnly = true;
    else if (key === "samesite") result.sameSite = sameSiteOf(setting.toLowerCase());
  }
  return result;
}

function sameSiteOf(value: string): Cookie["sameSite"] {
  return value === "strict" || value === "lax" || value === "none" ? value : "default";
}

/** Section 5.1.2: names in other scripts as `URL.hostname` writes them. */
function canonicalDomain(domain: string): string {
  const isAscii = !/[^\0-\x7f]/.test(domain);
  return isAscii ? domain.toLowerCase() : (parseUrl(`http://${domain}`)?.hostname ?? domain);
}

/**
 * Name prefixes are promises about the other attributes (section 4.1.3). A value without a name that looks like one
 * would be read as one by a server.
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

/** Section 5.1.4. */
function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

/** Section 5.1.3: itself, or a name below the domain. */
function domainMatches(host: string, domain: string): boolean {
  if (host === domain) return true;
  const isAddress = host.startsWith("[") || /^[\d.]+$/.test(host);
  return !isAddress && host.endsWith(`.${domain}`);
}

/** Section 5.1.4. */
function pathMatches(path: string, cookiePath: string): boolean {
  if (!path.startsWith(cookiePath)) return false;
  return path.length === cookiePath.length || cookiePath.endsWith("/") || path[cookiePath.length] === "/";
}

/** Cookies with the same name, domain, host-only flag and path replace each other. */
export function cookieKey({ name, domain, hostOnly, path }: ScriptCookie): string {
  return [name, domain, hostOnly, path].join("\n");
}

export function isExpired({ expires }: ScriptCookie, now: number): boolean {
  return expires !== null && expires <= now;
}

/** Whether some document of the URL's origin, on any path, has the cookie. */
export function isForOrigin({ domain, hostOnly, secure }: ScriptCookie, url: URL): boolean {
  if (secure && !isPotentiallyTrustworthy(url)) return false;
  return hostOnly ? domain === url.hostname : domainMatches(url.hostname, domain);
}

/** Whether it goes by host, path and scheme to this URL (section 5.8.3). */
export function isForUrl(cookie: ScriptCookie, url: URL): boolean {
  return isForOrigin(cookie, url) && pathMatches(url.pathname, cookie.path);
}

/** Section 5.7 step 14: what was set in clear cannot shadow a Secure cookie. */
export function isShadowedBySecure(cookie: ScriptCookie, setting: URL, existing: Iterable<ScriptCookie>): boolean {
  if (cookie.secure || isPotentiallyTrustworthy(setting)) return false;
  return [...existing].some(
    (other) =>
      other.secure &&
      other.name === cookie.name &&
      (domainMatches(cookie.domain, other.domain) || domainMatches(other.domain, cookie.domain)) &&
      pathMatches(cookie.path, other.path),
  );
}

/** As `Cookie` and `document.cookie` have it: longer paths first, else in the order given, which is by age. */
export function cookieString(cookies: readonly ScriptCookie[]): string {
  return [...cookies]
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ name, value }) => (name === "" ? value : `${name}=${value}`))
    .join("; ");
}

// The tolerant date of cookies, RFC 6265 section 5.1.1.

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DELIMITERS = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/;

/** Milliseconds since the epoch, or null where the text is no date. */
export function parseCookieDate(text: string): number | null {
  let time: RegExpExecArray | null = null;
  let day: number | null = null;
  let month = -1;
  let year: number | null = null;
  for (const token of text.split(DELIMITERS)) {
    const clock: RegExpExecArray | null = time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(token) : null;
    if (clock !== null) {
      time = clock;
      continue;
    }
    const dayDigits: RegExpExecArray | null = day === null ? /^\d{1,2}(?!\d)/.exec(token) : null;
    if (dayDigits !== null) {
      day = Number(dayDigits[0]);
      continue;
    }
    const monthIndex = month === -1 ? MONTHS.indexOf(token.slice(0, 3).toLowerCase()) : -1;
    if (monthIndex !== -1) {
      month = monthIndex;
      continue;
    }
    const yearDigits: RegExpExecArray | null = year === null ? /^\d{2,4}(?!\d)/.exec(token) : null;
    if (yearDigits !== null) year = Number(yearDigits[0]);
  }
  if (time === null || day === null || month === -1 || year === null) return null;
  if (year >= 70 && year <= 99) year += 1900;
  else if (year <= 69) year += 2000;
  const [hour, minute, second] = [Number(time[1]), Number(time[2]), Number(time[3])];
  if (day < 1 || day > 31 || year < 1601 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(Date.UTC(year, month, day, hour, minute, second));
  return date.getUTCDate() === day ? date.getTime() : null;
}

/**
 * Note in the answer to a navigation: of how many labels the public suffix of its host is, such as 2 for `example.co.uk`.
 * Scripts name the host or a domain above it alone, so this says of each whether it is a suffix.
 */
export const SUFFIX_NOTE = "ropeway-suffix";

/** @returns 1, as of most names, where nothing is said, or nothing that can be. */
export function suffixIn(headers: HeaderList): number {
  const labels = Number(headerValue(headers, SUFFIX_NOTE));
  return labels > 1 && labels < MOST_LABELS ? labels : 1;
}

/** More labels than a host's name can have (RFC 1035 section 2.3.4). */
const MOST_LABELS = 128;

/**
 * A mirror of the cookies that scripts of documents may see. The jar is at the edge; the mirror makes a read right
 * after a write see it, and follows the jar's updates.
 */
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

  /** The value of `document.cookie` in the document with this real URL. */
  read(documentUrl: string): string {
    const url = new URL(documentUrl);
    return cookieString(this.all().filter((each) => isForUrl(each, url)));
  }

  /**
   * Applies `document.cookie = text`. False: refused, nothing changed, and the edge need not hear of it.
   *
   * @param suffix as of `suffixIn`.
   */
  write(text: string, documentUrl: string, suffix = 1): boolean {
    const url = new URL(documentUrl);
    const cookie = parseSetCookie(text, { url, now: this.#now(), http: false }, suffix);
    if (cookie === null || isShadowedBySecure(cookie, url, this.#cookies.values())) return false;
    this.apply([cookie]);
    return true;
  }
}
