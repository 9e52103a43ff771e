/**
 * Which bodies may share a compression context (PROTOCOL.md section 5.3): those of one origin that the same document may
 * read, asked for with the same credentials. So the length of one tells nobody more about another than they can read.
 */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { cacheControl } from "../../../shared/http-cache/cache-rules.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import { siteOf } from "../../upstream/site.ts";

/** Of a request: its bodies may be dictionaries of each other's. Null where there may be none. */
export function dictionaryPlace(head: RequestHead): string | null {
  const { method, mode, url, origin, topLevelOrigin, credentials, headers, delivery } = head;
  if (method !== "GET" || delivery?.continuation != null || !/^https?:/.test(url)) return null;
  if (headers.some(([name]) => name === "authorization" || name === "range")) return null;
  const target = new URL(url).origin;
  const isOwn = isSameOrigin(origin, url);
  if (mode === "navigate") {
    // Cookies with SameSite go with the one and not with the other.
    return JSON.stringify([topLevelOrigin, target, mode, origin === null || isOwn ? "own" : origin]);
  }
  if (isOwn) return JSON.stringify([topLevelOrigin, target, "own", credentials]);
  // What a page cannot read it must not measure either, and what is read with cookies the phone does not store.
  if (mode !== "cors" || credentials === "include") return null;
  return JSON.stringify([topLevelOrigin, target, mode, origin, credentials]);
}

/** Whose pages are at such a place. */
export function placeSite(place: string): string {
  const [topLevelOrigin] = JSON.parse(place) as [string];
  return siteOf(topLevelOrigin) ?? topLevelOrigin;
}

/** Whether the body of the response may be one, or be coded against one. */
export function mayShareContext({ status, headers, redirected, continues }: ResponseHead): boolean {
  if (status !== 200 || redirected || continues === true) return false;
  return !cacheControl(headers).has("no-store") && headerValue(headers, "content-range") === null;
}
