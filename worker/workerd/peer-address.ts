/** From where a request came, as the platform says it. */

/** @returns an IP address; null where nobody says. */
export function peerAddress(request: Pick<Request, "headers"> & { readonly cf?: unknown }): string | null {
  // A local workerd says it here, with the port; and passes all fields on as they came.
  const { clientIp } = (request.cf ?? {}) as { readonly clientIp?: string };
  if (clientIp !== undefined) return clientIp.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  // Cloudflare sets it on all requests.
  return request.headers.get("cf-connecting-ip");
}
