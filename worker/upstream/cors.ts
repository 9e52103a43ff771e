/** The parts of Fetch that keep a page from reading, or doing, what another origin did not agree to. */

import { BoundedMap } from "../../shared/bounded-map.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { isFieldName } from "../../shared/http/head-fields.ts";
import type { HeaderField, HeaderList, RequestHead } from "../../shared/http/heads.ts";
import { isSameOrigin } from "../../shared/web/origin.ts";

/** Response tainting (Fetch section 2.2.5). Once "cors", an exchange stays so through its redirects. */
export type Tainting = "basic" | "cors" | "opaque";

/** Fetch section 2.2.1, forbidden method. */
const FORBIDDEN_METHOD = /^(?:connect|trace|track)$/i;
const SAFELISTED_METHODS = new Set(["GET", "HEAD", "POST"]);
const SAFELISTED_TYPES = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);
const SAFELISTED_VALUE_BYTES = 128;
const SAFELISTED_TOTAL_BYTES = 1024;
/** Fetch section 2.2.2, CORS-unsafe request-header byte, without the control characters that no field has. */
const UNSAFE_BYTE = /["():<>?@[\\\]{}\u007f]/;

function isSafelistedMethod(method: string): boolean {
  return SAFELISTED_METHODS.has(method);
}

/**
 * How the response for `url` may be used (Fetch section 4.1 step 16).
 * @throws RopewayError CORS_DENIED where the mode does not allow the request at all
 */
export function responseTainting(
  head: Pick<RequestHead, "mode" | "origin" | "redirect">,
  method: string,
  url: URL,
  before: Tainting,
): Tainting {
  if (FORBIDDEN_METHOD.test(method)) throw denied(url, `pages may not use the method ${method}`);
  if ((head.mode === "no-cors" || head.mode === "navigate") && !isSafelistedMethod(method)) {
    throw denied(url, `the method ${method} needs the mode cors`);
  }
  if (head.mode === "navigate") return "basic";
  if (before === "basic" && isSameOrigin(head.origin, url.origin)) return "basic";
  if (head.mode === "same-origin") throw denied(url, "it is another origin and the mode is same-origin");
  if (head.mode !== "no-cors") return "cors";
  if (head.redirect !== "follow") throw denied(url, "it is another origin, whose redirects the page may not see");
  return "opaque";
}

/** Conditions that a cache adds: of the phone's store, for what it has of the URL. */
const CACHE_CONDITIONS = ["if-none-match", "if-modified-since"];

/** Fields that the cache mode of the request sets. */
const CACHE_MODE_FIELDS = ["cache-control", "pragma"];

/** Fields of the page that a request of this mode may carry (Fetch section 5.1, guard "request-no-cors"). */
export function allowedFields(
  { mode, origin, url }: Pick<RequestHead, "mode" | "origin" | "url">,
  fields: HeaderList,
): HeaderList {
  if (mode !== "no-cors" && mode !== "navigate") return fields;
  const isBasic = mode === "navigate" || isSameOrigin(origin, url);
  // Browsers themselves add these: media elements range, reloads the last two; the phone, what the person has told a server.
  const byPhone = isBasic ? [...CACHE_CONDITIONS, "authorization"] : [];
  const byBrowser = ["range", "if-range", ...CACHE_MODE_FIELDS, ...byPhone];
  return fields.filter(([name, value]) => byBrowser.includes(name) || (name !== "range" && isSafelisted(name, value)));
}

/**
 * Fields that go on with a redirect: conditions are about the URL that they were made for. A script may have set what the
 * phone's store adds; the store adds to requests of the page's own origin only, and another origin hears nothing of it.
 *
 * @param leavesOwn the redirect leads out of the page's own origin.
 */
export function redirectedFields(
  { mode }: Pick<RequestHead, "mode">,
  fields: HeaderList,
  leavesOwn: boolean,
): HeaderList {
  const isByScript = mode !== "no-cors" && mode !== "navigate";
  if (isByScript && !leavesOwn) return fields;
  const dropped = isByScript ? [...CACHE_CONDITIONS, ...CACHE_MODE_FIELDS] : CACHE_CONDITIONS;
  return fields.filter(([name]) => !dropped.includes(name));
}

/** CORS-safelisted request-header (Fetch section 2.2.2). */
function isSafelisted(name: string, value: string): boolean {
  if (value.length > SAFELISTED_VALUE_BYTES) return false;
  switch (name) {
    case "accept":
      return !UNSAFE_BYTE.test(value);
    case "accept-language":
    case "content-language":
      return /^[0-9A-Za-z *,\-.;=]*$/.test(value);
    case "content-type":
      return !UNSAFE_BYTE.test(value) && SAFELISTED_TYPES.has(value.split(";", 1)[0]?.trim().toLowerCase() ?? "");
    case "range":
      return /^bytes=\d+-\d*$/.test(value);
    default:
      return false;
  }
}

/** Set by browsers in every mode, and visible to service workers; no page's choice, so no reason for a preflight. */
const SET_BY_BROWSER = new Set(["dnt", "purpose", "save-data"]);

/** CORS-unsafe request-header names (Fetch section 2.2.2), sorted, each once. */
export function unsafeFieldNames(fields: HeaderList): string[] {
  const unsafe = new Set<string>();
  const safelisted: string[] = [];
  let total = 0;
  // An event source connects again with the id that its server has sent. Browsers need no consent for that (HTML section 9.2.3).
  const isEventSource = fields.some(([name, value]) => name === "accept" && value === "text/event-stream");
  for (const [name, value] of fields) {
    if (SET_BY_BROWSER.has(name) || (isEventSource && name === "last-event-id")) continue;
    if (isSafelisted(name, value)) {
      safelisted.push(name);
      total += value.length;
    } else {
      unsafe.add(name);
    }
  }
  if (total > SAFELISTED_TOTAL_BYTES) for (const name of safelisted) unsafe.add(name);
  return [...unsafe].sort();
}

/**
 * CORS check (Fetch section 4.10).
 * @param origin the request's origin as serialized on the wire
 * @throws RopewayError CORS_DENIED
 */
export function checkCors(headers: Headers, url: URL, origin: string, withCredentials: boolean): void {
  const allowed = headers.get("access-control-allow-origin");
  if (allowed === null) throw denied(url, "it does not allow other origins");
  if (allowed === "*" && !withCredentials) return;
  if (allowed !== origin) throw denied(url, `it does not allow the origin ${origin}`);
  if (withCredentials && headers.get("access-control-allow-credentials") !== "true") {
    throw denied(url, "it does not allow credentials");
  }
}

/** CORS-safelisted response-header names (Fetch section 2.2.6). */
const SAFELISTED_RESPONSE_FIELDS = new Set([
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma",
]);

/** Responses that browsers use themselves, and that no script reads: media, fonts, images, scripts. */
const BROWSER_FIELDS = new Set(["accept-ranges", "content-disposition", "content-range", "x-content-type-options"]);

/** The fields of a CORS filtered response (Fetch section 2.2.6). */
export function exposedFields(
  fields: readonly HeaderField[],
  exposeHeaders: string | null,
  head: Pick<RequestHead, "destination" | "credentials">,
): HeaderField[] {
  const exposed = new Set(
    (exposeHeaders ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  const exposesAll = exposed.has("*") && head.credentials !== "include";
  return fields.filter(
    ([name]) =>
      exposesAll ||
      exposed.has(name) ||
      SAFELISTED_RESPONSE_FIELDS.has(name) ||
      (head.destination !== "" && BROWSER_FIELDS.has(name)),
  );
}

export function denied(url: URL, reason: string): RopewayError {
  return new RopewayError(ErrorCode.CORS_DENIED, "stream", "origin", `Cannot load from ${url.host}: ${reason}`);
}

// CORS preflights (Fetch section 4.9) and the memory of their results.

/** Milliseconds: longest Access-Control-Max-Age that is honoured; Chromium caps at two hours. */
export const PREFLIGHT_AGE = 7_200_000;

/** Preflight results kept in memory, oldest dropped first. */
export const PREFLIGHT_ENTRIES = 512;

export interface PreflightRequest {
  /** Site whose page asks; results are not shared between partitions. */
  readonly partition: string;
  readonly url: URL;
  /** The request's origin as serialized on the wire. */
  readonly origin: string;
  readonly method: string;
  /** Lower-case, sorted, each once. */
  readonly unsafeNames: readonly string[];
  readonly withCredentials: boolean;
}

/** True if Fetch wants a preflight before a cross-origin request in mode cors. */
export function needsPreflight(method: string, unsafeNames: readonly string[]): boolean {
  return !isSafelistedMethod(method) || unsafeNames.length > 0;
}

/** Fields of a preflight beside those of every request. */
export function preflightFields(request: PreflightRequest): Record<string, string> {
  const names = request.unsafeNames.join(",");
  return {
    accept: "*/*",
    "access-control-request-method": request.method,
    ...(names === "" ? {} : { "access-control-request-headers": names }),
  };
}

/** Characters: a preflight for a longer address and fields is asked each time. */
const LONGEST_KEY = 16_384;

/** Bounded, in memory. An entry is good for exactly the method and the names that were asked for. */
export class PreflightCache {
  readonly #now: () => number;
  readonly #expiry = new BoundedMap<string, number>(PREFLIGHT_ENTRIES);

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  allows(request: PreflightRequest): boolean {
    const key = keyOf(request);
    const expiry = this.#expiry.get(key);
    if (expiry === undefined) return false;
    if (expiry > this.#now()) return true;
    this.#expiry.delete(key);
    return false;
  }

  /**
   * Judges the response to a preflight and remembers that it allowed the request.
   * @throws RopewayError CORS_DENIED
   */
  accept(request: PreflightRequest, response: Response): void {
    const { url, origin, method, unsafeNames, withCredentials } = request;
    const { headers } = response;
    checkCors(headers, url, origin, withCredentials);
    if (!response.ok) throw denied(url, `it answered the preflight with status ${response.status}`);

    const methods = tokensOf(headers, "access-control-allow-methods", url);
    const names = tokensOf(headers, "access-control-allow-headers", url, (name) => name.toLowerCase());
    const allowsAll = (list: ReadonlySet<string>) => !withCredentials && list.has("*");
    if (!isSafelistedMethod(method) && !methods.has(method) && !allowsAll(methods)) {
      throw denied(url, `it does not allow the method ${method}`);
    }
    for (const name of unsafeNames) {
      // Authorization is the one name that "*" does not stand for (CORS non-wildcard request-header name).
      if (!names.has(name) && (name === "authorization" || !allowsAll(names))) {
        throw denied(url, `it does not allow the field ${name}`);
      }
    }
    const key = keyOf(request);
    if (key.length > LONGEST_KEY) return;
    this.#expiry.set(key, this.#now() + maxAge(headers.get("access-control-max-age")));
  }
}

/** Milliseconds; Fetch's default is 5 s. */
function maxAge(field: string | null): number {
  const seconds = field !== null && /^\d{1,9}$/.test(field.trim()) ? Number(field) : 5;
  return Math.min(seconds * 1000, PREFLIGHT_AGE);
}

/** Fetch section 4.9 step 7.4: a member that is no token spoils the list, and with it the answer. Empty members do not. */
function tokensOf(headers: Headers, field: string, url: URL, normalized = (name: string) => name): Set<string> {
  const items = (headers.get(field) ?? "").split(",").map((item) => normalized(item.trim()));
  const members = items.filter((item) => item !== "");
  if (members.every((member) => isFieldName(member.toLowerCase()))) return new Set(members);
  throw denied(url, `its ${field} is no list of names`);
}

function keyOf({ partition, url, origin, method, unsafeNames, withCredentials }: PreflightRequest): string {
  return [partition, origin, url.href, withCredentials, method, unsafeNames.join(",")].join("\n");
}
