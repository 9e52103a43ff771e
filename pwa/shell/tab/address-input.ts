/** The meaning of the words in the address box. `url` is always a serialized http: or https: URL. */
export type ParsedAddress =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "search"; readonly url: string }
  | { readonly kind: "unsupported"; readonly scheme: string; readonly input: string };

/** Schemes that people do type without `//`; any other word before a colon is part of a search. */
const SCHEMES_WITHOUT_SLASHES = new Set(
  "about blob bitcoin chrome content data edge facetime file filesystem ftp geo intent javascript magnet mailto market news res sip sips sms smsto tel urn view-source vbscript whatsapp ws wss xmpp".split(
    " ",
  ),
);

/** File endings that are no top-level domains, so that `node.js` is a search like in other browsers. */
const FILE_ENDINGS = new Set(
  "bat bmp c conf css csv doc docx dll exe gif h html ini jar java jpeg jpg js json jsx log mjs mp3 mp4 pdf php png ppt pptx psd svg tar toml ts tsx txt wasm wav webp xls xlsx xml yaml yml".split(
    " ",
  ),
);

const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/i;
const PORT_FIRST = /^\d{1,5}(?:[/?#]|$)/;
const NUMERIC_HOST = /^[\d.]+$/;
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const TOP_LEVEL = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/;

/**
 * Decides between address and search as browsers do: something with a dot, a slash or a port is an address, words are
 * a search, and a scheme that Ropeway cannot load says so. Without a scheme https: is meant, except for localhost and
 * IP addresses, which rarely have a certificate. Never throws.
 *
 * @param searchUrl search address with `%s` where the percent-encoded words go
 */
export function parseAddress(input: string, searchUrl: string): ParsedAddress {
  const text = input.replace(/\s+/g, " ").trim();
  const withScheme = SCHEME.exec(text);
  if (withScheme && !isHostAndPort(text, withScheme[2] ?? "")) {
    const scheme = (withScheme[1] ?? "").toLowerCase();
    const rest = withScheme[2] ?? "";
    if (scheme === "http" || scheme === "https") {
      const url = parseUrl(text);
      return url ? { kind: "url", url: url.href } : search(text, searchUrl);
    }
    if (rest.startsWith("//") || (SCHEMES_WITHOUT_SLASHES.has(scheme) && rest !== "" && !rest.startsWith(" "))) {
      return { kind: "unsupported", scheme, input: text };
    }
  }
  if (text.startsWith("?")) return search(text.slice(1).trim(), searchUrl);
  if (text.includes(" ")) return search(text, searchUrl);
  const url = parseWithoutScheme(text.startsWith("//") ? text.slice(2) : text);
  return url ? { kind: "url", url } : search(text, searchUrl);
}

/** The search address for words; lone surrogates become U+FFFD, since they cannot be percent-encoded. */
function search(words: string, searchUrl: string): ParsedAddress {
  const encoded = encodeURIComponent(words.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  return { kind: "search", url: searchUrl.replace("%s", () => encoded) };
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** `localhost:8080` and `nas:5000/x` look like a scheme, and are a host with a port; `tel:112` is neither. */
function isHostAndPort(text: string, afterColon: string): boolean {
  return PORT_FIRST.test(afterColon) && !/^(?:tel|sms|smsto):/i.test(text);
}

function parseWithoutScheme(text: string): string | null {
  const authorityEnd = text.search(/[/?#]/);
  const authority = authorityEnd < 0 ? text : text.slice(0, authorityEnd);
  const hasPath = authorityEnd >= 0 && text[authorityEnd] === "/";
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const hasPort = /:\d+$/.test(host);
  // A bare user@host is an e-mail address far more often than a login.
  if (host === "" || (at >= 0 && !hasPath && !hasPort && !authority.slice(0, at).includes(":"))) return null;

  const url = parseUrl(`http://${text}`);
  if (!url) return null;
  if (host.startsWith("[")) return url.href;
  const typedHost = host.replace(/:\d*$/, "");
  // The URL parser reads 1.5 as the address 1.0.0.5; only four written parts count as an address here.
  if (NUMERIC_HOST.test(url.hostname)) return url.hostname === typedHost ? url.href : null;

  const name = url.hostname.replace(/\.$/, "");
  if (!HOST_NAME.test(name)) return null;
  if (name === "localhost" || name.endsWith(".localhost")) return url.href;
  const topLevel = name.slice(name.lastIndexOf(".") + 1);
  const isDomain = name.includes(".") && TOP_LEVEL.test(topLevel) && !FILE_ENDINGS.has(topLevel);
  if (!isDomain && !hasPath && !hasPort) return null;
  // Parsed again instead of changing `protocol`, so that :443 is dropped and :80 is kept.
  return parseUrl(`https://${text}`)?.href ?? null;
}
