import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EDGE_ADDRESS, type Lab } from "../../lab/lab.ts";
import type { Authority } from "./certificates.ts";
import type { EdgeReport, EdgeTask } from "./edge-process.ts";
import { startServer } from "./server-process.ts";

/** Base host of the edge; its slots live below it. */
export const EDGE_HOST = "ropeway.test";

/** For the name server of the lab. */
export const EDGE_NAMES: Readonly<Record<string, string>> = {
  [EDGE_HOST]: EDGE_ADDRESS,
  [`*.${EDGE_HOST}`]: EDGE_ADDRESS,
};

/** Ropeway's edge on workerd itself, with TLS, in the namespace of the edge. It forgets its state when it is closed. */
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
  /** `address:port` in the edge's namespace where DevTools may attach; nowhere by default. */
  readonly inspector?: string | undefined;
}): Promise<RopewayEdge> {
  const { lab, authority, inspector, sharesCache = false } = options;
  const directory = await mkdtemp(join(options.directory, "edge-"));
  const certificate = join(directory, "certificate.pem");
  const key = join(directory, "key.pem");
  const identity = await authority.issue([EDGE_HOST, `*.${EDGE_HOST}`]);
  await writeFile(certificate, identity.cert);
  await writeFile(key, identity.key);
  const task: EdgeTask = {
    ip: EDGE_ADDRESS,
    host: EDGE_HOST,
    certificate,
    key,
    sharesCache,
    ...(inspector && { inspector }),
  };
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
  return { ...report, close: () => server.close() };
}
