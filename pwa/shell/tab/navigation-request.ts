/** Navigations as the shell asks the tunnel for them, and as pages ask the shell. */
import { ErrorCode } from "../../../shared/errors.ts";
import type { PageToShell, WindowOrder } from "../../messages/page-messages.ts";
import { formFields } from "../../messages/port-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { TabState } from "../app/state.ts";

/** Where a redirect leads: without a fragment of its own the one before holds (RFC 9110 section 10.2.2). */
export function withFragmentOf(from: string, url: string): string {
  const at = from.indexOf("#");
  return at < 0 || url.includes("#") ? url : url + from.slice(at);
}

/** The address as the URL standard writes it; null where it is none of a web page. A page can send anything. */
export function webAddress(url: unknown): string | null {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}

/** A page that is asked for by its address. @param initiator null where the person typed it, or chose it in the app. */
export function typedNavigation(url: string, initiator: string | null = null): NavigationRequest {
  return { url, method: "GET", headers: [], body: null, referrer: "", initiator };
}

export function withoutFragment(request: NavigationRequest): NavigationRequest {
  const url = new URL(request.url);
  url.hash = "";
  return { ...request, url: url.href };
}

/** Whether a frame with the document `shown` would take the URL for a part of it, and load nothing. */
export function isPartOf(url: string, shown: string): boolean {
  return url.includes("#") && url.split("#", 1)[0] === shown.split("#", 1)[0];
}

/**
 * Whether a frame that shows this state, be it a document or the notice of an error, would take the URL for a part of
 * what it has, and load nothing (HTML section 7.4.2.2, "navigate to a fragment"). Another part of a page is one.
 */
export function isShownAlready(url: string, { url: shown, error }: Pick<TabState, "url" | "error">): boolean {
  return isPartOf(url, shown) && (error !== null || url === shown);
}

/**
 * No site can have acted on a request that failed so, unless the tunnel says so by itself. After any other failure one
 * can, also where no connection came about: that may have been behind a redirect.
 */
const LEAVES_SITES_ALONE: ReadonlySet<number> = new Set([
  ErrorCode.REFUSED_STREAM,
  ErrorCode.LINK_LOST,
  ErrorCode.OFFLINE,
]);

/** Whether the site may have acted on a request that failed with this code. */
export function mayHaveActed({ method }: NavigationRequest, code: number): boolean {
  return method !== "GET" && !LEAVES_SITES_ALONE.has(code);
}

/** @param origin of the page that a redirect has led elsewhere, or that has sent another window there. */
export function movedNavigation(
  { url, referrer }: { readonly url: string; readonly referrer?: unknown },
  origin: string,
): NavigationRequest {
  return { ...typedNavigation(url, origin), referrer: ownReferrer(referrer, origin) };
}

/** @returns null: the window is not sent anywhere, or to no web page. */
export function windowNavigation(act: WindowOrder["act"], origin: string): NavigationRequest | null {
  const url = act.kind === "go" ? webAddress(act.url) : null;
  return url === null ? null : movedNavigation({ ...act, url }, origin);
}

/** A page can tell a URL of its own alone. */
function ownReferrer(referrer: unknown, origin: string): string {
  return typeof referrer === "string" && URL.parse(referrer)?.origin === origin ? referrer : "";
}

/**
 * The request, put together anew out of what a link or a form can say. The message may be any page's own work: another
 * method, a field more or another page's referrer would be a request across sites that no browser sends without asking
 * the other site first.
 *
 * @param url real, of any origin.
 * @param origin of the page that navigates.
 */
export function pageNavigation(
  message: PageToShell & { type: "navigate" },
  url: string,
  origin: string,
): NavigationRequest {
  const { method, headers, body, referrer, isUnasked }: Partial<Record<keyof typeof message, unknown>> = message;
  const isPost = method === "POST" && body instanceof ArrayBuffer;
  return {
    url,
    method: isPost ? "POST" : "GET",
    headers: isPost ? formFields(headers) : [],
    body: isPost ? body : null,
    referrer: ownReferrer(referrer, origin),
    initiator: origin,
    isUnasked: Boolean(isUnasked),
  };
}
