import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EDGE_ADDRESS, type Lab } from "../../lab/lab.ts";
import type { Authority } from "./certificates.ts";
import type { EdgeReport, EdgeTask } from "./edge-process.ts";
import { type Front, startFront } from "./front.ts";
import { startServer } from "./server-process.ts";

/** Base host of the edge; its slots live below it. */
export const EDGE_HOST = "ropeway.test";

/** For the name server of the lab. */
export const EDGE_NAMES: Readonly<Record<string, string>> = {
  [EDGE_HOST]: EDGE_ADDRESS,
  [`*.${EDGE_HOST}`]: EDGE_ADDRESS,
};

/** Of the edge behind a proxy, in its namespace. */
const BEHIND_PROXY = { ip: "127.0.0.1", port: 8787, tls: null };

/** Ropeway's edge on workerd, with TLS of its own or behind Caddy, in the namespace of the edge. It forgets its state when it is closed. */
export interface RopewayEdge extends EdgeReport {
  close(): Promise<void>;
}

/**
 * Builds what is out of date and starts the edge.
 *
 * @throws HarnessError with what it complained of.
 */
export async function startRopewayEdge(options: {
  readonly lab: Pick<Lab, "edge">;
  readonly authority: Authority;
  /** Directory of the run. */
  readonly directory: string;
  readonly sharesCache?: boolean;
  readonly front?: Front | undefined;
}): Promise<RopewayEdge> {
  const { lab, authority, sharesCache = false, front = "none" } = options;
  const directory = await mkdtemp(join(options.directory, "edge-"));
  const certificate = join(directory, "certificate.pem");
  const key = join(directory, "key.pem");
  const identity = await authority.issue([EDGE_HOST, `*.${EDGE_HOST}`]);
  await writeFile(certificate, identity.cert);
  await writeFile(key, identity.key);
  const tls = { certificate, key };
  const place = front === "none" ? { ip: EDGE_ADDRESS, port: 443, tls } : BEHIND_PROXY;
  const task: EdgeTask = { ...place, host: EDGE_HOST, sharesCache };
  const program = fileURLToPath(new URL("./edge-process.ts", import.meta.url));
  const server = await startServer({
    name: "the edge",
    child: lab.edge.spawn([process.execPath, program, JSON.stringify(task)], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: authority.file },
      stdio: ["ignore", "pipe", "pipe"],
    }),
    readyLine: /^\{"url":/,
  });
  const report = JSON.parse(server.readyLine) as EdgeReport;
  if (front === "none") return { ...report, close: () => server.close() };
  const upstream = `${BEHIND_PROXY.ip}:${BEHIND_PROXY.port}`;
  const caddy = await startFront({ front, lab, host: EDGE_HOST, upstream, ...tls, directory }).catch(async (error) => {
    await server.close();
    throw error;
  });
  return {
    ...report,
    async close() {
      await Promise.all([caddy.close(), server.close()]);
    },
  };
}
