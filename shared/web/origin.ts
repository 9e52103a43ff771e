/** What origins are to each other and to the network. A serialized origin of "null" is opaque: the same as nothing. */

/** `URL.parse`, which Chromium has since 126 only. */
export function parseUrl(url: string, base?: string): URL | null {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}

/** The URL without what no referrer and no request line has: credentials (Fetch section 5.4) and fragment. */
export function bareUrl(url: URL): URL {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  bare.hash = "";
  return bare;
}

/** Same serialized origin, of an origin or a URL. Opaque origins never are, not even to themselves. */
export function isSameOrigin(a: string | null, b: string | null): boolean {
  const left = parseUrl(a ?? "")?.origin;
  return left !== undefined && left !== "null" && left === parseUrl(b ?? "")?.origin;
}

/** `localhost`, names below it and loopback addresses, as `URL.hostname` writes them. */
export function isLoopbackHost(host: string): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d+){3}$/.test(name);
}

/** Secure Contexts section 3.1, for http(s) and ws(s) URLs: encrypted, or a loopback host. */
export function isPotentiallyTrustworthy(url: URL): boolean {
  return url.protocol === "https:" || url.protocol === "wss:" || isLoopbackHost(url.hostname);
}

/**
 * Whether a page of an origin must not load this in clear (Mixed Content section 4): in place of blocking it, as browsers
 * do with most, it is upgraded, so that nothing goes out in clear.
 */
export function isMixedContent(url: URL, pageOrigin: string): boolean {
  return url.protocol === "http:" && pageOrigin.startsWith("https:") && !isPotentiallyTrustworthy(url);
}
