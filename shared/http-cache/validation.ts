/** What an origin's answer makes of a stored response: RFC 9111 sections 3.2, 4.3.3 to 4.3.5. */
import { ErrorCode, type RopewayError } from "../errors.ts";
import type { HeaderList } from "../http/heads.ts";
import { HIDDEN_AGE } from "../http/store-notes.ts";
import { fieldValue, isSameTag } from "./fields.ts";
import { currentAge, freshnessLifetime, staleGrace } from "./freshness.ts";
import type { Answer, CacheRequest, ExchangeTimes, StoredResponse } from "./stored-response.ts";
import { selectingFields } from "./variants.ts";

export type Validation =
  /** What is stored holds, with this for its head. */
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
/** What is stored has none of them where the update has none. */
const OF_ONE_MESSAGE = new Set(["date", "age", HIDDEN_AGE]);
const ERROR_STATUSES = new Set([500, 502, 503, 504]);
/** What a gateway answers with 502 or 504. A certificate that does not hold is not among them: the person has to see that. */
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
  // What is still fresh was asked about since its page wanted to know.
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
