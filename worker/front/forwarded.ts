/**
 * What a request was before a proxy of the deployment's own took it: where ROPEWAY_BEHIND_PROXY is "1", X-Forwarded-For
 * and X-Forwarded-Proto are believed. Strangers can send those fields too, so only a peer whose address is not public is
 * believed: a proxy on this machine, or in its own network.
 */
import { isPublic, parseAddress } from "../upstream/destination.ts";
import type { EdgeOptions } from "./environment.ts";

/** The IP address at the other end of a request's connection; null where it is not known, and nothing is believed. */
export type Peer = string | null;

/** As the browser asked for it; proxies pass the Host field on. */
export function requestedUrl(request: Request, options: EdgeOptions, peer: Peer): URL {
  const url = new URL(request.url);
  if (isProxy(options, peer) && request.headers.get("x-forwarded-proto") === "https") url.protocol = "https:";
  return url;
}

/**
 * Whose address it is that a request came from. Of a list it is the last, which the proxy added: browsers may begin it.
 *
 * @returns null where that is not known: whoever is nearer than the internet may be a proxy, which all phones share.
 */
export function clientAddress(request: Request, options: EdgeOptions, peer: Peer): string | null {
  if (isProxy(options, peer)) return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || null;
  return peer !== null && !isNear(peer) ? peer : null;
}

function isProxy({ ROPEWAY_BEHIND_PROXY }: EdgeOptions, peer: Peer): boolean {
  return ROPEWAY_BEHIND_PROXY === "1" && peer !== null && isNear(peer);
}

function isNear(peer: string): boolean {
  const address = parseAddress(peer);
  return address !== null && !isPublic(address);
}
