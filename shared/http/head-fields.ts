/**
 * Heads as field lists: PROTOCOL.md section 5. Pseudo-fields as in RFC 9113 section 8.3, and three of ours that keep a
 * typical subresource request near 20 bytes: `:context` holds, as one value that repeats for all images of a page,
 * what the Fetch standard says about the request; `:referrer` the referrer; `:url` a response's final URL. What goes
 * without saying is left out: GET, the origin of who asks, the usual `accept`.
 */
import { LINK_CODINGS } from "../coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../errors.ts";
import type { EncodableField } from "../wire/frame.ts";
import {
  type CacheMode,
  type CredentialsMode,
  type Delivery,
  type Destination,
  type HeaderField,
  type HeaderList,
  REFERRER_POLICIES,
  type RedirectMode,
  type RequestHead,
  type RequestMode,
  type ResponseHead,
  type Resumption,
  type ScriptCookie,
} from "./heads.ts";
import {
  has,
  IMAGES,
  imageWishField,
  isTrackerField,
  KNOWN_URLS,
  knownUrlsField,
  MARK_READS,
  parseImageWish,
  parseKnownUrls,
  parseStoredBody,
  STORED_BODY,
  storedBodyField,
  TRACKERS_ALLOWED,
  withDefaultAccept,
  withoutDefaultAccept,
} from "./phone-fields.ts";

const DESTINATIONS: readonly Destination[] = [
  "",
  "audio",
  "audioworklet",
  "document",
  "embed",
  "font",
  "frame",
  "iframe",
  "image",
  "json",
  "manifest",
  "object",
  "paintworklet",
  "report",
  "script",
  "sharedworker",
  "style",
  "track",
  "video",
  "worker",
  "xslt",
];
const MODES: readonly RequestMode[] = ["navigate", "same-origin", "no-cors", "cors"];
const CREDENTIALS: readonly CredentialsMode[] = ["omit", "same-origin", "include"];
const REDIRECTS: readonly RedirectMode[] = ["follow", "error", "manual", "same-origin"];

const FIELD_NAME = /^[a-z0-9!#$%&'*+\-.^_`|~]+$/;
/** RFC 9110 section 5.5. */
const FORBIDDEN_IN_VALUE = /[\0\r\n]/;
/** Scheme, authority with `user:password@`, and the rest without a fragment. */
const SERIALIZED_URL = /^([^/]+):\/\/([^/]*)([^#]*)/;
type UrlParts = [string, string, string, string];
const SCHEME = /^[a-z][a-z0-9+\-.]*$/;
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const DEFAULT_METHOD = "GET";

/** Messages to the edge itself travel as requests with this scheme: PROTOCOL.md section 5.4. */
export const EDGE_SCHEME = "ropeway:";

/** URLs that a page is likely to ask for (PROTOCOL.md section 5.6). Edges that do not know it drop it, as `KNOWN_URLS`. */
export const LEARNED_REQUESTS = "sec-ropeway-learned";
/** How many pushes a page may have, likewise. */
const PUSHES = "sec-ropeway-pushes";
/** The cache mode where the request's own fields do not tell it: of another origin, and `no-store`. Likewise. */
const CACHE_MODE = "sec-ropeway-cache";
const CACHE_MODES = ["no-cache", "no-store", "reload"] as const satisfies readonly CacheMode[];
/** How redirects cut the referrer, likewise. */
const REFERRER_POLICY = "sec-ropeway-referrer-policy";
/** Says that a page runs no scripts, likewise. */
const NO_SCRIPTS = ["sec-ropeway-scripts", "none"] as const;
/** Says that the person has done nothing for a navigation, likewise. */
const UNASKED = ["sec-ropeway-user", "?0"] as const;
const OF_TUNNEL: ReadonlySet<string> = new Set([
  STORED_BODY,
  KNOWN_URLS,
  LEARNED_REQUESTS,
  PUSHES,
  CACHE_MODE,
  REFERRER_POLICY,
  NO_SCRIPTS[0],
  UNASKED[0],
  IMAGES,
  MARK_READS[0],
]);

export function requestToFields(head: RequestHead): EncodableField[] {
  // From the whole URL: `search` is the same for an empty query and none, which servers tell apart.
  const [, scheme, authority, path] = SERIALIZED_URL.exec(new URL(head.url).href) as string[] as UrlParts;
  const context = [
    head.destination || "-",
    head.mode,
    head.credentials,
    head.redirect,
    head.origin ?? "-",
    head.topLevelOrigin,
  ].join(" ");
  const fields: EncodableField[] = [];
  if (head.method !== DEFAULT_METHOD) fields.push([":method", head.method]);
  if (head.protocol !== undefined) fields.push([":protocol", head.protocol]);
  if (head.origin !== `${scheme}://${authority}`) {
    fields.push([":scheme", scheme], [":authority", authority]);
  }
  fields.push([":path", path], [":context", context]);
  if (head.referrer !== "") fields.push([":referrer", head.referrer]);
  if (head.delivery !== undefined) fields.push(...deliveryFields(head.delivery));
  // Names with a colon come first.
  if (head.referrer !== "" && head.referrerPolicy) fields.push([REFERRER_POLICY, head.referrerPolicy]);
  if (head.stored !== undefined) fields.push(storedBodyField(head.stored));
  if (head.known !== undefined) fields.push(knownUrlsField(head.known));
  if (head.learned !== undefined) fields.push([LEARNED_REQUESTS, head.learned, "without"]);
  if (head.images !== undefined) fields.push(imageWishField(head.images));
  if (head.allowsTrackers === true) fields.push(TRACKERS_ALLOWED);
  if (head.pushes !== undefined) fields.push([PUSHES, String(head.pushes), "without"]);
  const cacheMode = CACHE_MODES.find((mode) => mode === head.cache);
  const isSaid = cacheMode !== undefined && (cacheMode === "no-store" || head.origin !== `${scheme}://${authority}`);
  if (isSaid) fields.push([CACHE_MODE, cacheMode]);
  if (head.isUnasked === true) fields.push(UNASKED);
  if (head.isScriptless === true) fields.push(NO_SCRIPTS);
  if (head.marksReads === true) fields.push(MARK_READS);
  for (const field of withoutDefaultAccept(head.headers, head.destination)) {
    // The name would stand for another part of the head.
    if (!field[0].startsWith(":") && !isOfTunnel(field)) fields.push(field);
  }
  return fields;
}

/** @throws RopewayError PROTOCOL_ERROR of scope "stream" when the fields are not a valid request. */
export function fieldsToRequest(fields: HeaderList): RequestHead {
  const { pseudo, headers } = split(fields, [
    "method",
    "protocol",
    "scheme",
    "authority",
    "path",
    "context",
    "referrer",
    "request-id",
    "continue",
  ]);
  const method = pseudo.get("method") ?? DEFAULT_METHOD;
  if (!METHOD.test(method)) throw malformed("the method is not a token");
  const context = (pseudo.get("context") ?? "").split(" ");
  const [destination = "", mode = "", credentials = "", redirect = "", origin = "", topLevelOrigin = ""] = context;
  if (context.length !== 6) throw malformed("the context has not six parts");
  const base = pseudo.has("scheme") || pseudo.has("authority") ? null : tupleOrigin(origin);
  const scheme = base?.protocol.slice(0, -1) ?? pseudo.get("scheme") ?? "";
  const delivery = parseDelivery(pseudo);
  if (delivery === null) throw malformed("its delivery is not readable");
  const stored = parseStoredBody(headers);
  const known = parseKnownUrls(headers);
  const images = parseImageWish(headers);
  const knownDestination = oneOf(DESTINATIONS, destination === "-" ? "" : destination, "destination");
  const learned = headerValue(headers, LEARNED_REQUESTS);
  const pushes = headerValue(headers, PUSHES);
  const cache = CACHE_MODES.find((mode) => mode === headerValue(headers, CACHE_MODE));
  const referrerPolicy = REFERRER_POLICIES.find((policy) => policy === headerValue(headers, REFERRER_POLICY));
  return {
    method,
    ...parseProtocol(method, pseudo.get("protocol")),
    url: parseUrl(scheme, base?.host ?? pseudo.get("authority") ?? "", pseudo.get("path") ?? ""),
    headers: withDefaultAccept(
      headers.filter((field) => !isOfTunnel(field)),
      knownDestination,
    ),
    destination: knownDestination,
    mode: oneOf(MODES, mode, "mode"),
    credentials: oneOf(CREDENTIALS, credentials, "credentials mode"),
    redirect: oneOf(REDIRECTS, redirect, "redirect mode"),
    referrer: pseudo.get("referrer") ?? "",
    ...(referrerPolicy && { referrerPolicy }),
    origin: origin === "-" ? null : origin,
    topLevelOrigin,
    ...(delivery === undefined ? {} : { delivery }),
    ...(stored === undefined ? {} : { stored }),
    ...(known === undefined ? {} : { known }),
    ...(learned === null ? {} : { learned }),
    ...(images === undefined ? {} : { images }),
    ...(pushes !== null && /^\d{1,3}$/.test(pushes) ? { pushes: Number(pushes) } : {}),
    ...(cache === undefined ? {} : { cache }),
    ...flagsOf(headers),
  };
}

function flagsOf(headers: HeaderList): Partial<RequestHead> {
  return {
    ...(has(headers, TRACKERS_ALLOWED) ? { allowsTrackers: true } : {}),
    ...(has(headers, UNASKED) ? { isUnasked: true } : {}),
    ...(has(headers, NO_SCRIPTS) ? { isScriptless: true } : {}),
    ...(has(headers, MARK_READS) ? { marksReads: true } : {}),
  };
}

function parseProtocol(method: string, protocol: string | undefined): Pick<RequestHead, "protocol"> {
  if (protocol === undefined) return {};
  if (method !== "CONNECT" || protocol !== "websocket") throw malformed("the edge does not speak its protocol");
  return { protocol };
}

/** Neither a page's nor for an origin. */
function isOfTunnel(field: HeaderField): boolean {
  return OF_TUNNEL.has(field[0]) || isTrackerField(field);
}

/** Whether a field of this name may stand in a head on the link. */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name);
}

/** As responses name it and slots ask for it: a serialized URL without `user:password@`. */
export function withoutUserInfo(url: string): string {
  return url.replace(/^([^/]+\/\/)[^/]*@/, "$1");
}

/** Phrases that go without saying. */
const USUAL_REASONS: Readonly<Record<number, string>> = { 200: "OK", 206: "Partial Content", 304: "Not Modified" };

/** RFC 9112 section 4, and a bound: sites write short ones. */
const REASON = /^[\t\x20-\x7e\x80-\xff]{0,256}$/;

/** The reason phrase as heads have it. A phrase that is too long, or not legal, counts as none. */
export function reasonOf({ status, statusText }: Pick<Response, "status" | "statusText">): {
  readonly reason?: string;
} {
  const reason = REASON.test(statusText) ? statusText : "";
  return reason === (USUAL_REASONS[status] ?? "") ? {} : { reason };
}

export function statusTextOf({ status, reason }: Pick<ResponseHead, "status" | "reason">): string {
  return reason ?? USUAL_REASONS[status] ?? "";
}

export function responseToFields(head: ResponseHead): EncodableField[] {
  const fields: EncodableField[] = [[":status", String(head.status)]];
  if (head.reason !== undefined) fields.push([":reason", head.reason]);
  if (head.redirected) fields.push([":url", head.url + (head.fragment ?? "")]);
  if (head.coding !== "identity") fields.push([":coding", head.coding]);
  if (head.scriptCookies.length > 0) fields.push([":script-cookies", toAsciiJson(head.scriptCookies), "never"]);
  fields.push(...resumptionFields(head));
  if (head.isReference === true) fields.push([":reference", "1"]);
  for (const field of head.headers) fields.push(field);
  return fields;
}

/**
 * @param requestUrl what `url` is, but for `user:password@`, when the response was not redirected.
 * @throws RopewayError PROTOCOL_ERROR of scope "stream" when the fields are not a valid response.
 */
export function fieldsToResponse(fields: HeaderList, requestUrl: string): ResponseHead {
  const { pseudo, headers } = split(fields, [
    "status",
    "reason",
    "url",
    "coding",
    "script-cookies",
    "resume",
    "continues",
    "reference",
  ]);
  const status = pseudo.get("status") ?? "";
  if (!/^[2-5][0-9][0-9]$/.test(status)) throw malformed("the status is not final");
  const reason = pseudo.get("reason");
  if (reason !== undefined && !REASON.test(reason)) throw malformed("the reason phrase is none");
  const [url, ...afterHash] = pseudo.get("url")?.split("#") ?? [];
  if (url !== undefined && !URL.canParse(url)) throw malformed("the final URL cannot be parsed");
  const resumption = parseResumption(pseudo.get("resume"));
  if (resumption === null) throw malformed("its resumption is not readable");
  return {
    status: Number(status),
    ...(reason === undefined ? {} : { reason }),
    headers,
    url: url ?? withoutUserInfo(requestUrl),
    redirected: url !== undefined,
    ...(afterHash.length > 0 ? { fragment: `#${afterHash.join("#")}` } : {}),
    coding: oneOf(LINK_CODINGS, pseudo.get("coding") ?? "identity", "coding"),
    scriptCookies: parseScriptCookies(pseudo.get("script-cookies")),
    ...(resumption === undefined ? {} : { resumption }),
    ...(pseudo.has("continues") ? { continues: true } : {}),
    ...(pseudo.has("reference") ? { isReference: true } : {}),
  };
}

/** First value of a field by lower-case name, or null. */
export function headerValue(headers: HeaderList, name: string): string | null {
  return headers.find((field) => field[0] === name)?.[1] ?? null;
}

/** Bytes of the body; null where nobody says. */
export function contentLength(headers: HeaderList): number | null {
  const length = headerValue(headers, "content-length") ?? "";
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/** The values of all lines with this name. */
export function headerValues(headers: HeaderList, name: string): string[] {
  return headers.filter((field) => field[0] === name).map(([, value]) => value);
}

/** JSON in which every character beyond ASCII is escaped, since field values are byte strings. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A serialized origin of scheme and host as a URL, for requests that name neither. */
function tupleOrigin(origin: string): URL {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin) throw malformed("it names no host, and who asks has none");
  return url;
}

function parseUrl(scheme: string, authority: string, path: string): string {
  // Each part holds no delimiter of another, so that the URL's host is the authority's and nothing else.
  const hasHost = authority !== "" || `${scheme}:` === EDGE_SCHEME;
  const delimited = hasHost && !/[/?#\\]/.test(authority) && path.startsWith("/") && !path.includes("#");
  const url = delimited && SCHEME.test(scheme) ? URL.parse(`${scheme}://${authority}${path}`) : null;
  if (url === null) throw malformed("its parts are no URL without fragment");
  return url.href;
}

function parseScriptCookies(json: string | undefined): readonly ScriptCookie[] {
  if (json === undefined) return [];
  try {
    const cookies: unknown = JSON.parse(json);
    if (Array.isArray(cookies) && cookies.every(isScriptCookie)) return cookies;
  } catch {
    // Falls through to the one error for all malformed lists.
  }
  throw malformed("the script cookies are not a list of cookies");
}

function isScriptCookie(value: unknown): value is ScriptCookie {
  if (typeof value !== "object" || value === null) return false;
  const cookie = value as Record<string, unknown>;
  return (
    typeof cookie.name === "string" &&
    typeof cookie.value === "string" &&
    typeof cookie.domain === "string" &&
    typeof cookie.hostOnly === "boolean" &&
    typeof cookie.path === "string" &&
    typeof cookie.secure === "boolean" &&
    (cookie.expires === null || typeof cookie.expires === "number")
  );
}

function split(fields: HeaderList, known: readonly string[]): { pseudo: Map<string, string>; headers: HeaderField[] } {
  const pseudo = new Map<string, string>();
  const headers: HeaderField[] = [];
  for (const [name, value] of fields) {
    if (FORBIDDEN_IN_VALUE.test(value)) throw malformed("a field value has a line break or NUL");
    if (name.startsWith(":")) {
      const bare = name.slice(1);
      if (headers.length > 0 || pseudo.has(bare) || !known.includes(bare)) {
        throw malformed(`the pseudo-field ${name.slice(0, 32)} is repeated, late or unknown`);
      }
      pseudo.set(bare, value);
    } else {
      if (!isFieldName(name)) throw malformed("a field name is not a lower-case token");
      headers.push([name, value]);
    }
  }
  return { pseudo, headers };
}

function oneOf<T extends string>(known: readonly T[], value: string, what: string): T {
  const match = known.find((candidate) => candidate === value);
  if (match === undefined) throw malformed(`the ${what} is unknown`);
  return match;
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot read a head: ${reason}`);
}

// Fields by which tunnel and edge keep an exchange going when sessions are lost: PROTOCOL.md section 5.5.

const AGAIN = "again";
const REQUEST_ID = /^([A-Za-z0-9_-]{11,43})( again)?$/;
const CONTINUATION = /^(\d{1,15})-(\d{1,15})\/(\d{1,15}) (.{1,256})$/;
const RESUMPTION = /^(?:\*|(\d{1,15})-(\d{1,15})\/(\d{1,15})) (.{1,256})$/;

function deliveryFields({ id, isRepeat, continuation }: Delivery): EncodableField[] {
  const fields: EncodableField[] = [];
  if (id !== null) fields.push([":request-id", isRepeat ? `${id} ${AGAIN}` : id, "without"]);
  if (continuation !== null) {
    const { first, last, total, validator } = continuation;
    fields.push([":continue", `${first}-${last}/${total} ${validator}`, "without"]);
  }
  return fields;
}

/** @returns undefined when nothing is said, null when it is malformed. */
function parseDelivery(pseudo: ReadonlyMap<string, string>): Delivery | undefined | null {
  const [requestId, continuation] = [pseudo.get("request-id"), pseudo.get("continue")];
  if (requestId === undefined && continuation === undefined) return undefined;
  const named = requestId?.match(REQUEST_ID);
  const continued = continuation?.match(CONTINUATION);
  if (named === null || continued === null) return null;
  const range = continued === undefined ? null : toRange(continued);
  if (continued !== undefined && range === null) return null;
  return {
    id: named?.[1] ?? null,
    isRepeat: named?.[2] !== undefined,
    continuation: range && { ...range, validator: continued?.[4] ?? "" },
  };
}

function resumptionFields({ resumption, continues }: ResponseHead): EncodableField[] {
  const fields: EncodableField[] = [];
  if (resumption !== undefined) {
    const { range, validator } = resumption;
    const extent = range === null ? "*" : `${range.first}-${range.last}/${range.total}`;
    fields.push([":resume", `${extent} ${validator}`, "without"]);
  }
  if (continues === true) fields.push([":continues", "1"]);
  return fields;
}

/** @returns undefined when nothing is said, null when it is malformed. */
function parseResumption(value: string | undefined): Resumption | undefined | null {
  if (value === undefined) return undefined;
  const match = value.match(RESUMPTION);
  if (match === null) return null;
  const validator = match[4] ?? "";
  if (match[1] === undefined) return { range: null, validator };
  const range = toRange(match);
  return range && { range, validator };
}

function toRange(match: RegExpMatchArray): { first: number; last: number; total: number } | null {
  const [first, last, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return first <= last && last < total ? { first, last, total } : null;
}
