/** Fields of requests to origins, and of their responses: what a page set and may set, what a browser would add, what reaches the phone. */

import { toByteString } from "../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { isFieldName } from "../../shared/http/head-fields.ts";
import type { Destination, HeaderField, HeaderList, ReferrerPolicy, RequestHead } from "../../shared/http/heads.ts";
import { type AcceptTable, isStoreNote } from "../../shared/http/phone-fields.ts";
import * as limits from "../../shared/limits.ts";
import { isPotentiallyTrustworthy, isSameOrigin } from "../../shared/web/origin.ts";
import { codingsOf } from "./response-body.ts";
import { isSameSite } from "./site.ts";

/** Forbidden to pages (Fetch section 2.2.2), set here, or telling an origin about the way the request came. */
const NOT_FOR_ORIGINS = new Set([
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

const PREFIXES_NOT_FOR_ORIGINS = ["sec-", "x-forwarded-"];

/** Fields that the page may set itself. Values are not checked here: `Headers` does that. */
export function pageFields(fields: HeaderList): HeaderList {
  const lowered = fields.map(([name, value]): HeaderField => [name.toLowerCase(), value]);
  const connection = lowered.filter(([name]) => name === "connection").map(([, value]) => value);
  const isHopByHop = hopByHopFilter(connection.join(","));
  return lowered.filter(
    ([name]) =>
      !isHopByHop(name) &&
      !NOT_FOR_ORIGINS.has(name) &&
      !PREFIXES_NOT_FOR_ORIGINS.some((prefix) => name.startsWith(prefix)),
  );
}

/** Fetch section 4.1 step 12, per destination, but for navigations. */
const ACCEPT: Partial<Record<Destination, string>> = {
  image: "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
  json: "application/json,*/*;q=0.5",
  style: "text/css,*/*;q=0.1",
};

/** As Firefox and Safari send it, and Fetch has it. */
const ACCEPT_DOCUMENT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const JXL = "image/jxl";

/**
 * `accept` of a request that says none, as of a navigation that begins before its browser has made it.
 *
 * @param own of its browser, as far as announced: of Chromium some releases take JPEG XL.
 */
function acceptOf({ destination, mode }: OutgoingRequest["head"], userAgent: string, own: AcceptTable): string {
  if (mode !== "navigate") return ACCEPT[destination] ?? "*/*";
  if (chromiumVersion(userAgent) === undefined) return ACCEPT_DOCUMENT;
  const jxl = own.image === undefined || own.image.includes(JXL) ? `${JXL},` : "";
  const images = `${jxl}image/avif,image/webp,image/apng`;
  return `text/html,application/xhtml+xml,application/xml;q=0.9,${images},*/*;q=0.8,application/signed-exchange;v=b3;q=0.7`;
}

/** The codings that workerd's and Deno's fetch undo; others would reach the page coded. */
const ACCEPT_ENCODING = "gzip, br";

export interface OutgoingRequest {
  readonly head: Pick<RequestHead, "destination" | "mode" | "origin" | "isUnasked"> &
    Partial<Pick<RequestHead, "credentials">>;
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
  /** `accept` of the browser, as far as announced. */
  readonly accept?: AcceptTable;
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
  const { head, chain, acceptLanguage, userAgent, accept = {} } = request;
  if (!headers.has("accept")) headers.set("accept", acceptOf(head, userAgent, accept));
  if (!headers.has("accept-language") && acceptLanguage !== "") headers.set("accept-language", acceptLanguage);
  // Save Data API section 6. The browser's own field is no page's, and no reason for a preflight (`cors.ts`).
  if (request.savesData === true) headers.set("save-data", "on");
  // A range of a coded body cannot be decoded (Fetch section 4.6 step 8.20).
  headers.set("accept-encoding", headers.has("range") ? "identity" : ACCEPT_ENCODING);
  headers.set("user-agent", userAgent);
  if (request.cookie !== "") setCookieField(headers, request.cookie);
  if (request.origin !== null) headers.set("origin", request.origin);
  if (request.referrer !== "") headers.set("referer", request.referrer);
  if (head.mode === "navigate") headers.set("upgrade-insecure-requests", "1");
  if (!isPotentiallyTrustworthy(url)) return;
  setFetchMetadata(headers, head, chain);
  for (const [name, value] of clientHints(userAgent)) headers.set(name, value);
}

/** As bytes, one character each. Jars of workerd have kept text, too: cut to its low bits, a character of it may end the line. */
export function setCookieField(headers: Headers, value: string): void {
  headers.set("cookie", value.split("; ").map(toByteString).join("; "));
}

/** Fetch Metadata Request Headers section 2. Sent to potentially trustworthy URLs only. */
function setFetchMetadata(headers: Headers, head: OutgoingRequest["head"], chain: readonly URL[]): void {
  headers.set("sec-fetch-site", fetchSite(head.origin, chain));
  headers.set("sec-fetch-mode", head.mode);
  headers.set("sec-fetch-dest", head.destination === "" ? "empty" : head.destination);
  if (head.mode === "navigate" && head.destination === "document") {
    // Nobody has asked for what goes without credentials (`page-warmer.ts`).
    if (head.credentials === "omit") headers.set("sec-purpose", "prefetch");
    else if (head.isUnasked !== true) headers.set("sec-fetch-user", "?1");
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
 * The Origin field (Fetch section 3.2), or null for none.
 *
 * @property policy the referrer policy of a request without CORS; "" where the phone does not tell it, as of navigations.
 */
export function originField(
  request: {
    readonly origin: string | null;
    readonly method: string;
    readonly isCors: boolean;
    readonly policy?: ReferrerPolicy | "";
  },
  chain: readonly [URL, ...URL[]],
): string | null {
  const serialized = serializedOrigin(request.origin, chain);
  if (request.isCors) return serialized;
  if (request.method === "GET" || request.method === "HEAD") return null;
  const { policy = "" } = request;
  const isKeptFrom = policy === "same-origin" && chain[chain.length - 1]?.origin !== serialized;
  if (policy === "no-referrer" || isKeptFrom) return "null";
  if (/^(?:origin|origin-when-cross-origin|unsafe-url)$/.test(policy)) return serialized;
  const downgrade = serialized.startsWith("https:") && chain[chain.length - 1]?.protocol !== "https:";
  return downgrade ? "null" : serialized;
}

// The fields of an origin's response that reach the phone.

/** About the connection to the origin or reports past the tunnel, and cookies, which stay in the edge's jar. */
const NOT_FOR_PHONES = new Set(["alt-svc", "nel", "report-to", "reporting-endpoints", "set-cookie", "set-cookie2"]);

function isDecoded(headers: Headers): boolean {
  return codingsOf(headers).length > 0;
}

/** Length of the body with its coding undone, in bytes; null where that is not known. */
export function decodedLength(headers: Headers): number | null {
  const field = headers.get("content-length");
  if (field === null || !/^\d{1,15}$/.test(field) || isDecoded(headers)) return null;
  return Number(field);
}

/** RFC 9110 section 15: what is above 599 counts as 500. Sites say 999 to whom they take for a robot, with a page. */
export function knownStatus(status: number): number {
  return status > 599 ? 500 : status;
}

export function endToEndFields(headers: Headers): HeaderField[] {
  const isHopByHop = hopByHopFilter(headers.get("connection"));
  const decoded = isDecoded(headers);
  const fields: HeaderField[] = [];
  for (const [name, value] of headers) {
    if (isHopByHop(name) || NOT_FOR_PHONES.has(name) || isStoreNote([name, value])) continue;
    // workerd also hands out names that are none, which browsers skip.
    if (!isFieldName(name)) continue;
    if (decoded && (name === "content-encoding" || name === "content-length")) continue;
    fields.push([name, toByteString(value)]);
  }
  return fields;
}

// A head that is too long for the link loses what only a script could miss.

/** Bytes and lines of a head's fields: the link's, less what the edge itself says of a response. */
const [ROOM, LINES] = [limits.headBytes - 4 * 1024, limits.headFields - 8];

/** Browsers act on these, or Ropeway does. All others are there for scripts at most. */
const ACTED_ON =
  /^(?:accept-|access-control-|age$|allow$|cache-control$|clear-|content-(?!security-policy-report-only$)|cross-origin-(?!.*-report-only$)|date$|document-|etag$|expires$|last-modified$|location$|no-vary|origin-agent|permissions-policy$|pragma$|referrer-policy$|refresh$|retry-after$|ropeway-|service-worker|sourcemap$|timing-allow|use-as|vary$|www-auth|x-content-type|x-frame|x-xss)/;

/** The longest of the others go first. Where that does not do, the link refuses the head. */
export function fittingFields(fields: readonly HeaderField[]): readonly HeaderField[] {
  const fits = (bytes: number, lines: number) => bytes <= ROOM && lines <= LINES;
  return withoutLongest(fields, { sizeOf: fieldSize, fits, mayGo: ([name]) => !ACTED_ON.test(name) });
}

/** Bytes that a field counts for (RFC 7541 section 4.1). */
export const fieldSize = ([name, value]: HeaderField): number => name.length + value.length + 32;

interface Fitting<Item> {
  readonly sizeOf: (item: Item) => number;
  readonly fits: (bytes: number, count: number) => boolean;
  readonly mayGo?: (item: Item) => boolean;
}

/** In their order; the longest of those that may go are left out until the rest fits. */
export function withoutLongest<Item>(
  items: readonly Item[],
  { sizeOf, fits, mayGo = () => true }: Fitting<Item>,
): readonly Item[] {
  const sized = items.map((item) => ({ item, size: sizeOf(item) }));
  let [bytes, count] = [sized.reduce((sum, { size }) => sum + size, 0), items.length];
  if (fits(bytes, count)) return items;
  const dropped = new Set<Item>();
  for (const { item, size } of sized.filter((each) => mayGo(each.item)).sort((a, b) => b.size - a.size)) {
    if (fits(bytes, count)) break;
    dropped.add(item);
    bytes -= size;
    count -= 1;
  }
  return items.filter((item) => !dropped.has(item));
}

// Fields that belong to one connection, or to the edge's own network, and never pass through it.

/** RFC 9110 section 7.6.1, with the fields of section 11.7 that are consumed by the next proxy. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Not about the edge's own network: Cloudflare's challenge scripts send and read the first two, sites' the last. */
const OF_CHALLENGES = /^cf-(?:chl|challenge|mitigated)(?:-|$)/;

/**
 * The names that do not pass, given the Connection field's value.
 * @param connection null where there is none
 */
export function hopByHopFilter(connection: string | null): (name: string) => boolean {
  const named = new Set(
    (connection ?? "")
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
  const isCloudflares = (name: string): boolean => name.startsWith("cf-") && !OF_CHALLENGES.test(name);
  return (name) => HOP_BY_HOP.has(name) || named.has(name) || isCloudflares(name) || name.startsWith("proxy-");
}

// Fields in which Chromium describes itself beside `User-Agent`, without being asked (User-Agent Client Hints section 3, low entropy).
// Sites hold one against the other, so it is read off that.

/** As in `navigator.userAgentData.platform`; Android's says Linux, too. */
const PLATFORMS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/Android/, "Android"],
  [/CrOS/, "Chrome OS"],
  [/Windows/, "Windows"],
  [/Macintosh/, "macOS"],
  [/Linux/, "Linux"],
];

/** Undefined for other engines. */
function chromiumVersion(userAgent: string): string | undefined {
  return /\bChrome\/(\d{1,5})\b/.exec(userAgent)?.[1];
}

/** None for other engines, which send none. */
export function clientHints(userAgent: string): HeaderField[] {
  const version = chromiumVersion(userAgent);
  if (version === undefined) return [];
  const [, edge] = /\bEdgA?\/(\d{1,5})\b/.exec(userAgent) ?? [];
  const brand = edge === undefined ? `"Google Chrome";v="${version}"` : `"Microsoft Edge";v="${edge}"`;
  const platform = PLATFORMS.find(([sign]) => sign.test(userAgent))?.[1] ?? "Unknown";
  return [
    ["sec-ch-ua", `"Chromium";v="${version}", ${brand}, "Not_A Brand";v="24"`],
    ["sec-ch-ua-mobile", /\bMobile\b/.test(userAgent) ? "?1" : "?0"],
    ["sec-ch-ua-platform", `"${platform}"`],
  ];
}
