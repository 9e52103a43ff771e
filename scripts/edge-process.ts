/** Runs a local edge, for `npm start` and for tests: workerd on the built worker, or Deno on the source. */
import { buildAll } from "./build.ts";
import { newAccessKey } from "./local-edge/access-key.ts";
import { listeningAddresses } from "./local-edge/listening.ts";
import { type EdgeOptions, LOCAL_HOST, type ResolvedEdgeOptions, type RunningEdge } from "./local-edge/options.ts";

export type { DemoSite, EdgeOptions, RunningEdge, TlsIdentity } from "./local-edge/options.ts";

/**
 * Builds what is out of date, starts the edge and waits until it listens.
 *
 * @throws Error "Cannot …: reason" when the build fails, the port is taken, or the runtime does not start.
 */
export async function startEdge(options: EdgeOptions): Promise<RunningEdge> {
  const resolved = await resolve(options);
  await buildAll(resolved.log);
  const run =
    options.runtime === "deno"
      ? (await import("./local-edge/run-deno.ts")).runDeno
      : (await import("./local-edge/run-workerd.ts")).runWorkerd;
  const { child, port } = await run(resolved);
  return {
    url: originOf(resolved, port),
    appUrl: originOf(resolved, port, resolved.host),
    accessKey: resolved.accessKey,
    pid: child.pid,
    exited: child.exited,
    close: async () => {
      await child.stop();
      await child.exited;
    },
  };
}

async function resolve(options: EdgeOptions): Promise<ResolvedEdgeOptions> {
  return {
    ips: await listeningAddresses(options.ip ?? "127.0.0.1", options.port),
    port: options.port,
    host: options.host ?? LOCAL_HOST,
    slotHosts: options.slotHosts ?? "",
    allowPrivate: options.allowPrivate ?? false,
    behindProxy: options.behindProxy ?? false,
    sharesCache: options.sharesCache ?? true,
    blockLists: options.blockLists?.join(" ") ?? "",
    plan: options.plan ?? "paid",
    knownHosts: options.knownHosts === "usual" ? "" : options.knownHosts?.join(" ") || "0",
    accessKey: options.accessKey ?? newAccessKey(),
    demo: options.demo,
    tls: options.tls,
    build: options.build,
    stateDirectory: options.stateDirectory,
    inspector: options.inspector,
    log: options.log ?? (() => {}),
  };
}

/** @param localName what the edge is called where its host is this machine's alone. */
function originOf({ host, tls, behindProxy }: ResolvedEdgeOptions, port: number, localName = "localhost"): string {
  if (behindProxy && host !== "") return `https://${host}`;
  const name = host === LOCAL_HOST || host === "" ? localName || "localhost" : host;
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`).origin;
}
