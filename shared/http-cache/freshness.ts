/** How old a stored response is and how long it is fresh: RFC 9111 section 4.2. All in seconds. */
import type { HeaderList } from "../http/heads.ts";
import { HIDDEN_AGE } from "../http/store-notes.ts";
import { cacheControl, secondsOf } from "./cache-control.ts";
import { dateField, fieldValue, listMembers } from "./fields.ts";
import type { Answer, ExchangeTimes, StoredResponse } from "./stored-response.ts";

/** Statuses whose responses may be fresh though no field says so (RFC 9110 section 15.1). */
const HEURISTIC_STATUSES = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);
/**
 * Part of the time since its last change that such a response stays fresh: as RFC 9111 section 4.2.2 suggests, and
 * browsers do.
 */
const HEURISTIC_SHARE = 0.1;

type Dated = Answer & ExchangeTimes;

/** Milliseconds since the epoch when the origin made it. */
export function originTime({ headers, responseTime }: Pick<Dated, "headers" | "responseTime">): number {
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

/** Whether a status and its fields let a response be stored without anything else: RFC 9111 section 3. */
export function isCacheable({ status, headers }: Answer): boolean {
  const directives = cacheControl(headers);
  const isExplicit = ["public", "private", "max-age"].some((name) => directives.has(name));
  return isExplicit || fieldValue(headers, "expires") !== null || HEURISTIC_STATUSES.has(status);
}

/** Whether the older form of `Cache-Control: no-cache` is there, and no newer one. */
export function isPragmaNoCache(headers: HeaderList): boolean {
  if (fieldValue(headers, "cache-control") !== null) return false;
  return listMembers(fieldValue(headers, "pragma") ?? "").some((member) => member.toLowerCase() === "no-cache");
}

/** In a list the first member; what is no number says nothing (RFC 9111 section 5.1). */
function ageField(headers: HeaderList): number {
  const [first = ""] = listMembers(fieldValue(headers, "age") ?? fieldValue(headers, HIDDEN_AGE) ?? "");
  return /^\d+$/.test(first) ? Number(first) : 0;
}
