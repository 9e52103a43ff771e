/** What becomes of a request, given what is stored for its URL: RFC 9111 section 4, RFC 5861, RFC 8246. */
import type { HeaderList } from "../http/heads.ts";
import { cacheControl, secondsOf } from "./cache-control.ts";
import { cacheModeFields, cacheModeOf } from "./cache-mode.ts";
import { fieldValue } from "./fields.ts";
import { currentAge, freshnessLifetime, isPragmaNoCache, mayAnswerStale, staleGrace } from "./freshness.ts";
import type { CacheRequest, StoredResponse } from "./stored-response.ts";
import { selectVariant, variesUnknowably } from "./variants.ts";

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
