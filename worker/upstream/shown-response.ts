/** Parts of a response that the phone is told (Fetch section 2.2.6, filtered responses). */
import { headerValue, headerValues, reasonOf } from "../../shared/http/head-fields.ts";
import type { Destination, HeaderField, HeaderList, RequestHead } from "../../shared/http/heads.ts";
import { HIDDEN_AGE, HIDDEN_ETAG, HIDDEN_LAST_MODIFIED, SHARED_CACHE } from "../../shared/http/phone-fields.ts";
import { currentAge } from "../../shared/http-cache/cache-rules.ts";
import { hasNullBody, isPotentiallyTrustworthy, isSameOrigin } from "../../shared/web/origin.ts";
import { exposedFields, type Tainting } from "./cors.ts";
import { endToEndFields, fittingFields, knownStatus } from "./fields.ts";
import { isRedirect, locationOf } from "./redirects.ts";
import { wasStored } from "./send.ts";

interface ShownResponse {
  readonly status: number;
  readonly reason?: string;
  readonly headers: readonly HeaderField[];
  readonly hasBody: boolean;
  /** Whether the page may know where redirects led. */
  readonly showsUrl: boolean;
}

interface LastHop {
  readonly method: string;
  readonly tainting: Tainting;
  readonly url: URL;
  /** The hop is not the first. */
  readonly isRedirected: boolean;
  /** Its origin says that the phone's stored response is still good. */
  readonly isStillGood: boolean;
  /** Milliseconds since the epoch when it came. */
  readonly now: number;
}

type AskedHead = Pick<RequestHead, "mode" | "method" | "url" | "origin" | "destination" | "credentials">;

export function shownResponse(response: Response, head: AskedHead, hop: LastHop): ShownResponse {
  const shown = filtered(response, head, hop);
  const headers = fittingFields(shown.headers);
  return { ...shown, headers: wasStored(response) ? [...headers, [SHARED_CACHE, "hit"]] : headers };
}

function filtered(
  response: Response,
  head: AskedHead,
  { method, tainting, url, isRedirected, isStillGood, now }: LastHop,
): ShownResponse {
  const { headers } = response;
  const status = knownStatus(response.status);
  const fields = endToEndFields(headers);
  const hasBody = response.body !== null && !hasNullBody(method, status);
  const line = { status, ...reasonOf({ status, statusText: response.statusText }) };
  if (tainting === "basic") {
    const shown = head.mode === "navigate" ? withIsolation(fields, url) : fields.filter((field) => !leadsToData(field));
    return { ...line, headers: shown, hasBody, showsUrl: true };
  }
  if (tainting === "cors") {
    // A redirect that was not followed: its goal is for nobody to know.
    if (isRedirect(status, locationOf(headers))) return { status, headers: [], hasBody: false, showsUrl: true };
    const exposed = exposedFields(fields, headers.get("access-control-expose-headers"), head);
    const validator = isRedirected ? [] : hiddenValidator(status, fields, exposed);
    const notes = [...hiddenAge(fields, exposed, now), ...validator];
    return { ...line, headers: [...exposed, ...notes], hasBody, showsUrl: true };
  }
  if (!isUsable(head)) {
    // A page knows anyway that its own origin's URL led elsewhere. Of another origin's it may not know that.
    const isOwn = isSameOrigin(head.origin, head.url);
    const policy = fields.filter(isResourcePolicy);
    return { status: 200, headers: isOwn ? withoutCaching(policy) : policy, hasBody: false, showsUrl: false };
  }
  const showsUrl = isBase(head.destination);
  const shown = opaqueFields(fields, head.destination);
  if (isStillGood) return { status, headers: shown, hasBody: false, showsUrl };
  const validator = isRedirected ? [] : hiddenValidator(status, fields, shown);
  return {
    status: opaqueStatus(status),
    headers: isRedirected && !showsUrl ? withoutCaching(shown) : [...shown, ...validator],
    hasBody: hasBody && status !== 416,
    showsUrl,
  };
}

/** Chromium fails a script's request, though it follows no redirect, where a worker's answer is one to `data:`. */
function leadsToData([name, value]: HeaderField): boolean {
  return name === "location" && /^data:/i.test(value);
}

const ISOLATION = "document-isolation-policy";

/**
 * Isolates a document that asks for it (HTML section 7.1.4, cross-origin isolation). In the app's frame COOP and COEP do
 * nothing; `Document-Isolation-Policy` does the same for one document. The phone sees to it that isolated documents embed only what
 * allows it, or what came without credentials.
 */
function withIsolation(fields: readonly HeaderField[], url: URL): readonly HeaderField[] {
  const isSecure = isPotentiallyTrustworthy(url);
  if (!isSecure) return fields.filter(([name]) => name !== ISOLATION);
  const [opener = "", embedder = ""] = ["opener", "embedder"].map((of) =>
    headerValues(fields, `cross-origin-${of}-policy`).join(),
  );
  const [, kind] = /^(require-corp|credentialless) *(?:;|$)/.exec(embedder) ?? [];
  const asks = kind !== undefined && /^same-origin *(;|$)/.test(opener);
  return asks && headerValue(fields, ISOLATION) === null ? [...fields, [ISOLATION, `isolate-and-${kind}`]] : fields;
}

function hiddenAge(headers: readonly HeaderField[], exposed: readonly HeaderField[], now: number): HeaderField[] {
  if (exposed.some(([name]) => name === "age")) return [];
  const age = Math.floor(currentAge({ status: 200, headers, requestTime: now, responseTime: now }, now));
  return age > 0 ? [[HIDDEN_AGE, String(age)]] : [];
}

const CACHING_FIELDS = new Set(["age", "cache-control", "date", "expires", "vary"]);

/** Under the URL that was asked for nothing is to be stored: what the fields say is about another, which nobody is told. */
function withoutCaching(fields: readonly HeaderField[]): HeaderField[] {
  return [...fields.filter(([name]) => !CACHING_FIELDS.has(name)), ["cache-control", "no-store"]];
}

// Parts of an opaque response that a page is told (Fetch section 2.2.6): rendering and the browser's cache need them.

const FIELDS = new Set([
  "accept-ranges",
  "age",
  "cache-control",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "expires",
  "vary",
  "x-content-type-options",
]);

/** Fields that a document can use of another origin without its consent. */
const USABLE: ReadonlySet<Destination> = new Set<Destination>(["audio", "image", "script", "style", "video"]);

/** Whether a document does more with the response than to know that it came. Elements ask by GET. */
function isUsable({ method, destination }: Pick<RequestHead, "method" | "destination">): boolean {
  return method === "GET" && USABLE.has(destination);
}

/** Whether what it loads is relative to its own URL, which so has to be known. */
function isBase(destination: Destination): boolean {
  return destination === "script" || destination === "style";
}

/** @param destination style sheets say what the referrers are of what they load. */
function opaqueFields(fields: readonly HeaderField[], destination: Destination): HeaderField[] {
  const isTold = (name: string): boolean => FIELDS.has(name) || (name === "referrer-policy" && destination === "style");
  return fields.filter((field) => isTold(field[0]) || isResourcePolicy(field));
}

/** By which a response says that isolated documents may embed it. Browsers take another value for none. */
function isResourcePolicy([name, value]: HeaderField): boolean {
  return name === "cross-origin-resource-policy" && /^(?:same-origin|same-site|cross-origin)$/.test(value);
}

/**
 * A single status for all that browsers treat alike: media players tell ranges apart, all else only whether it went well.
 */
function opaqueStatus(status: number): number {
  if (status === 206 || status === 416) return status;
  return status >= 200 && status <= 299 ? 200 : 404;
}

// Conditions by which the phone's store asks whether it has what another origin would send (PROTOCOL.md section 5.7). They
// are no page's, so no preflight asks about them, and no page hears of them.

/** Fields by which a request asks for something else than the whole representation as it is now. */
const OWN_CONDITIONS = ["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"];

/**
 * @param headers to an origin; the condition is added.
 * @param isFirst no redirect led there: the condition is about the URL that was asked for.
 * @returns whether a 304 in answer is the store's.
 */
export function addStoreCondition(headers: Headers, head: RequestHead, tainting: Tainting, isFirst: boolean): boolean {
  const validator = head.stored?.validator;
  const isOfUse = validator !== undefined && isFirst && tainting !== "basic" && head.method === "GET";
  if (!isOfUse || OWN_CONDITIONS.some((name) => headers.has(name))) return false;
  headers.set(/^(?:W\/)?"/.test(validator) ? "if-none-match" : "if-modified-since", validator);
  return true;
}

/** A field that a 304 does not have is as it was when the whole response was let in. */
export function leavesCorsOut({ headers }: Response): boolean {
  return !headers.has("access-control-allow-origin");
}

/** The validator of a whole response that its page is not shown, for the store. */
function hiddenValidator(status: number, headers: HeaderList, shown: HeaderList): HeaderField[] {
  const find = (name: string) => headers.find((field) => field[0] === name)?.[1];
  const [etag, modified] = [find("etag"), find("last-modified")];
  if (status !== 200 || shown.some(([name]) => name === "etag")) return [];
  if (etag !== undefined) return [[HIDDEN_ETAG, etag]];
  const isShown = shown.some(([name]) => name === "last-modified");
  return modified === undefined || isShown ? [] : [[HIDDEN_LAST_MODIFIED, modified]];
}
