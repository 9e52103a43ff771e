/**
 * Origins and sites as browsers compare them: HTML section 7.1.1 (same site), Secure Contexts section 3.1.
 * A serialized origin of "null" is opaque and is the same as nothing, itself included.
 */
import { getPublicSuffix } from "tough-cookie";

/** Registrable domain of a host by the public suffix list, or null for an IP address or a bare suffix. */
function registrableDomain(host: string): string | null {
  // Despite its name the function gives the suffix plus one label.
  return getPublicSuffix(host, { allowSpecialUseDomain: true, ignoreError: true }) ?? null;
}

/** Who a host belongs to: its registrable domain, or itself where it has none. */
export function ownerOf(host: string): string {
  return registrableDomain(host) ?? host;
}

/** True for a name that no single party owns (`com`, `github.io`, any single label). */
export function isPublicSuffix(domain: string): boolean {
  return !domain.includes(".") || registrableDomain(domain) === null;
}

function parseOrigin(origin: string | null): URL | null {
  return origin !== null && URL.canParse(origin) ? new URL(origin) : null;
}

/** Schemeful site of a serialized origin or URL, such as `https://example.com`; null for an opaque origin. */
export function siteOf(origin: string | null): string | null {
  const url = parseOrigin(origin);
  if (url === null || url.hostname === "") return null;
  return `${url.protocol}//${ownerOf(url.hostname)}`;
}

/** Schemefully same site. */
export function isSameSite(a: string | null, b: string | null): boolean {
  const site = siteOf(a);
  return site !== null && site === siteOf(b);
}

/** Same serialized origin; opaque origins never are. */
export function isSameOrigin(a: string | null, b: string | null): boolean {
  const left = parseOrigin(a)?.origin;
  return left !== undefined && left !== "null" && left === parseOrigin(b)?.origin;
}

/** `localhost`, names below it and loopback addresses, as `URL.hostname` writes them. */
export function isLoopbackHost(host: string): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d+){3}$/.test(name);
}

/**
 * Whether a page of an origin must not load this in clear (Mixed Content section 4): in place of blocking it, as browsers
 * do with most, it is upgraded, so that nothing goes out in clear.
 */
export function isMixedContent(url: URL, pageOrigin: string): boolean {
  return url.protocol === "http:" && pageOrigin.startsWith("https:") && !isPotentiallyTrustworthy(url);
}

/** Secure Contexts section 3.1: https, or a loopback host. */
export function isPotentiallyTrustworthy(url: URL): boolean {
  return url.protocol === "https:" || isLoopbackHost(url.hostname);
}
