/** Whether a response may be stored: RFC 9111 section 3. */
import { cacheControl } from "./cache-control.ts";
import { cacheModeOf } from "./cache-mode.ts";
import { fieldValue } from "./fields.ts";
import { isCacheable } from "./freshness.ts";
import type { Answer, CacheRequest, ExchangeTimes, StoredResponse } from "./stored-response.ts";
import { selectingFields } from "./variants.ts";

/** Statuses whose caching RFC 9110 section 15 defines, as `must-understand` asks for. */
const UNDERSTOOD_STATUSES = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501]);

/**
 * @param response with its whole body; the parts of one: partial.ts.
 * @returns what to store under the request's URL for GET, or null where it may not be stored or nobody could use it.
 */
export function toStored(request: CacheRequest, response: Answer, times: ExchangeTimes): StoredResponse | null {
  const { status, headers } = response;
  if (cacheModeOf(request) === "no-store" || cacheControl(request.headers).has("no-store")) return null;
  if (status < 200 || status === 206 || status === 304 || forbidsStoring(response)) return null;
  if (!answersGet(request, response) || !isCacheable(response)) return null;
  const selecting = selectingFields(request, headers);
  return selecting === null ? null : { status, headers, ...times, selecting };
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
