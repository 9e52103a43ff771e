/** What becomes of a navigation whose response is a redirect, or came by one. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import { isRedirectStatus } from "../../../shared/web/origin.ts";
import type { SlotExchange } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

/**
 * Whether the edge followed redirects within the origin: the browser must see the final URL, whose request then claims
 * the response. It would take a form's document for the form's answer, too, and send the form again to reload it.
 */
export function isRedirected({ head: asked, request }: SlotExchange, { head }: TunnelResponse): boolean {
  return head.url !== asked.url || (head.redirected && request.method !== "GET");
}

/** Where a response leads that is a redirect, else null. */
export function locationOf({ head }: TunnelResponse): string | null {
  return isRedirectStatus(head.status) ? headerValue(head.headers, "location") : null;
}

/**
 * The URL of another origin that a redirect leads to, or why it cannot be followed.
 *
 * @param hasBody of the request that it answers.
 * @param fragment of the URL that was asked for: it holds where the redirect names none.
 */
export function redirectTarget(
  { head }: TunnelResponse,
  location: string,
  hasBody: boolean,
  fragment: string,
): string | RopewayError {
  const target = URL.parse(location, head.url);
  if (target === null || (head.status >= 307 && hasBody)) {
    const reason = "Cannot follow the redirect: it leads to another site with the data of a form";
    return new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "origin", reason);
  }
  if (target.hash === "") target.hash = head.fragment ?? fragment;
  return target.href;
}
