/** What the phone is told of a response (Fetch section 2.2.6, filtered responses). */
import type { HeaderField, RequestHead } from "../../../shared/http/heads.ts";
import { HIDDEN_AGE, SHARED_CACHE } from "../../../shared/http/phone-fields.ts";
import { currentAge } from "../../../shared/http-cache/cache-rules.ts";
import { hasNullBody, isSameOrigin } from "../../../shared/web/origin.ts";
import { isBase, isUsable, opaqueFields, opaqueStatus } from "../opaque/opaque-head.ts";
import { endToEndFields, knownStatus } from "../send/response-fields.ts";
import { isFromCache } from "../shared-cache/shared-cache.ts";
import { exposedFields, type Tainting } from "./cors.ts";
import { isRedirect, locationOf } from "./redirects.ts";
import { hiddenValidator } from "./store-condition.ts";

export interface ShownResponse {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly hasBody: boolean;
  /** Whether the page may know where redirects led. */
  readonly showsUrl: boolean;
}

export interface LastHop {
  readonly method: string;
  readonly tainting: Tainting;
  /** It is not the first. */
  readonly isRedirected: boolean;
  /** The store has it, and its origin says that it holds. */
  readonly isHeld: boolean;
  /** Milliseconds since the epoch when it came. */
  readonly now: number;
}

type AskedHead = Pick<RequestHead, "method" | "url" | "origin" | "destination" | "credentials">;

export function shownResponse(response: Response, head: AskedHead, hop: LastHop): ShownResponse {
  const shown = filtered(response, head, hop);
  return isFromCache(response) ? { ...shown, headers: [...shown.headers, [SHARED_CACHE, "hit"]] } : shown;
}

function filtered(
  response: Response,
  head: AskedHead,
  { method, tainting, isRedirected, isHeld, now }: LastHop,
): ShownResponse {
  const { headers } = response;
  const status = knownStatus(response.status);
  const fields = endToEndFields(headers);
  const hasBody = response.body !== null && !hasNullBody(method, status);
  if (tainting === "basic") return { status, headers: fields, hasBody, showsUrl: true };
  if (tainting === "cors") {
    // One that was not followed: where it leads is for nobody to know.
    if (isRedirect(status, locationOf(headers))) return { status, headers: [], hasBody: false, showsUrl: true };
    const exposed = exposedFields(fields, headers.get("access-control-expose-headers"), head);
    const validator = isRedirected ? [] : hiddenValidator(status, fields, exposed);
    const notes = [...hiddenAge(fields, exposed, now), ...validator];
    return { status, headers: [...exposed, ...notes], hasBody, showsUrl: true };
  }
  if (!isUsable(head)) {
    // A page knows anyway that its own origin's URL led elsewhere. Of another origin's it may not know that.
    const isOwn = isSameOrigin(head.origin, head.url);
    return { status: 200, headers: isOwn ? withoutCaching([]) : [], hasBody: false, showsUrl: false };
  }
  const showsUrl = isBase(head.destination);
  const shown = opaqueFields(fields, head.destination);
  if (isHeld) return { status, headers: shown, hasBody: false, showsUrl };
  const validator = isRedirected ? [] : hiddenValidator(status, fields, shown);
  return {
    status: opaqueStatus(status),
    headers: isRedirected && !showsUrl ? withoutCaching(shown) : [...shown, ...validator],
    hasBody: hasBody && status !== 416,
    showsUrl,
  };
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
