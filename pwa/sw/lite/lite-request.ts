/** A request of a page without scripts, as the tunnel gets it. */
import type { CacheMode, CredentialsMode, Destination, RedirectMode, RequestMode } from "../../../shared/http/heads.ts";
import { isMixedContent } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import { realOf } from "../../messages/lite-address.ts";
import type { PortRequestHead } from "../../messages/port-messages.ts";
import { forwardedFields } from "../request/request-head.ts";

/**
 * What a subresource is really asked for by.
 *
 * @param page real URL of the document that asks.
 * @returns null for what no page has: files of the base host but those at places of the page's own origin. So an address
 * is never one site's and then another's, or the app's.
 */
export function realTarget(request: Pick<Request, "url">, base: string, page: string): string | null {
  const url = new URL(request.url);
  const { origin } = new URL(page);
  if (url.origin === base) {
    const real = realOf(url);
    return real !== null && new URL(real).origin === origin ? real : null;
  }
  if (isMixedContent(url, origin)) url.protocol = "https:";
  return url.href;
}

/** @param page real URL of the document that asks or is left, or null. @param target real. */
export function liteReferrer(
  { referrer, referrerPolicy }: Pick<Request, "referrer" | "referrerPolicy">,
  page: string | null,
  target: string,
): string {
  // The browser has cut it where it took the target for another origin.
  if (referrer === "" || page === null) return "";
  return applyReferrerPolicy(parseReferrerPolicy(referrerPolicy), page, target);
}

/** @param target real. @param page as of `liteReferrer`. */
export function liteHead(
  request: Request,
  target: string,
  page: string | null,
  bodyLength: number | null,
): PortRequestHead {
  const url = new URL(target);
  url.hash = "";
  const isNavigation = request.mode === "navigate";
  return {
    method: request.method,
    url: url.href,
    headers: forwardedFields(request, bodyLength),
    destination: isNavigation ? "document" : (request.destination as Destination),
    mode: request.mode as RequestMode,
    credentials: isNavigation ? "include" : (request.credentials as CredentialsMode),
    redirect: isNavigation ? "same-origin" : (request.redirect as RedirectMode),
    ...(request.cache === "default" ? {} : { cache: request.cache as CacheMode }),
    referrer: liteReferrer(request, page, url.href),
  };
}
