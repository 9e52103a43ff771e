/**
 * The rules here speak for a private cache. What a response says to shared caches alone (RFC 9111 section 5.2.2) is told
 * to them in a private cache's words.
 */
import { cacheControl, secondsOf } from "./cache-control.ts";
import { fieldValue } from "./fields.ts";
import { freshnessLifetime, staleGrace } from "./freshness.ts";
import { toStored } from "./storable.ts";
import type { Answer, CacheRequest, ExchangeTimes, StoredResponse } from "./stored-response.ts";
import { variesUnknowably } from "./variants.ts";

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
