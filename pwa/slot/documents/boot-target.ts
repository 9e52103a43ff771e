import { parseUrl } from "../../../shared/web/origin.ts";

/** The service worker of a top-level slot has a port, and only wants to know who frames the page that is asked for. */
export const TOP_LEVEL_QUERY = "?top&";

/** The history leads to the page that is asked for: on a host of a list, that may be another origin's by now. */
export const BACK_QUERY = "?back&";

/** Name of the window in which the boot page tells the next document that the history has led to it. */
export const BACK_NAME = "ropeway-back";

/**
 * Whether the history has led to this document, or to a page that the service worker, or the edge in its place where the
 * browser has dropped it, has sent on to here.
 */
export function isBackHere(): boolean {
  const [{ type } = { type: "" }] = performance.getEntriesByType("navigation") as { readonly type?: string }[];
  return type === "back_forward" || location.search.startsWith(BACK_QUERY);
}

/**
 * Where the boot page goes once the service worker is there: within the slot only. Null: nowhere. The shell names the
 * page in the fragment, which no server sees, as `#then=…`; a service worker without a port in the query, as `?then=…`,
 * and the fragment is then the one of the page that was asked for.
 */
export function bootTarget({ search, hash }: Pick<URL, "search" | "hash">, slotOrigin: string): string | null {
  const asked = new URLSearchParams(search).get("then");
  const then = asked === null ? new URLSearchParams(hash.slice(1)).get("then") : asked + hash;
  const target = then === null ? null : parseUrl(then, slotOrigin);
  return target?.origin === slotOrigin ? target.href : null;
}
