/**
 * Responses to which the edge was redirected. The phone does not know from where, nor for how long that holds. So they
 * are stored only for when the link is away, under contexts that no other request has. The URL that was asked for has
 * an entry without a body, which says where the response is.
 */
import type { RequestHead, ResponseHead } from "../../../../shared/http/heads.ts";
import { isRedirectStatus } from "../../../../shared/web/origin.ts";
import { isPage, isPageContext, partitionOf } from "./stored-exchange.ts";

const BY_REDIRECT = " by redirect";

/** Where a response is stored. */
export interface StoredPlace {
  readonly partition: string;
  readonly url: string;
  readonly context: string;
}

export function isMoved(head: RequestHead, { redirected, url }: Pick<ResponseHead, "redirected" | "url">): boolean {
  return redirected || url !== head.url;
}

/** @returns null for what is not to be stored. */
export function placeOf(
  { head, partition, context }: Pick<StoredPlace, "partition" | "context"> & { readonly head: RequestHead },
  response: Pick<ResponseHead, "redirected" | "url" | "status">,
): StoredPlace | null {
  if (isRedirectStatus(response.status)) return null;
  if (!isMoved(head, response)) return { partition, url: head.url, context };
  return { partition: partitionOf(movedHead(head, response.url)), url: response.url, context: context + BY_REDIRECT };
}

/** The request for where it led. A page is then of another site's own. */
export function movedHead<Head extends RequestHead>(head: Head, url: string): Head {
  return { ...head, url, topLevelOrigin: isPage(head) ? new URL(url).origin : head.topLevelOrigin };
}

/** Whether what is stored under a context is shown for a request while the link is away. */
export function fitsAway(head: RequestHead, context: string, stored: string): boolean {
  return isPage(head) ? isPageContext(stored) : stored === context || stored === context + BY_REDIRECT;
}
