/**
 * Runs a local edge in the namespace that it is started in, until it is told to stop. What it is to do is the only
 * argument, as JSON; once it listens it says what there is to know of it in one line of JSON.
 */
import { readFile } from "node:fs/promises";
import { startEdge } from "../../../scripts/edge-process.ts";

export interface EdgeTask {
  readonly ip: string;
  readonly host: string;
  /** PEM files. */
  readonly certificate: string;
  readonly key: string;
  readonly sharesCache: boolean;
  /** `address:port` for DevTools. */
  readonly inspector?: string;
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
  const [certificate, key] = await Promise.all([readFile(task.certificate, "utf8"), readFile(task.key, "utf8")]);
  const edge = await startEdge({
    runtime: "workerd",
    ip: task.ip,
    port: 443,
    host: task.host,
    allowPrivate: true,
    sharesCache: task.sharesCache,
    tls: { certificate, key },
    ...(task.inspector === undefined ? {} : { inspector: task.inspector }),
    log: (line) => console.error(line),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void edge.close().then(() => process.exit(0)));
  }
  const report: EdgeReport = { url: edge.url, accessKey: edge.accessKey, pid: edge.pid };
  console.log(JSON.stringify(report));
  throw new Error(`The edge has ended: ${await edge.exited}`);
}
