/**
 * Runs a local edge in the namespace that it is started in, until it is told to stop. What it is to do is the only
 * argument, as JSON; once it listens it says what there is to know of it in one line of JSON.
 */
import { readFile } from "node:fs/promises";
import { startEdge, type TlsIdentity } from "../../../scripts/edge-process.ts";

export interface EdgeTask {
  readonly ip: string;
  readonly port: number;
  readonly host: string;
  /** PEM files; null behind a proxy, which has them. */
  readonly tls: { readonly certificate: string; readonly key: string } | null;
  readonly sharesCache: boolean;
}

export interface EdgeReport {
  /** Origin of the app. */
  readonly url: string;
  readonly accessKey: string;
  /** Of workerd. */
  readonly pid: number;
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? "") as EdgeTask;
  const edge = await startEdge({
    runtime: "workerd",
    ip: task.ip,
    port: task.port,
    host: task.host,
    allowPrivate: true,
    sharesCache: task.sharesCache,
    behindProxy: task.tls === null,
    ...(task.tls === null ? {} : { tls: await read(task.tls) }),
    log: (line) => console.error(line),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void edge.close().then(() => process.exit(0)));
  }
  const report: EdgeReport = { url: edge.url, accessKey: edge.accessKey, pid: edge.pid };
  console.log(JSON.stringify(report));
  throw new Error(`The edge has ended: ${await edge.exited}`);
}

async function read(files: NonNullable<EdgeTask["tls"]>): Promise<TlsIdentity> {
  const [certificate, key] = await Promise.all([readFile(files.certificate, "utf8"), readFile(files.key, "utf8")]);
  return { certificate, key };
}
