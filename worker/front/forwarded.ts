/**
 * What a request was before a proxy of the deployment's own took it: where ROPEWAY_BEHIND_PROXY is "1", X-Forwarded-For
 * and X-Forwarded-Proto are believed. Anybody can send those fields, so it is set only where nobody but the proxy
 * reaches the edge.
 */
import type { EdgeOptions } from "./environment.ts";

/** As the browser asked for it; proxies pass the Host field on. */
export function requestedUrl(request: Request, { ROPEWAY_BEHIND_PROXY }: EdgeOptions): URL {
  const url = new URL(request.url);
  if (ROPEWAY_BEHIND_PROXY === "1" && request.headers.get("x-forwarded-proto") === "https") url.protocol = "https:";
  return url;
}

/** @returns the address that the proxy was asked from: the last in the list, since browsers may begin it. Null without one. */
export function forwardedAddress(request: Request, { ROPEWAY_BEHIND_PROXY }: EdgeOptions): string | null {
  if (ROPEWAY_BEHIND_PROXY !== "1") return null;
  return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || null;
}
