/** HTTP-redirect fetch (Fetch section 4.4), as arithmetic on one hop. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { decodeByteString, isRedirectStatus } from "../../../shared/web/origin.ts";

/** Fetch section 4.4 step 5: a 21st redirect is a network error. */
export const MAX_REDIRECTS = 20;

/** Fields that describe a request's body and go with it (Fetch section 2.2.2, request-body-header names). */
export const BODY_FIELDS = new Set([
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
]);

export interface RedirectStep {
  /** Without fragment; credentials, if any, still in it. */
  readonly url: URL;
  /** With `#`; empty where the Location has none, so that the one before it holds (RFC 9110 section 10.2.2). */
  readonly fragment: string;
  readonly method: string;
  readonly keepsBody: boolean;
  readonly keepsAuthorization: boolean;
}

/** True for a status that leads elsewhere if a Location says where to; browsers show a response whose Location is empty. */
export function isRedirect(status: number, location: string | null): location is string {
  return location !== null && location !== "" && isRedirectStatus(status);
}

/** One out of the origin goes back as it is where the phone has to decide what may load there. */
export function mayFollow({ redirect }: Pick<RequestHead, "redirect">, from: URL, location: string): boolean {
  if (redirect === "manual") return false;
  return redirect !== "same-origin" || URL.parse(location, from)?.origin === from.origin;
}

/** The Location field, or null. `Headers` joins several: browsers take lines that all say the same as one. */
export function locationOf(headers: Headers): string | null {
  const field = headers.get("location");
  const [first, ...more] = field?.split(", ") ?? [];
  return first !== undefined && more.every((line) => line === first) ? first : field;
}

/**
 * Where a redirect leads.
 * @param count redirects followed before this one
 * @throws RopewayError UNSUPPORTED_SCHEME or TOO_MANY_REDIRECTS, of scope "stream"
 */
export function nextHop(
  from: { readonly url: URL; readonly method: string },
  status: number,
  location: string,
  count: number,
): RedirectStep {
  // Many servers send raw UTF-8, and browsers read it as that.
  const target = decodeByteString(location);
  if (!URL.canParse(target, from.url)) throw notFollowed(from.url, "its target is no URL");
  const url = new URL(target, from.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw notFollowed(from.url, `it leads to a ${url.protocol} address`, ErrorCode.UNSUPPORTED_SCHEME);
  }
  if (count >= MAX_REDIRECTS) {
    throw notFollowed(from.url, `there were ${MAX_REDIRECTS} before it`);
  }
  const fragment = url.hash;
  url.hash = "";
  const becomesGet =
    ((status === 301 || status === 302) && from.method === "POST") ||
    (status === 303 && from.method !== "GET" && from.method !== "HEAD");
  return {
    url,
    fragment,
    method: becomesGet ? "GET" : from.method,
    keepsBody: !becomesGet,
    keepsAuthorization: url.origin === from.url.origin,
  };
}

export function notFollowed(from: URL, reason: string, code: ErrorCode = ErrorCode.TOO_MANY_REDIRECTS): RopewayError {
  return new RopewayError(code, "stream", "origin", `Cannot follow the redirect of ${from.host}: ${reason}`);
}
