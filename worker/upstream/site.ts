/** Sites as browsers compare them (HTML section 7.1.1), by the public suffix list. */
import { getDomain, getPublicSuffix } from "tldts";

/** Registrable domain of a host, or null for an IP address or a bare suffix. */
function registrableDomain(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

/** Owner of a host: its registrable domain, or itself where it has none. */
export function ownerOf(host: string): string {
  return registrableDomain(host) ?? host;
}

/** True for a name that no single party owns (`com`, `github.io`, any single label). */
export function isPublicSuffix(domain: string): boolean {
  return !domain.includes(".") || registrableDomain(domain) === null;
}

/** Number of labels in the public suffix of a host; all labels of an IP address. */
export function suffixLabels(host: string): number {
  return (getPublicSuffix(host, { allowPrivateDomains: true }) ?? host).split(".").length;
}

/** Schemeful site of a serialized origin or URL, such as `https://example.com`; null for an opaque origin. */
export function siteOf(origin: string | null): string | null {
  const url = URL.parse(origin ?? "");
  if (url === null || url.hostname === "") return null;
  return `${url.protocol}//${ownerOf(url.hostname)}`;
}

/** Schemefully same site. */
export function isSameSite(a: string | null, b: string | null): boolean {
  const site = siteOf(a);
  return site !== null && site === siteOf(b);
}
