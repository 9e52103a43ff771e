/** What an exchange makes of all that is stored: RFC 9111 section 4.4, and Clear Site Data. */
import type { RequestHead, ResponseHead } from "../http/heads.ts";
import { isSafe } from "../http/methods.ts";
import { CLEARED_ORIGINS } from "../http/store-notes.ts";
import { isSameOrigin, parseUrl } from "../web/origin.ts";
import { fieldValue, listMembers } from "./fields.ts";

/** URLs without fragment. What is stored for them is dropped, in the partition of who asked. */
export function invalidatedUrls(
  { method, url }: Pick<RequestHead, "method" | "url">,
  { status, headers }: Pick<ResponseHead, "status" | "headers">,
): string[] {
  if (isSafe(method) || status < 200 || status >= 400) return [];
  const named = ["location", "content-location"]
    .map((name) => parseUrl(fieldValue(headers, name) ?? "", url))
    .filter((location) => location !== null && isSameOrigin(location.href, url))
    .map((location) => withoutFragment((location as URL).href));
  return [...new Set([withoutFragment(url), ...named])];
}

/** Whether a response's `Clear-Site-Data` names data of this type (https://w3c.github.io/webappsec-clear-site-data). */
export function clears(type: "cache" | "cookies", { headers, url }: Pick<ResponseHead, "headers" | "url">): boolean {
  if (!url.startsWith("https:")) return false;
  const named = listMembers(fieldValue(headers, "clear-site-data") ?? "");
  return named.includes(`"${type}"`) || named.includes('"*"');
}

/** Origins whose cache a response empties, and the redirects that the edge followed to it. */
export function clearedOrigins(response: Pick<ResponseHead, "headers" | "url">): string[] {
  const own = clears("cache", response) ? [new URL(response.url).origin] : [];
  return [...own, ...(fieldValue(response.headers, CLEARED_ORIGINS)?.split(" ") ?? [])];
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] as string;
}
