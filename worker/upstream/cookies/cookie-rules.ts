/** Which requests of which pages send and store cookies (Fetch section 4.6, RFC 6265bis section 5.2). */
import type { RequestHead } from "../../../shared/http/heads.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import type { Tainting } from "../fetch-rules/cors.ts";
import { isSameSite } from "../fetch-rules/site.ts";
import type { SameSiteContext } from "./cookie.ts";
import { partitionOf } from "./cookie-jar.ts";

export interface CookieAccess {
  readonly partition: string;
  /** False: neither sent nor stored. */
  readonly allowed: boolean;
  readonly context: SameSiteContext;
  /** Whether SameSite=Lax and Strict may be stored. */
  readonly takesSameSite: boolean;
}

type AskingPage = Pick<RequestHead, "mode" | "destination" | "credentials" | "origin" | "topLevelOrigin">;

/** A navigation of the page itself, not of a frame in it. */
function isTopLevelNavigation(head: Pick<RequestHead, "mode" | "destination">): boolean {
  return head.mode === "navigate" && head.destination === "document";
}

/**
 * The partition of one hop. The first hop's is what the tunnel stamped, whatever a page claims to be navigating; a
 * top-level navigation that is redirected takes the partition of the site it is led to.
 */
export function hopPartition(head: AskingPage, url: URL, isFirstHop: boolean): string {
  return partitionOf(isTopLevelNavigation(head) && !isFirstHop ? url.origin : head.topLevelOrigin);
}

export function cookieAccess(
  head: AskingPage,
  hop: { readonly url: URL; readonly method: string; readonly tainting: Tainting; readonly isFirstHop: boolean },
): CookieAccess {
  const { url, method } = hop;
  const isTopLevel = isTopLevelNavigation(head);
  // A navigation that the person started has no initiator, and counts as the site's own.
  const fromSameSite = head.origin === null ? head.mode === "navigate" : isSameSite(head.origin, url.origin);
  const belowSameSite = isTopLevel || isSameSite(head.topLevelOrigin, url.origin);
  const isSafe = method === "GET" || method === "HEAD";
  let context: SameSiteContext = "cross-site";
  if (fromSameSite && belowSameSite) context = "same-site";
  else if (isTopLevel) context = isSafe ? "lax" : "lax-unsafe";
  return {
    partition: hopPartition(head, url, hop.isFirstHop),
    allowed: allowsCredentials(head, url, hop.tainting),
    context,
    takesSameSite: isTopLevel || context === "same-site",
  };
}

function allowsCredentials(head: AskingPage, url: URL, tainting: Tainting): boolean {
  if (head.credentials === "omit") return false;
  if (head.mode === "navigate") return true;
  // The slot can read the bytes of no-cors responses, which a browser would keep from the page.
  if (head.mode === "no-cors" && !isSameSite(head.origin, url.origin)) return false;
  if (head.credentials === "include") return true;
  return tainting !== "cors" && isSameOrigin(head.origin, url.origin);
}
