/** The fields of a request to an origin: what the page set and may set, and what a browser would add. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { Destination, HeaderField, HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { isPotentiallyTrustworthy, isSameOrigin } from "../../../shared/web/origin.ts";
import { toByteString } from "../../../shared/wire/hpack/primitives.ts";
import { clientHints } from "../fetch-rules/client-hints.ts";
import { isSameSite } from "../fetch-rules/site.ts";
import { hopByHopFilter } from "./hop-by-hop.ts";

/** Forbidden to pages (Fetch section 2.2.2), set here, or telling an origin about the way the request came. */
const DROPPED = new Set([
  "accept-charset",
  "accept-encoding",
  "access-control-request-headers",
  "access-control-request-method",
  "access-control-request-private-network",
  "cdn-loop",
  "content-length",
  "cookie",
  "cookie2",
  "date",
  "expect",
  "forwarded",
  "host",
  "origin",
  "referer",
  "set-cookie",
  "true-client-ip",
  "upgrade-insecure-requests",
  "user-agent",
  "via",
  "x-real-ip",
]);

const DROPPED_PREFIXES = ["sec-", "x-forwarded-"];

/** What the page may say of its own. Values are not checked here: `Headers` does that. */
export function pageFields(fields: HeaderList): HeaderList {
  const lowered = fields.map(([name, value]): HeaderField => [name.toLowerCase(), value]);
  const connection = lowered.filter(([name]) => name === "connection").map(([, value]) => value);
  const isHopByHop = hopByHopFilter(connection.join(","));
  return lowered.filter(
    ([name]) => !isHopByHop(name) && !DROPPED.has(name) && !DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
}

/** Fetch section 4.1 step 12, per destination. */
const ACCEPT: Partial<Record<Destination, string>> = {
  document: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  frame: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  iframe: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  image: "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
  json: "application/json,*/*;q=0.5",
  style: "text/css,*/*;q=0.1",
};

/** The codings that workerd's and Deno's fetch undo; others would reach the page coded. */
const ACCEPT_ENCODING = "gzip, br";

export interface OutgoingRequest {
  readonly head: Pick<RequestHead, "destination" | "mode" | "origin"> & Partial<Pick<RequestHead, "credentials">>;
  /** All URLs of the exchange so far; the last is the one this request goes to. */
  readonly chain: readonly [URL, ...URL[]];
  readonly fields: HeaderList;
  /** Value of the Origin field, or null for none. */
  readonly origin: string | null;
  /** Value of the Referer field, or "" for none. */
  readonly referrer: string;
  /** Value of the Cookie field, or "" for none. */
  readonly cookie: string;
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Not of preflights, where browsers say nothing of it. */
  readonly savesData?: boolean;
}

/** @throws RopewayError PROTOCOL_ERROR of scope "stream" for a field that HTTP does not allow. */
export function buildRequestHeaders(request: OutgoingRequest): Headers {
  const url = request.chain[request.chain.length - 1] as URL;
  const headers = new Headers();
  try {
    for (const [name, value] of request.fields) headers.append(name, value);
    setBrowserFields(headers, request, url);
  } catch (cause) {
    throw new RopewayError(
      ErrorCode.PROTOCOL_ERROR,
      "stream",
      "peer",
      `Cannot send the request to ${url.host}: a field is not valid HTTP`,
      { cause },
    );
  }
  return headers;
}

function setBrowserFields(headers: Headers, request: OutgoingRequest, url: URL): void {
  const { head, chain, acceptLanguage } = request;
  if (!headers.has("accept")) headers.set("accept", ACCEPT[head.destination] ?? "*/*");
  if (!headers.has("accept-language") && acceptLanguage !== "") headers.set("accept-language", acceptLanguage);
  // Save Data API section 6. The browser's own field is no page's, and no reason for a preflight (`cors.ts`).
  if (request.savesData === true) headers.set("save-data", "on");
  // A range of a coded body cannot be decoded (Fetch section 4.6 step 8.20).
  headers.set("accept-encoding", headers.has("range") ? "identity" : ACCEPT_ENCODING);
  headers.set("user-agent", request.userAgent);
  if (request.cookie !== "") setCookieField(headers, request.cookie);
  if (request.origin !== null) headers.set("origin", request.origin);
  if (request.referrer !== "") headers.set("referer", request.referrer);
  if (head.mode === "navigate") headers.set("upgrade-insecure-requests", "1");
  if (!isPotentiallyTrustworthy(url)) return;
  setFetchMetadata(headers, head, chain);
  for (const [name, value] of clientHints(request.userAgent)) headers.set(name, value);
}

/** workerd writes any text as UTF-8; Deno and Node want the bytes, one character each, as they gave Set-Cookie. */
function setCookieField(headers: Headers, value: string): void {
  try {
    headers.set("cookie", value);
  } catch {
    headers.set("cookie", toByteString(value));
  }
}

/** Fetch Metadata Request Headers section 2. Sent to potentially trustworthy URLs only. */
function setFetchMetadata(headers: Headers, head: OutgoingRequest["head"], chain: readonly URL[]): void {
  headers.set("sec-fetch-site", fetchSite(head.origin, chain));
  headers.set("sec-fetch-mode", head.mode);
  headers.set("sec-fetch-dest", head.destination === "" ? "empty" : head.destination);
  // Whether a gesture started it is not known here; for the person's own navigations it nearly always did.
  if (head.mode === "navigate" && head.destination === "document") {
    // Nobody has asked for what goes without credentials (`warming`).
    if (head.credentials === "omit") headers.set("sec-purpose", "prefetch");
    else headers.set("sec-fetch-user", "?1");
  }
}

/** How the farthest URL of the exchange relates to who asks for it. */
function fetchSite(origin: string | null, chain: readonly URL[]): "none" | "same-origin" | "same-site" | "cross-site" {
  if (origin === null) return "none";
  if (chain.every((url) => isSameOrigin(origin, url.origin))) return "same-origin";
  return chain.every((url) => isSameSite(origin, url.origin)) ? "same-site" : "cross-site";
}

/**
 * The request's origin as its URLs left it: "null" once a redirect led from one foreign origin to another (Fetch
 * section 2.2.5, redirect-tainted origin).
 */
export function serializedOrigin(origin: string | null, chain: readonly URL[]): string {
  if (origin === null) return "null";
  const tainted = chain.some((url, index) => {
    const previous = chain[index - 1];
    return previous !== undefined && url.origin !== previous.origin && !isSameOrigin(origin, previous.origin);
  });
  return tainted ? "null" : origin;
}

/** Modules, fonts, and what has `crossorigin`: Chromium sends their Origin to the page's own origin, too. */
export function isCorsElement({ mode, destination }: Pick<RequestHead, "mode" | "destination">): boolean {
  return mode === "cors" && destination !== "";
}

/**
 * The Origin field (Fetch section 3.2), or null for none. The page's referrer policy is not known here; its default
 * decides what an insecure origin may learn.
 */
export function originField(
  request: { readonly origin: string | null; readonly method: string; readonly isCors: boolean },
  chain: readonly [URL, ...URL[]],
): string | null {
  const serialized = serializedOrigin(request.origin, chain);
  if (request.isCors) return serialized;
  if (request.method === "GET" || request.method === "HEAD") return null;
  const downgrade = serialized.startsWith("https:") && chain[chain.length - 1]?.protocol !== "https:";
  return downgrade ? "null" : serialized;
}
