/** Where an exchange goes: redirects (Fetch section 4.4), as arithmetic on one hop; Strict-Transport-Security; user names in URLs. */

import { toBase64 } from "../../shared/base-encodings.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { ErrorCode, later, RopewayError } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import {
  bareUrl,
  decodeByteString,
  isLoopbackHost,
  isRedirectStatus,
  isSameOrigin,
  locationIn,
  opensOtherApp,
} from "../../shared/web/origin.ts";
import { COOKIE_PARTITIONS_LOADED, type CookieJarStore, StoredPartitions } from "./cookie-jar.ts";
import { ownerOf } from "./site.ts";

/** Fetch section 4.4 step 5: a 21st redirect is a network error. */
export const MAX_REDIRECTS = 20;

/** Fields that describe a request's body and go with it (Fetch section 2.2.2, request-body-header names). */
export const BODY_FIELDS = new Set([
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
]);

interface RedirectStep {
  /** Without fragment; credentials, if any, still in it. */
  readonly url: URL;
  /** With `#`; empty where the Location has none, so that the one before it holds (RFC 9110 section 10.2.2). */
  readonly fragment: string;
  readonly method: string;
  readonly keepsBody: boolean;
  readonly keepsAuthorization: boolean;
}

/** True for a status that leads elsewhere if a Location says where to; browsers show a response whose Location is empty. */
export function isRedirect(status: number, location: string | null): location is string {
  return location !== null && location !== "" && isRedirectStatus(status);
}

/**
 * A redirect out of the origin goes back as it is where the phone has to decide what may load there, and for a page where it
 * leads to another app.
 */
export function mayFollow(
  { redirect, mode }: Pick<RequestHead, "redirect" | "mode">,
  from: URL,
  location: string,
): boolean {
  const target = URL.parse(location, from);
  if (redirect === "manual" || (mode === "navigate" && target !== null && opensOtherApp(target.protocol))) return false;
  return redirect !== "same-origin" || target?.origin === from.origin;
}

/** The Location field, or null. */
export function locationOf(headers: Headers): string | null {
  const field = headers.get("location");
  return field && locationIn(field);
}

/**
 * Where a redirect leads.
 * @param count redirects followed before this one
 * @throws RopewayError UNSUPPORTED_SCHEME or TOO_MANY_REDIRECTS, of scope "stream"
 */
export function nextHop(
  from: { readonly url: URL; readonly method: string },
  status: number,
  location: string,
  count: number,
): RedirectStep {
  // Many servers send raw UTF-8, and browsers read it as that.
  const target = decodeByteString(location);
  if (!URL.canParse(target, from.url)) throw notFollowed(from.url, later("its target is no URL"));
  const url = new URL(target, from.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw notFollowed(from.url, `it leads to a ${url.protocol} address`, ErrorCode.UNSUPPORTED_SCHEME);
  }
  if (count >= MAX_REDIRECTS) {
    throw notFollowed(from.url, later("there were {number} before it").replace("{number}", String(MAX_REDIRECTS)));
  }
  const fragment = url.hash;
  url.hash = "";
  const becomesGet =
    ((status === 301 || status === 302) && from.method === "POST") ||
    (status === 303 && from.method !== "GET" && from.method !== "HEAD");
  return {
    url,
    fragment,
    method: becomesGet ? "GET" : from.method,
    keepsBody: !becomesGet,
    keepsAuthorization: url.origin === from.url.origin,
  };
}

export function notFollowed(from: URL, reason: string, code: ErrorCode = ErrorCode.TOO_MANY_REDIRECTS): RopewayError {
  return new RopewayError(code, "stream", "origin", `Cannot follow the redirect of ${from.host}: ${reason}`);
}

/** User name and password in a URL, which Fetch does not take there (Fetch section 5.4, Request constructor). */
export function hasCredentials(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}

/** The Authorization field's value for the credentials of `url` (RFC 7617). */
export function basicAuthorization(url: URL): string {
  const pair = new TextEncoder().encode(`${decodePercent(url.username)}:${decodePercent(url.password)}`);
  return `Basic ${toBase64(pair)}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The referrer that a request may begin with: of who asks, or none. A referrer of another origin counts as none. */
export function ownReferrer({ referrer, origin }: Pick<RequestHead, "referrer" | "origin">): string {
  return isSameOrigin(referrer, origin) ? bareUrl(new URL(referrer)).href : "";
}

/** Hosts that want https: only, kept for one partition; at 90 bytes each below a value of Deno KV. */
export const TRANSPORT_SECURITY_HOSTS = 256;

/**
 * Milliseconds: longest max-age of Strict-Transport-Security that is honoured; what the preload lists ask for at most.
 */
const TRANSPORT_SECURITY_AGE = 2 * 365 * 24 * 3600 * 1000;

interface Policy {
  readonly includesSubdomains: boolean;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** By host, the one that spoke longest ago first. */
type Policies = Map<string, Policy>;

interface TransportSecurityDeps {
  /** Shared with the cookies. */
  readonly store: CookieJarStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** An end that moves by less is not stored: most responses say the same again. */
const STORED_STEP = 24 * 3600 * 1000;

/**
 * Strict-Transport-Security (RFC 6797), apart by the site of the top-level page as cookies are: what a host says inside
 * one site's pages is not known inside another's, and so marks nobody.
 */
export class TransportSecurity {
  readonly #now: () => number;
  readonly #stored: StoredPartitions;
  /** Least recently used first. */
  readonly #loaded = new BoundedMap<string, Promise<Policies>>(COOKIE_PARTITIONS_LOADED);

  constructor({ store, now }: TransportSecurityDeps) {
    this.#now = now;
    // What is said again ends later: those go first whose last word was long ago, or for a short time.
    const standingOf = (stored: unknown) => ({ isLasting: false, usedAt: lastEnd(parseStored(stored)) });
    this.#stored = new StoredPartitions(store, "transport-security/", standingOf);
  }

  /** Whether what goes to `url` has to go by https: (section 8.3). */
  async upgrades(partition: string, url: URL): Promise<boolean> {
    const host = knownHost(url);
    if (url.protocol !== "http:" || host === null) return false;
    const policies = await this.#load(partition);
    for (let name = host; name !== ""; name = name.slice(name.indexOf(".") + 1)) {
      const policy = policies.get(name);
      const covers = policy !== undefined && policy.expires > this.#now();
      if (covers && (name === host || policy.includesSubdomains)) return true;
      if (!name.includes(".")) break;
    }
    return false;
  }

  /** Takes the policy of a response from `url` (section 8.1). @param field null where it says nothing */
  async take(partition: string, url: URL, field: string | null): Promise<void> {
    const host = knownHost(url);
    const directives = field === null || url.protocol !== "https:" ? null : parseField(field);
    if (host === null || directives === null) return;
    const policies = await this.#load(partition);
    const { maxAge, includesSubdomains } = directives;
    const former = policies.get(host);
    policies.delete(host);
    const next = maxAge === 0 ? undefined : { includesSubdomains, expires: this.#now() + maxAge };
    if (next !== undefined) policies.set(host, next);
    bound(policies, partition);
    if (isNews(former, next)) await this.#write(partition, policies);
  }

  /** Forgets all of it. */
  async clear(): Promise<void> {
    this.#loaded.clear();
    const names = await this.#stored.names();
    await Promise.all(names.map((partition) => this.#stored.delete(partition)));
  }

  /** Forgets what was said below the site that a host belongs to, and what that site's hosts said below others. */
  async clearSite(host: string): Promise<void> {
    const site = ownerOf(host);
    const own = keyOf(`https://${site}`);
    for (const partition of await this.#stored.names()) {
      const policies = await this.#load(partition);
      const gone = [...policies.keys()].filter((name) => partition === own || ownerOf(name) === site);
      for (const name of gone) policies.delete(name);
      if (gone.length > 0) await this.#write(partition, policies);
    }
  }

  #load(partition: string): Promise<Policies> {
    const key = keyOf(partition);
    const policies = this.#loaded.get(key) ?? this.#stored.get(key).then(parseStored, () => new Map());
    this.#loaded.set(key, policies);
    return policies;
  }

  /** Where the store fails, the session knows it all the same. */
  async #write(partition: string, policies: Policies): Promise<void> {
    const kept = [...policies].filter(([, { expires }]) => expires > this.#now());
    const key = keyOf(partition);
    const written = kept.length === 0 ? this.#stored.delete(key) : this.#stored.set(key, JSON.stringify(kept));
    await written.catch(() => {});
    for (const gone of await this.#stored.bound(this.#loaded.keys())) this.#loaded.delete(gone);
  }
}

/** http: and https: pages of a site share what is known: it is there to lead from one to the other. */
function keyOf(partition: string): string {
  return partition.replace(/^http:/, "https:");
}

/** Null for what has no name (section 8.1.1), and for this machine, where one host serves many sites by their ports. */
function knownHost({ hostname }: URL): string | null {
  const name = hostname.replace(/\.$/, "");
  const isAddress = name.startsWith("[") || /^[\d.]+$/.test(name);
  return name === "" || isAddress || isLoopbackHost(name) ? null : name;
}

/** Of several fields the first counts. @returns null where it is malformed; `maxAge` in milliseconds. */
function parseField(field: string): { maxAge: number; includesSubdomains: boolean } | null {
  const directives = new Map<string, string>();
  for (const part of (field.split(",", 1)[0] ?? "").split(";")) {
    const equals = part.includes("=") ? part.indexOf("=") : part.length;
    const key = part.slice(0, equals).trim().toLowerCase();
    if (key === "" || /\s/.test(key)) continue;
    if (directives.has(key)) return null;
    const value = part.slice(equals + 1).trim();
    directives.set(key, value.replace(/^"/, "").replace(/"$/, ""));
  }
  const seconds = directives.get("max-age") ?? "";
  if (!/^\d+$/.test(seconds)) return null;
  const maxAge = Math.min(Number(seconds) * 1000, TRANSPORT_SECURITY_AGE);
  return { maxAge, includesSubdomains: directives.has("includesubdomains") };
}

/** Policies that others than the site itself have set go first. */
function bound(policies: Policies, partition: string): void {
  const own = ownerOf(URL.parse(partition)?.hostname ?? "");
  while (policies.size > TRANSPORT_SECURITY_HOSTS) {
    const hosts = [...policies.keys()];
    policies.delete(hosts.find((host) => ownerOf(host) !== own) ?? (hosts[0] as string));
  }
}

function isNews(former: Policy | undefined, next: Policy | undefined): boolean {
  if (former === undefined || next === undefined) return former !== next;
  const step = Math.abs(next.expires - former.expires);
  return former.includesSubdomains !== next.includesSubdomains || step >= STORED_STEP;
}

function lastEnd(policies: Policies): number {
  return [...policies.values()].reduce((last, { expires }) => Math.max(last, expires), 0);
}

function parseStored(stored: unknown): Policies {
  try {
    const entries: unknown = typeof stored === "string" ? JSON.parse(stored) : [];
    return new Map(Array.isArray(entries) ? (entries as [string, Policy][]) : []);
  } catch {
    return new Map();
  }
}
