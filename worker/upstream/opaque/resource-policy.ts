/** Cross-Origin-Resource-Policy: what an origin lets other origins embed at all (Fetch section 3.7). */

import { isSameOrigin } from "../../../shared/web/origin.ts";
import { denied } from "../fetch-rules/cors.ts";
import { siteOf } from "../fetch-rules/site.ts";

/**
 * Cross-origin resource policy check of a response to a `no-cors` request. Documents have no embedder policy here: none
 * is ever cross-origin isolated.
 *
 * @param origin serialized, of who asks
 * @throws RopewayError CORS_DENIED
 */
export function checkResourcePolicy(headers: Headers, url: URL, origin: string | null): void {
  const policy = headers.get("cross-origin-resource-policy")?.trim();
  if (policy !== "same-origin" && policy !== "same-site") return;
  if (isSameOrigin(origin, url.origin)) return;
  if (policy === "same-site" && isSchemelesslySameSite(origin, url) && !isDowngrade(origin, url)) return;
  throw denied(url, `its resource policy is ${policy}`);
}

function isSchemelesslySameSite(origin: string | null, url: URL): boolean {
  const asker = URL.parse(origin ?? "");
  if (asker === null) return false;
  asker.protocol = url.protocol;
  const site = siteOf(asker.href);
  return site !== null && site === siteOf(url.href);
}

/** What came over https: is not for a page in clear. */
function isDowngrade(origin: string | null, url: URL): boolean {
  return url.protocol === "https:" && origin?.startsWith("https:") !== true;
}
