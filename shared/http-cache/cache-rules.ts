/**
 * The rules of HTTP caches (RFC 9111). They are pure: they hold no bodies and no clock, so the phone's store and the edge's
 * cache share them. They speak for a private cache; `sharedView` makes them speak for a shared one.
 */
import { ErrorCode, type RopewayError } from "../errors.ts";
import { type CacheMode, type HeaderList, isSafe, type RequestHead, type ResponseHead } from "../http/heads.ts";
import { CLEARED_ORIGINS, HIDDEN_AGE } from "../http/phone-fields.ts";
import { isSameOrigin, parseUrl } from "../web/origin.ts";

/** Facts that decide about a request. */
export type CacheRequest = Pick<
  RequestHead,
  "method" | "url" | "headers" | "destination" | "mode" | "origin" | "referrer"
> & {
  readonly cacheMode: CacheMode;
  /** Its origin gets `Save-Data: on`, as the session says of all requests. */
  readonly savesData?: boolean;
  /** `Accept-Language`, as the session says it of all requests that do not say it themselves; "" for none. */
  readonly acceptLanguage?: string;
};

export type Answer = Pick<ResponseHead, "status" | "reason" | "headers">;

/** When a request was sent and its response's head came: milliseconds since the epoch, by the clock of who stores. */
export interface ExchangeTimes {
  readonly requestTime: number;
  readonly responseTime: number;
}

/** A response as a cache keeps it, beside its whole body. Plain data; a store adds fields of its own. */
export interface StoredResponse extends Answer, ExchangeTimes {
  readonly selecting: SelectingFields;
}

/** Values of the request's fields that the response's `Vary` names, in its order; null where it lacked one. */
type SelectingFields = readonly (readonly [name: string, value: string | null])[];

// The fate of a request, given the responses stored for its URL: RFC 9111 section 4, RFC 5861, RFC 8246.

export type Decision<S> =
  /** Nobody is asked. */
  | { readonly kind: "answer"; readonly stored: S }
  /** The page gets what is stored; the request goes out beside, with these fields added. */
  | { readonly kind: "answer-and-validate"; readonly stored: S; readonly fields: HeaderList }
  /** The request goes out with these fields added: conditions, where the origin gave anything to make one of. */
  | { readonly kind: "validate"; readonly stored: S; readonly fields: HeaderList }
  /** Nothing that is stored is of use. */
  | { readonly kind: "fetch"; readonly fields: HeaderList }
  /** Nothing is stored, and nobody may be asked: a network error. */
  | { readonly kind: "unavailable" };

type Staleness = "fresh" | "usable" | "stale";

/**
 * @param variants all that is stored for the URL, of the request's partition.
 * @param now milliseconds since the epoch.
 */
export function decide<S extends StoredResponse>(
  request: CacheRequest,
  variants: readonly S[],
  now: number,
): Decision<S> {
  const mode = cacheModeOf(request);
  const added = cacheModeFields(request);
  const isLookedUp =
    (request.method === "GET" || request.method === "HEAD") && mode !== "no-store" && mode !== "reload";
  const stored = isLookedUp ? selectVariant(request, variants) : null;
  if (stored === null) return mode === "only-if-cached" ? { kind: "unavailable" } : { kind: "fetch", fields: added };
  if (mode === "force-cache" || mode === "only-if-cached") return { kind: "answer", stored };
  const staleness = stalenessFor(request, stored, now);
  const isAsked = mode === "no-cache" && !cacheControl(stored.headers).has("immutable");
  if (staleness === "fresh" && !isAsked) return { kind: "answer", stored };
  // Its answer is the page's as it is; freshenByHead learns from it.
  if (request.method === "HEAD") return { kind: "fetch", fields: added };
  const fields = [...conditions(stored.headers), ...added];
  return { kind: staleness === "usable" && mode === "default" ? "answer-and-validate" : "validate", stored, fields };
}

function stalenessFor(request: CacheRequest, stored: StoredResponse, now: number): Staleness {
  const asked = cacheControl(request.headers);
  if (variesUnknowably(stored) || asked.has("no-cache") || isPragmaNoCache(request.headers)) return "stale";
  const age = currentAge(stored, now);
  const left = freshnessLifetime(stored) - age;
  if (age > (secondsOf(asked, "max-age") ?? Number.POSITIVE_INFINITY)) return "stale";
  if (left > 0 && left >= (secondsOf(asked, "min-fresh") ?? 0)) return "fresh";
  if (left > 0) return "stale";
  if (asked.has("max-stale") && mayAnswerStale(stored) && -left <= toleratedStaleness(asked.get("max-stale")))
    return "fresh";
  return -left < staleGrace(stored, "stale-while-revalidate") ? "usable" : "stale";
}

/** Without a value any (RFC 9111 section 5.2.1.2). */
function toleratedStaleness(value: string | null | undefined): number {
  return value === null ? Number.MAX_VALUE : Number(value);
}

function conditions(headers: HeaderList): HeaderList {
  const etag = fieldValue(headers, "etag");
  const modified = fieldValue(headers, "last-modified");
  return [
    ...(etag === null ? [] : ([["if-none-match", etag]] as const)),
    ...(modified === null ? [] : ([["if-modified-since", modified]] as const)),
  ];
}

// Whether a response may be stored: RFC 9111 section 3.

/** Statuses whose caching RFC 9110 section 15 defines, as `must-understand` asks for. */
const UNDERSTOOD_STATUSES = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501]);

/**
 * @param response with its whole body; the parts of one: `partOf`.
 * @returns what to store under the request's URL for GET, or null where it may not be stored or nobody could use it.
 */
export function toStored(request: CacheRequest, response: Answer, times: ExchangeTimes): StoredResponse | null {
  const { status, headers } = response;
  if (cacheModeOf(request) === "no-store" || cacheControl(request.headers).has("no-store")) return null;
  if (status < 200 || status === 206 || status === 304 || forbidsStoring(response)) return null;
  if (!answersGet(request, response) || !isCacheable(response)) return null;
  const selecting = selectingFields(request, headers);
  const line = response.reason === undefined ? { status } : { status, reason: response.reason };
  return selecting === null ? null : { ...line, headers, ...times, selecting };
}

/** `must-understand` takes the place of a `no-store` that is beside it for caches that do not know it. */
function forbidsStoring({ status, headers }: Answer): boolean {
  const directives = cacheControl(headers);
  return directives.has("must-understand") ? !UNDERSTOOD_STATUSES.has(status) : directives.has("no-store");
}

/**
 * Whether the response would answer a GET, too. That to a POST does if it names its own URL as its location (RFC 9110
 * section 9.3.3).
 */
function answersGet({ method, url }: CacheRequest, { status, headers }: Answer): boolean {
  if (method !== "POST") return method === "GET";
  const location = fieldValue(headers, "content-location");
  const directives = cacheControl(headers);
  const isExplicit = directives.has("max-age") || fieldValue(headers, "expires") !== null;
  return status === 200 && isExplicit && location !== null && resolved(location, url) === url;
}

function resolved(location: string, base: string): string | null {
  return URL.canParse(location, base) ? new URL(location, base).href : null;
}

// A stored response after its origin's answer: RFC 9111 sections 3.2, 4.3.3 to 4.3.5.

type Validation =
  /** The stored response holds, with this for its head. */
  | { readonly kind: "not-modified"; readonly stored: StoredResponse }
  /** The origin's failure is hidden by what is stored (RFC 5861 section 4). */
  | { readonly kind: "stale-if-error" }
  /** The answer goes to the page, and takes the place of what is stored where it may. */
  | { readonly kind: "replaced" };

/**
 * They say what the stored bytes are, and a 304 is about the same bytes. It often names its server's default type (PHP's is
 * HTML), or the tag of another coding (Apache's "-gzip"): browsers keep theirs too.
 */
const KEPT = new Set(["content-encoding", "content-length", "content-md5", "content-range", "content-type", "etag"]);
/** The stored head loses these fields where the update lacks them. */
const OF_ONE_MESSAGE = new Set(["date", "age", HIDDEN_AGE]);
const ERROR_STATUSES = new Set([500, 502, 503, 504]);
/** Errors that a gateway answers with 502 or 504. A certificate that does not hold is not among them: the person has to see that. */
const UNREACHED: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.NAME_NOT_RESOLVED,
  ErrorCode.CONNECTION_REFUSED,
  ErrorCode.CONNECTION_RESET,
  ErrorCode.UPSTREAM_TIMEOUT,
  ErrorCode.UPSTREAM_FAILED,
  ErrorCode.EDGE_OFFLINE,
]);

export function judgeValidation(
  stored: StoredResponse,
  request: CacheRequest,
  answer: Answer,
  times: ExchangeTimes,
): Validation {
  if (answer.status === 304) return { kind: "not-modified", stored: freshened(stored, request, answer.headers, times) };
  const isHidden = ERROR_STATUSES.has(answer.status) && mayHideFailure(stored, times.responseTime);
  return { kind: isHidden ? "stale-if-error" : "replaced" };
}

/** Whether what is stored hides that its origin could not be asked (RFC 5861 section 4). @param now milliseconds. */
export function hidesError(stored: StoredResponse, { code }: RopewayError, now: number): boolean {
  return UNREACHED.has(code) && mayHideFailure(stored, now);
}

function mayHideFailure(stored: StoredResponse, now: number): boolean {
  const grace = staleGrace(stored, "stale-if-error");
  // A response that is still fresh was asked about since its page wanted to know.
  return grace > 0 && currentAge(stored, now) - freshnessLifetime(stored) < grace;
}

/** @returns the new head after a HEAD, "outdated" where the body is no longer that one, null where it does not say. */
export function freshenByHead(
  stored: StoredResponse,
  request: CacheRequest,
  answer: Answer,
  times: ExchangeTimes,
): StoredResponse | "outdated" | null {
  if (answer.status !== 200 || stored.status !== 200) return null;
  const isSame = (name: string) => {
    const [ours, theirs] = [fieldValue(stored.headers, name), fieldValue(answer.headers, name)];
    // The length of a body that the edge has decoded is not told.
    if (theirs === null || (ours === null && name === "content-length")) return true;
    return ours === theirs || (name === "etag" && ours !== null && isSameTag(ours, theirs));
  };
  if (!["etag", "last-modified", "content-length"].every(isSame)) return "outdated";
  return freshened(stored, request, answer.headers, times);
}

function freshened(
  stored: StoredResponse,
  request: CacheRequest,
  update: HeaderList,
  { requestTime, responseTime }: ExchangeTimes,
): StoredResponse {
  const taken = update.filter(([name]) => !KEPT.has(name));
  const names = new Set([...OF_ONE_MESSAGE, ...taken.map(([name]) => name)]);
  const headers = [...stored.headers.filter(([name]) => !names.has(name)), ...taken];
  const selecting = selectingFields(request, headers) ?? stored.selecting;
  return { ...stored, headers, selecting, requestTime, responseTime };
}

// The choice among several responses stored for a URL: `Vary`, RFC 9111 section 4.1.

/** The jar is at the edge: here nobody knows whether a response that varies by cookies still fits. */
const UNKNOWN = "cookie";

/** @returns null for `*`, which no request matches. */
export function selectingFields(request: CacheRequest, headers: HeaderList): SelectingFields | null {
  const names = listMembers(fieldValue(headers, "vary") ?? "").map((name) => name.toLowerCase());
  if (names.includes("*")) return null;
  return [...new Set(names)].filter((name) => name !== UNKNOWN).map((name) => [name, selectingValue(request, name)]);
}

/** The newest that fits, or null. */
export function selectVariant<S extends StoredResponse>(request: CacheRequest, variants: readonly S[]): S | null {
  const fitting = variants.filter(({ selecting }) =>
    selecting.every(([name, value]) => selectingValue(request, name) === value),
  );
  const newest = fitting.sort((a, b) => originTime(b) - originTime(a) || b.responseTime - a.responseTime);
  return newest[0] ?? null;
}

/** Whether only the origin can tell if a response fits the request. */
export function variesUnknowably({ headers }: Pick<StoredResponse, "headers">): boolean {
  return listMembers(fieldValue(headers, "vary") ?? "").some((name) => name.toLowerCase() === UNKNOWN);
}

/** Whether any request that fits one fits the other: of these a store keeps the newer. */
export function isSameVariant(a: StoredResponse, b: StoredResponse): boolean {
  return JSON.stringify(a.selecting) === JSON.stringify(b.selecting);
}

/** As the origin gets it, in a form that does not tell lines and spaces apart; null where it gets none. */
function selectingValue(request: CacheRequest, name: string): string | null {
  const ofFetch = fetchMetadata(request, name);
  const value = ofFetch === undefined ? fieldValue(request.headers, name) : ofFetch;
  if (value === null) return null;
  const normal = listMembers(value).join(",");
  return name === "accept-language" ? normal.toLowerCase() : normal;
}

/** Fields that the edge makes from others, or from what the session says: a request's head does not have them. */
function fetchMetadata(request: CacheRequest, name: string): string | null | undefined {
  if (name === "origin") return request.mode === "cors" ? request.origin : null;
  if (name === "referer") return request.referrer;
  if (name === "sec-fetch-dest") return request.destination;
  if (name === "sec-fetch-mode") return request.mode;
  if (name === "sec-fetch-site") return request.origin;
  if (name === "save-data" && request.savesData === true) return "on";
  if (name === "accept-language" && request.acceptLanguage)
    return fieldValue(request.headers, name) ?? request.acceptLanguage;
  return undefined;
}

// How old a stored response is and how long it is fresh: RFC 9111 section 4.2. All in seconds.

/** Statuses whose responses may be fresh though no field says so (RFC 9110 section 15.1). */
const HEURISTIC_STATUSES = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);
/**
 * Part of the time since its last change that such a response stays fresh: as RFC 9111 section 4.2.2 suggests, and
 * browsers do.
 */
const HEURISTIC_SHARE = 0.1;

type Dated = Answer & ExchangeTimes;

/** Milliseconds since the epoch when the origin made it. */
function originTime({ headers, responseTime }: Pick<Dated, "headers" | "responseTime">): number {
  return dateField(headers, "date") ?? responseTime;
}

/** RFC 9111 section 4.2.3. Never negative; no number of seconds too large where the clock was set back since. */
export function currentAge(stored: Dated, now: number): number {
  const { requestTime, responseTime } = stored;
  if (now < responseTime) return Number.POSITIVE_INFINITY;
  const apparentAge = Math.max(0, responseTime - originTime(stored));
  const responseDelay = Math.max(0, responseTime - requestTime);
  return (Math.max(apparentAge, ageField(stored.headers) * 1000 + responseDelay) + now - responseTime) / 1000;
}

/** The stored fields as they go out again without having been validated: RFC 9111 section 5.1. */
export function headersWithAge(stored: StoredResponse, now: number): HeaderList {
  const age = currentAge(stored, now);
  if (!Number.isFinite(age)) return stored.headers;
  return [...stored.headers.filter(([name]) => name !== "age"), ["age", String(Math.floor(age))]];
}

/** Zero where it has to be validated always. */
export function freshnessLifetime(stored: Dated): number {
  const { status, headers } = stored;
  const directives = cacheControl(headers);
  if (directives.has("no-cache") || isPragmaNoCache(headers)) return 0;
  const made = originTime(stored);
  const maxAge = secondsOf(directives, "max-age");
  if (maxAge !== null) return maxAge;
  if (fieldValue(headers, "expires") !== null)
    return Math.max(0, ((dateField(headers, "expires") ?? made) - made) / 1000);
  const modified = dateField(headers, "last-modified");
  const mayGuess = (HEURISTIC_STATUSES.has(status) || directives.has("public")) && !directives.has("must-revalidate");
  return mayGuess && modified !== null ? (Math.max(0, made - modified) / 1000) * HEURISTIC_SHARE : 0;
}

/** Whether nothing says for how long it is fresh: RFC 9111 section 4.2.2. */
export function isLifetimeGuessed({ headers }: Pick<StoredResponse, "headers">): boolean {
  return secondsOf(cacheControl(headers), "max-age") === null && fieldValue(headers, "expires") === null;
}

/** Whether a stored response may be shown stale without being asked for: RFC 9111 section 4.2.4. */
export function mayAnswerStale({ headers }: Pick<StoredResponse, "headers">): boolean {
  const directives = cacheControl(headers);
  return !["no-cache", "must-revalidate"].some((name) => directives.has(name));
}

/** For how long after its lifetime an extension (RFC 5861) lets it be used. */
export function staleGrace(
  stored: Pick<StoredResponse, "headers">,
  name: "stale-while-revalidate" | "stale-if-error",
): number {
  return mayAnswerStale(stored) ? (secondsOf(cacheControl(stored.headers), name) ?? 0) : 0;
}

/**
 * Whether a status and its fields let a response be stored without anything else: RFC 9111 section 3. A refusal would stand
 * in the way of the name and the password that the next request has.
 */
function isCacheable({ status, headers }: Answer): boolean {
  if (status === 401 || status === 407) return false;
  const directives = cacheControl(headers);
  const isExplicit = ["public", "private", "max-age"].some((name) => directives.has(name));
  return isExplicit || fieldValue(headers, "expires") !== null || HEURISTIC_STATUSES.has(status);
}

/** Whether the older form of `Cache-Control: no-cache` is there, and no newer one. */
function isPragmaNoCache(headers: HeaderList): boolean {
  if (fieldValue(headers, "cache-control") !== null) return false;
  return listMembers(fieldValue(headers, "pragma") ?? "").some((member) => member.toLowerCase() === "no-cache");
}

/** In a list the first member; what is no number says nothing (RFC 9111 section 5.1). */
function ageField(headers: HeaderList): number {
  const [first = ""] = listMembers(fieldValue(headers, "age") ?? fieldValue(headers, HIDDEN_AGE) ?? "");
  return /^\d+$/.test(first) ? Number(first) : 0;
}

// What an exchange makes of all that is stored: RFC 9111 section 4.4, and Clear Site Data.

/** URLs without fragment. What is stored for them is dropped, in the partition of who asked. */
export function invalidatedUrls(
  { method, url }: Pick<RequestHead, "method" | "url">,
  { status, headers }: Pick<ResponseHead, "status" | "headers">,
): string[] {
  if (isSafe(method) || status < 200 || status >= 400) return [];
  const named = ["location", "content-location"]
    .map((name) => parseUrl(fieldValue(headers, name) ?? "", url))
    .filter((location) => location !== null && isSameOrigin(location.href, url))
    .map((location) => withoutFragment((location as URL).href));
  return [...new Set([withoutFragment(url), ...named])];
}

/** Whether a response's `Clear-Site-Data` names data of this type (https://w3c.github.io/webappsec-clear-site-data). */
export function clears(type: "cache" | "cookies", { headers, url }: Pick<ResponseHead, "headers" | "url">): boolean {
  if (!url.startsWith("https:")) return false;
  const named = listMembers(fieldValue(headers, "clear-site-data") ?? "");
  return named.includes(`"${type}"`) || named.includes('"*"');
}

/** Origins whose cache a response empties, and the redirects that the edge followed to it. */
export function clearedOrigins(response: Pick<ResponseHead, "headers" | "url">): string[] {
  const own = clears("cache", response) ? [new URL(response.url).origin] : [];
  return [...own, ...(fieldValue(response.headers, CLEARED_ORIGINS)?.split(" ") ?? [])];
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] as string;
}

// The rules here speak for a private cache. What a response says to shared caches alone (RFC 9111 section 5.2.2) is told
// to them in a private cache's words.

/** Fields that are not stored: they are about one person's cookies. */
const OF_ONE_PERSON = ["set-cookie", "set-cookie2", "clear-site-data"];

/**
 * The response as a private cache has to read it. `s-maxage` becomes its lifetime; after that, and by
 * `proxy-revalidate`, the origin must be asked.
 */
export function sharedView<A extends Answer>(response: A): A {
  const directives = cacheControl(response.headers);
  const lifetime = secondsOf(directives, "s-maxage");
  const said = [
    ...(lifetime === null ? [] : [`max-age=${lifetime}`]),
    ...(lifetime !== null || directives.has("proxy-revalidate") ? ["must-revalidate"] : []),
  ];
  if (said.length === 0) return response;
  const others = response.headers.filter(([name]) => name !== "cache-control");
  // Of several directives of a name the first holds.
  const control = [...said, fieldValue(response.headers, "cache-control") ?? ""].join(", ");
  return { ...response, headers: [...others, ["cache-control", control]] };
}

/**
 * Whether a shared cache may store the response to a request without credentials, and may use it at least once unasked.
 *
 * @returns what to store, with the fields as they came, or null. Failures of servers are not stored.
 */
export function toShared(request: CacheRequest, response: Answer, times: ExchangeTimes): StoredResponse | null {
  const { status, headers } = response;
  const isPersonal =
    cacheControl(headers).has("private") || OF_ONE_PERSON.some((name) => fieldValue(headers, name) !== null);
  if (isPersonal || status >= 500) return null;
  const view = sharedView(response);
  const stored = toStored(request, view, times);
  if (stored === null || variesUnknowably(stored)) return null;
  const isOfUse = freshnessLifetime(stored) + staleGrace(stored, "stale-while-revalidate") > 0;
  return isOfUse ? { ...stored, headers } : null;
}

// Parts of a body: RFC 9111 sections 3.3 and 3.4. None is stored by itself.

/** Some bytes of a body, `last` inclusive. Those of one tag and total are of one body. */
export interface BodyPart {
  readonly first: number;
  readonly last: number;
  readonly total: number;
  /** Strong: whoever sends other bytes sends another one. */
  readonly tag: string;
}

/**
 * A 206 that has the whole body, as the 200 that it stands for: media elements ask for all bytes from the first on. Any
 * other response is given back as it is.
 *
 * @param part of the response, as `partOf` has it: then the head of the 200 that the part is of.
 */
export function asWhole<A extends Answer>(response: A, part: BodyPart | null = null): A | Omit<A, "reason"> {
  const range = part ?? rangeOf(response);
  if (range === null || (part === null && !isWhole(range))) return response;
  const { reason: _, ...whole } = response;
  const others = response.headers.filter(([name]) => name !== "content-range" && name !== "content-length");
  return { ...whole, status: 200, headers: [...others, ["content-length", String(range.total)]] };
}

/** The part that a 206 has; null where it may not be joined with others, and where it is the whole. */
export function partOf(response: Answer): BodyPart | null {
  const { headers } = response;
  const range = rangeOf(response);
  const tag = fieldValue(headers, "etag") ?? "";
  const isPlain = tag.startsWith('"') && fieldValue(headers, "content-encoding") === null;
  if (range === null || isWhole(range) || !isPlain) return null;
  const { first, last, total } = range;
  const isSound = first <= last && last < total && Number(fieldValue(headers, "content-length")) === last - first + 1;
  return isSound ? { ...range, tag } : null;
}

type Range = Omit<BodyPart, "tag">;

function rangeOf({ status, headers }: Answer): Range | null {
  const match = /^bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(fieldValue(headers, "content-range") ?? "");
  if (status !== 206 || match === null) return null;
  return { first: Number(match[1]), last: Number(match[2]), total: Number(match[3]) };
}

function isWhole({ first, last, total }: Range): boolean {
  return first === 0 && last === total - 1;
}

// Parts of a whole stored body: RFC 9110 section 14.

type RangedAnswer =
  /** No part is asked for, or not one that has to be given. */
  | { readonly kind: "whole" }
  /** 206 with these bytes, `last` inclusive. */
  | { readonly kind: "part"; readonly headers: HeaderList; readonly first: number; readonly last: number }
  /** 416, without a body. */
  | { readonly kind: "unsatisfiable"; readonly headers: HeaderList };

/** @param length of the stored body in bytes, as the page gets it. */
export function answerRange(
  request: Pick<RequestHead, "method" | "headers">,
  stored: Pick<StoredResponse, "status" | "headers">,
  length: number,
): RangedAnswer {
  const asked = askedRange(fieldValue(request.headers, "range"), length);
  if (asked === null || request.method !== "GET" || stored.status !== 200) return { kind: "whole" };
  if (!holdsIfRange(fieldValue(request.headers, "if-range"), stored.headers)) return { kind: "whole" };
  if (asked === "unsatisfiable") return { kind: asked, headers: withRange(stored.headers, `bytes */${length}`, 0) };
  const { first, last } = asked;
  const headers = withRange(stored.headers, `bytes ${first}-${last}/${length}`, last - first + 1);
  return { kind: "part", headers, first, last };
}

/** @returns null for what may be ignored: other units, several ranges, what is no range. */
function askedRange(
  range: string | null,
  length: number,
): { readonly first: number; readonly last: number } | "unsatisfiable" | null {
  const [, from, to] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range ?? "") ?? [];
  if (from === undefined || to === undefined || from + to === "") return null;
  if (from === "") {
    const count = Math.min(Number(to), length);
    return count === 0 ? "unsatisfiable" : { first: length - count, last: length - 1 };
  }
  if (to !== "" && Number(to) < Number(from)) return null;
  if (Number(from) >= length) return "unsatisfiable";
  return { first: Number(from), last: to === "" ? length - 1 : Math.min(Number(to), length - 1) };
}

/** RFC 9110 section 13.1.5: a strong entity tag, or the very date. */
function holdsIfRange(ifRange: string | null, headers: HeaderList): boolean {
  if (ifRange === null) return true;
  const value = ifRange.trim();
  if (value.startsWith('"')) return value === fieldValue(headers, "etag");
  const date = dateField([["if-range", value]], "if-range");
  return date !== null && date === dateField(headers, "last-modified");
}

function withRange(headers: HeaderList, contentRange: string, length: number): HeaderList {
  const others = headers.filter(([name]) => name !== "content-range" && name !== "content-length");
  return [...others, ["content-range", contentRange], ["content-length", String(length)]];
}

// Cache modes as the Fetch standard has them: HTTP-network-or-cache fetch, section 4.6.

/** Where a page sets a condition itself, the answer is for the page alone. A store can answer `If-Range` beside a range. */
export function cacheModeOf({ cacheMode, headers }: CacheRequest): CacheMode {
  const isForPage = (name: string) => name !== "if-range" || fieldValue(headers, "range") === null;
  const isConditional = headers.some(([name]) => name.startsWith("if-") && isForPage(name));
  // Chromium shows a service worker "no-cache" where the script has set a condition, and no mode.
  return isConditional && (cacheMode === "default" || cacheMode === "no-cache") ? "no-store" : cacheMode;
}

/** Fields that the mode adds to the request where the page did not set them. */
export function cacheModeFields(request: CacheRequest): HeaderList {
  const mode = request.cacheMode === "no-cache" ? "no-cache" : cacheModeOf(request);
  const lacks = (name: string) => request.headers.every(([each]) => each !== name);
  if (mode === "no-cache") return lacks("cache-control") ? [["cache-control", "max-age=0"]] : [];
  if (mode !== "no-store" && mode !== "reload") return [];
  const fields: HeaderList = [
    ["pragma", "no-cache"],
    ["cache-control", "no-cache"],
  ];
  return fields.filter(([name]) => lacks(name));
}

// Fields of heads.

/** Values by lower-case name, without quotes; null for a directive without one. Of several the first holds. */
type Directives = ReadonlyMap<string, string | null>;

/** `Cache-Control` (RFC 9111 section 5.2), of requests and responses. */
export function cacheControl(headers: HeaderList): Directives {
  const directives = new Map<string, string | null>();
  for (const member of listMembers(fieldValue(headers, "cache-control") ?? "")) {
    const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(member) ?? [];
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, value === undefined ? null : unquoted(value));
  }
  return directives;
}

/** In seconds: null where the directive is missing, 0 where its value is invalid (RFC 9111 section 4.2.1). */
export function secondsOf(directives: Directives, name: string): number | null {
  const value = directives.get(name);
  if (value === undefined) return null;
  return /^\d+$/.test(value ?? "") ? Number(value) : 0;
}

function unquoted(value: string): string {
  const [, quoted] = /^"(.*)"$/s.exec(value) ?? [];
  return quoted === undefined ? value : quoted.replace(/\\(.)/gs, "$1");
}

/** All lines of a field as one value (RFC 9110 section 5.3), or null. */
export function fieldValue(headers: HeaderList, name: string): string | null {
  const lines = headers.filter(([each]) => each === name).map(([, value]) => value);
  return lines.length === 0 ? null : lines.join(", ");
}

/** Members of a list, without the empty ones; commas in quoted strings do not part them (RFC 9110 section 5.6.1). */
function listMembers(value: string): string[] {
  const members = value.match(/(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
  return members.map((member) => member.trim()).filter((member) => member !== "");
}

/** Milliseconds since the epoch, or null where the field is missing or no date. */
function dateField(headers: HeaderList, name: string): number | null {
  const value = fieldValue(headers, name);
  return value === null ? null : parseHttpDate(value);
}

/** Whether two entity tags are the same but for the mark of a weak one (RFC 9110 section 8.8.3.2). */
function isSameTag(a: string, b: string): boolean {
  return a.replace(/^W\//, "") === b.replace(/^W\//, "");
}

// Dates of fields: RFC 9110 section 5.6.7. What is none makes a response stale, so nothing else is taken for one.

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const FORMATS = [
  /^[a-z]{3}, (?<day>\d\d) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/i,
  /^[a-z]{6,9}, (?<day>\d\d)-(?<month>[a-z]{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/i,
  /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/i,
];

/** Milliseconds since the epoch, or null. Years of two digits are those from 1970 to 2069. */
export function parseHttpDate(text: string): number | null {
  const parts = FORMATS.map((format) => format.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { day = "", month = "", year = "", time = "" } = parts;
  const monthNumber = String(MONTHS.indexOf(month.toLowerCase()) + 1).padStart(2, "0");
  const fullYear = year.length === 4 ? year : `${Number(year) < 70 ? "20" : "19"}${year}`;
  const date = Date.parse(`${fullYear}-${monthNumber}-${day.replace(" ", "0")}T${time}Z`);
  // The 31st of February is the 3rd of March to engines.
  return Number.isNaN(date) || new Date(date).getUTCDate() !== Number(day) ? null : date;
}
