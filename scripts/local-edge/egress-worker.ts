/**
 * Stands between a local edge and the network while the demo site runs: the demo's origins go to the demo and nowhere
 * else, all others to the network, which refuses private addresses. So the demo opens no way to other loopback ports.
 * Where those are allowed, names below `localhost` go to the proxy that finds them.
 */
interface EgressEnvironment {
  /** Host and port to the name of the binding that leads there. */
  readonly ORIGINS: Readonly<Record<string, string>>;
  /** There if the edge may reach loopback. */
  readonly LOOPBACK?: Fetcher;
  readonly [binding: string]: Fetcher | unknown;
}

export default {
  fetch(request, env): Promise<Response> {
    const { host, hostname, protocol } = new URL(request.url);
    const binding = protocol === "http:" ? env.ORIGINS[host] : undefined;
    if (binding !== undefined) return (env[binding] as Fetcher).fetch(request);
    if (env.LOOPBACK !== undefined && /\.localhost\.?$/.test(hostname)) return reachLoopback(env.LOOPBACK, request);
    return fetch(request);
  },
} satisfies ExportedHandler<EgressEnvironment>;

/** Rejects where the origin cannot be reached, with a message that says why; workerd's own does not. */
async function reachLoopback(loopback: Fetcher, request: Request): Promise<Response> {
  const response = await loopback.fetch(request);
  const why = response.headers.get("ropeway-failure");
  if (why === null) return response;
  throw new Error(`Cannot connect: ${why}`);
}
