import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../../scripts/build/paths.ts";
import type { Lab } from "../../lab/lab.ts";
import { startServer } from "./server-process.ts";

/** What is between the phone and the edge: nothing, or Caddy, which speaks HTTP/2 and, in the third case, HTTP/3. */
export const FRONTS = ["none", "http/2", "http/3"] as const;

export type Front = (typeof FRONTS)[number];

export interface FrontOptions {
  readonly front: Exclude<Front, "none">;
  readonly lab: Pick<Lab, "edge">;
  readonly host: string;
  /** `address:port` of the edge. */
  readonly upstream: string;
  /** PEM files. */
  readonly certificate: string;
  readonly key: string;
  /** For what it keeps. */
  readonly directory: string;
}

/**
 * Caddy with deploy/Caddyfile on the ports of the web, in the namespace of the edge.
 *
 * @throws HarnessError with what Caddy complained of.
 */
export async function startFront(options: FrontOptions): Promise<{ close(): Promise<void> }> {
  const { front, lab, host, upstream, certificate, key } = options;
  const directory = join(options.directory, "front");
  await mkdir(directory);
  const tls = join(directory, "tls.caddy");
  const config = join(directory, "Caddyfile");
  await writeFile(tls, `tls ${certificate} ${key}\n`);
  await writeFile(
    config,
    `{
	admin off
	servers {
		protocols ${front === "http/3" ? "h1 h2 h3" : "h1 h2"}
	}
}
import ${join(root, "deploy", "Caddyfile")}
`,
  );
  return startServer({
    name: "Caddy",
    child: lab.edge.spawn(["caddy", "run", "--config", config, "--adapter", "caddyfile"], {
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        XDG_CONFIG_HOME: directory,
        XDG_DATA_HOME: directory,
        ROPEWAY_NAMES: `${host} *.${host}`,
        ROPEWAY_EDGE: upstream,
        ROPEWAY_TLS: tls,
      },
      stdio: ["ignore", "ignore", "pipe"],
    }),
    readyLine: /serving initial configuration/,
  });
}
