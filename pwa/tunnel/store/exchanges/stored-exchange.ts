/** The store's record of a response, and the conditions under which another request may have it. */
import type { HeaderList, RequestHead, ResponseHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import { has, parseImageNote, READS_MARKED } from "../../../../shared/http/phone-fields.ts";
import { type CacheRequest, decide, type StoredResponse } from "../../../../shared/http-cache/cache-rules.ts";
import { isRedirectStatus, isSameOrigin, parseUrl } from "../../../../shared/web/origin.ts";
import type { PhoneRequest } from "../../exchange/exchange.ts";
import type { PartitionIndex } from "../database/response-store.ts";
import type { StoredEntry } from "../database/store-database.ts";

export interface StoredExchange extends StoredResponse {
  /** As `contextOf` the request. */
  readonly context: string;
  /** Cookies that scripts could read when a document was stored: for when nobody can be asked for those of now. */
  readonly scriptCookies: readonly ScriptCookie[];
  /** The body that was stored before was named to the edge, and this is another: it may be another each time. */
  readonly wasOther?: boolean;
  /** The request for the document wanted no marks in its scripts (PROTOCOL.md section 5.12). Former releases do not say so. */
  readonly isUnmarked?: true;
  /** The response is under this URL, and here is none. */
  readonly movedTo?: string;
}

export type ExchangeEntry = StoredEntry<StoredExchange>;

/** Whether it is one of this release. */
export function isStoredExchange(value: unknown): value is StoredExchange {
  if (typeof value !== "object" || value === null) return false;
  const each: { readonly [Name in keyof StoredExchange]?: unknown } = value;
  const { status, reason = "", headers, requestTime, responseTime, selecting, context, scriptCookies } = each;
  const isEntirely =
    [status, requestTime, responseTime].every(Number.isFinite) &&
    [context, reason].every((text) => typeof text === "string");
  const isPair = (pair: unknown) => Array.isArray(pair) && typeof pair[0] === "string" && pair.length === 2;
  const arePairs = [headers, selecting].every((pairs) => Array.isArray(pairs) && pairs.every(isPair));
  const areValues = arePairs && (headers as HeaderList).every(([, field]) => typeof field === "string");
  return isEntirely && areValues && Array.isArray(scriptCookies);
}

/**
 * The documents that may know of a response: those of one origin below one top-level origin. Narrower than the sites that
 * browsers take: the other conditions name the origin anyway, and an origin needs no list of public suffixes.
 */
export function partitionOf({
  mode,
  origin,
  topLevelOrigin,
  url,
}: Pick<RequestHead, "mode" | "origin" | "topLevelOrigin" | "url">): string {
  return `${topLevelOrigin} ${(mode === "navigate" ? parseUrl(url)?.origin : origin) ?? "null"}`;
}

/**
 * The parts of a request that decide about its response beside URL and partition: by them the edge adds cookies, and takes
 * away fields that the page may not see. Null for a response that is not to be stored: the edge hides from the phone the
 * fields that it varies by.
 */
export function contextOf(head: RequestHead): string | null {
  const { mode, credentials, destination, origin, url } = head;
  if (mode === "navigate") {
    // Cookies with SameSite go with the one and not with the other.
    const isOwn = origin === null || isSameOrigin(origin, url);
    return `navigate ${destination} ${isOwn ? "own" : origin}`;
  }
  if (isSameOrigin(origin, url)) return credentials === "omit" ? "own omit" : "own";
  if (mode === "cors" && credentials === "include") return null;
  // A secret, which the fields that are kept below would show.
  if (head.headers.some(([name]) => name === "authorization")) return null;
  return JSON.stringify([mode, credentials, destination, head.headers.filter(([name]) => name !== "range")]);
}

/** A document of the tab's own frame. */
export function isPage({ mode, destination }: Pick<RequestHead, "mode" | "destination">): boolean {
  return mode === "navigate" && destination === "document";
}

/** Whether it may change what its own origin answers. */
export function isOwnWrite({ method, origin, url }: RequestHead): boolean {
  return method !== "GET" && method !== "HEAD" && isSameOrigin(origin, url);
}

/** @param context as `contextOf` gives it. */
export function isPageContext(context: string): boolean {
  return context.startsWith("navigate document ");
}

/** Whether the page may see a field that the store adds: of what CORS has filtered, only where its origin exposes all. */
export function mayShow(name: "age" | "content-range", head: RequestHead, headers: HeaderList): boolean {
  if (isBasic(head) || head.mode !== "cors") return true;
  // The range is for the browser's player, as the edge gives it.
  if (name === "content-range" && head.destination !== "") return true;
  return headers.some(([each, value]) => each === name || (each === "access-control-expose-headers" && value === "*"));
}

/** Whether the page sees all fields of the response, and may add to those of the request: no CORS is between them. */
export function isBasic({ mode, origin, url }: RequestHead): boolean {
  return mode === "navigate" || isSameOrigin(origin, url);
}

/** A stored response as the rules see it, and where it is. */
export interface Variant extends StoredExchange {
  readonly entry: ExchangeEntry;
}

/** All that is stored for a URL under a context, or under those that fit, without kept copies. */
export function variantsOf(
  index: PartitionIndex<StoredExchange>,
  head: RequestHead,
  context: string | ((stored: string) => boolean),
): Variant[] {
  const all = variantsIn(index.find(head.url), context);
  // While nobody can be asked, a smaller picture is better than none, and so is a page whose scripts see the slot.
  if (typeof context !== "string") return all;
  const isAsItIs = ({ headers }: Variant) => parseImageNote(headers) === null;
  const pictures = head.takesRecoded === true ? all : all.filter(isAsItIs);
  return wantsMarks(head) ? pictures.filter(({ isUnmarked }) => isUnmarked !== true) : pictures;
}

/** Whether the scripts that stand in the document will run, so that they are to be marked. */
function wantsMarks({ mode, marksReads }: Pick<RequestHead, "mode" | "marksReads">): boolean {
  return mode === "navigate" && marksReads === true;
}

/** The note for the answer to a request. A warmed page was asked for earlier, maybe by another wish: a field of its own says whether it has marks. */
export function marksOf({ head, push }: PhoneRequest, { headers }: ResponseHead): Pick<StoredExchange, "isUnmarked"> {
  const isAsWished = push === null || has(headers, READS_MARKED);
  const isMarked = head.mode !== "navigate" || (wantsMarks(head) && isAsWished);
  return isMarked ? {} : { isUnmarked: true };
}

/** Of these, those under a context, or under those that fit. */
export function variantsIn(
  entries: readonly ExchangeEntry[],
  context: string | ((stored: string) => boolean),
): Variant[] {
  return entries
    .filter(({ meta }) => (typeof context === "string" ? meta.context === context : context(meta.context)))
    .map((entry) => ({ ...entry.meta, entry }));
}

const BY_REDIRECT = " by redirect";

/** Where a response is stored. */
export interface StoredPlace {
  readonly partition: string;
  readonly url: string;
  readonly context: string;
}

/**
 * Responses to which the edge was redirected. The phone does not know from where, nor for how long that holds. So they
 * are stored only for when the link is away, under contexts that no other request has. The URL that was asked for has
 * an entry without a body, which says where the response is.
 */
export function isMoved(head: RequestHead, { redirected, url }: Pick<ResponseHead, "redirected" | "url">): boolean {
  return redirected || url !== head.url;
}

/** @returns null for what is not to be stored. */
export function placeOf(
  { head, partition, context }: Pick<StoredPlace, "partition" | "context"> & { readonly head: RequestHead },
  response: Pick<ResponseHead, "redirected" | "url" | "status">,
): StoredPlace | null {
  if (isRedirectStatus(response.status)) return null;
  if (!isMoved(head, response)) return { partition, url: head.url, context };
  return { partition: partitionOf(movedHead(head, response.url)), url: response.url, context: context + BY_REDIRECT };
}

/** The request for where it led. A page is then of another site's own. */
export function movedHead<Head extends RequestHead>(head: Head, url: string): Head {
  return { ...head, url, topLevelOrigin: isPage(head) ? new URL(url).origin : head.topLevelOrigin };
}

/** Whether what is stored under a context is shown for a request while the link is away. */
export function fitsAway(head: RequestHead, context: string, stored: string): boolean {
  return isPage(head) ? isPageContext(stored) : stored === context || stored === context + BY_REDIRECT;
}

/** The stored response that a request gets however old it is, unless it wants none that is stored. */
export function asStored<S extends StoredResponse>(head: CacheRequest, variants: readonly S[], now: number): S | null {
  const { cacheMode } = head;
  const mode = cacheMode === "default" || cacheMode === "no-cache" ? "force-cache" : cacheMode;
  const decision = decide({ ...head, cacheMode: mode }, variants, now);
  return decision.kind === "answer" ? decision.stored : null;
}
