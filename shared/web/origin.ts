/** URLs, their origins, and what these are to each other. A serialized origin of "null" is opaque: the same as nothing. */

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

/** Names of one site have the last two labels in common, whatever list of suffixes there is. */
export function areMaybeSameSite(a: string, b: string): boolean {
  const [left, right] = [parseUrl(a)?.hostname, parseUrl(b)?.hostname].map((host) =>
    host?.split(".").slice(-2).join("."),
  );
  return left !== undefined && left === right;
}

// Statuses by their meaning alone (Fetch section 2.2.3).

/** Whether there can be no body. 101 ends no exchange. */
export function hasNullBody(method: string, status: number): boolean {
  return method === "HEAD" || status === 101 || status === 204 || status === 205 || status === 304;
}

/**
 * Schemes of addresses that lead nowhere outside, run in the app, or bring another document into its window: what a browser
 * itself takes, and Android's way to any app, which may name a page to open in its place.
 */
const OWN_SCHEMES =
  /^(?:|about|blob|chrome.*|content|data|edge|file|filesystem|ftp|https?|intent|javascript|resource|vbscript|view-source|web\+.*|wss?):?$/;

/** Whether another app may open such an address. @param protocol as of `URL`. */
export function opensOtherApp(protocol: string): boolean {
  return !OWN_SCHEMES.test(protocol);
}

/** A Location field, of which runtimes join several lines: browsers take lines that all say the same as one. */
export function locationIn(field: string): string {
  const [first = "", ...more] = field.split(", ");
  return more.every((line) => line === first) ? first : field;
}

/** Whether it leads elsewhere, if a Location says where to. */
export function isRedirectStatus(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

// Field values of runtimes that hand out their bytes, one character each (Deno, Node).

/** What they say in UTF-8; the text itself where that is no UTF-8, or has characters that are no bytes. */
export function decodeByteString(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  try {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return text;
  }
}

/** The bytes of a text in UTF-8, one character each. */
export function encodeByteString(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}
