/**
 * Stands between a local edge and the network while the demo site runs: the demo's origins go to the demo and nowhere
 * else, all others to the network, which refuses private addresses. So the demo opens no way to other loopback ports.
 */
interface EgressEnvironment {
  /** Host and port to the name of the binding that leads there. */
  readonly ORIGINS: Readonly<Record<string, string>>;
  readonly [binding: string]: Fetcher | unknown;
}

export default {
  fetch(request, env): Promise<Response> {
    const { host, protocol } = new URL(request.url);
    const binding = protocol === "http:" ? env.ORIGINS[host] : undefined;
    return binding === undefined ? fetch(request) : (env[binding] as Fetcher).fetch(request);
  },
} satisfies ExportedHandler<EgressEnvironment>;
