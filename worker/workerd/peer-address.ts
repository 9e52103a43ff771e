/** Address that a request came from, as the platform tells it. */

/** @returns an IP address; null where the platform tells none. */
export function peerAddress(request: Pick<Request, "headers"> & { readonly cf?: unknown }): string | null {
  // A local workerd tells it here, with the port; and passes all fields on as they came.
  const { clientIp } = (request.cf ?? {}) as { readonly clientIp?: string };
  if (clientIp !== undefined) return clientIp.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  // Cloudflare sets this field on all requests.
  return request.headers.get("cf-connecting-ip");
}
