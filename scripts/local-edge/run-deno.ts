import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { appDirectory, root } from "../build/paths.ts";
import { type Child, startChild } from "./child.ts";
import { edgeSettings, type ResolvedEdgeOptions } from "./options.ts";
import { makePrivate } from "./state-directory.ts";

/** As the entry says it, once it does. */
const LISTENING = /^Listening on \S+, port (\d+)$/;

/** With the wasm that it codes with (entry-deno.ts). */
const CODECS = ["@bokuweb", "@jsquash"].map((scope) => join(root, "node_modules", scope));

/** Starts the edge's Deno entry and waits until it listens. */
export async function runDeno(options: ResolvedEdgeOptions): Promise<{ child: Child; port: number }> {
  const ip = options.ips[0] ?? "127.0.0.1";
  const state = options.stateDirectory === undefined ? [] : [options.stateDirectory];
  for (const directory of [...state, cacheDirectory()]) await makePrivate(directory);
  const secrets = await mkdtemp(join(tmpdir(), "ropeway-"));
  try {
    const tlsFiles = await writeTlsFiles(secrets, options);
    const taken = Promise.withResolvers<number>();
    const heed = (line: string): void => {
      const port = LISTENING.exec(line)?.[1];
      if (port === undefined) options.log(line);
      else taken.resolve(Number(port));
    };
    const child = await startChild(
      join(root, "node_modules", ".bin", "deno"),
      [
        "run",
        "--quiet",
        ...(options.inspector === undefined ? [] : [`--inspect=${options.inspector}`]),
        "--no-prompt",
        "--cached-only",
        "--allow-net",
        "--allow-env",
        `--allow-read=${[appDirectory, ...CODECS, ...state, ...Object.values(tlsFiles)].join(",")}`,
        ...state.map((directory) => `--allow-write=${directory}`),
        join(root, "worker", "deno", "entry-deno.ts"),
      ],
      {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...environment(),
          ...edgeSettings(options),
          ...tlsFiles,
          ROPEWAY_IP: ip,
          ROPEWAY_PORT: String(options.port),
          ROPEWAY_KV_PATH: state[0] === undefined ? ":memory:" : join(state[0], "deno.kv"),
        },
      },
      heed,
    );
    const port = await Promise.race([taken.promise, child.exited]);
    if (typeof port === "string") throw new Error(`Cannot start the edge: Deno ended at once\n${port}`);
    return { child, port };
  } finally {
    await rm(secrets, { recursive: true, force: true });
  }
}

/** Only what Deno itself needs: whatever else this process knows is not the edge's business. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, DENO_DIR, NODE_EXTRA_CA_CERTS } = process.env;
  const certificates = NODE_EXTRA_CA_CERTS ? { DENO_CERT: NODE_EXTRA_CA_CERTS } : {};
  return { PATH, HOME, TMPDIR, DENO_DIR, ...certificates, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
}

/** Where Deno's Cache API keeps what phones share, with its addresses. */
function cacheDirectory(): string {
  return join(process.env.DENO_DIR || join(homedir(), ".cache", "deno"), "location_data", "web_cache");
}

async function writeTlsFiles(directory: string, { tls }: ResolvedEdgeOptions): Promise<Record<string, string>> {
  if (tls === undefined) return {};
  const files = { ROPEWAY_TLS_CERT: join(directory, "certificate.pem"), ROPEWAY_TLS_KEY: join(directory, "key.pem") };
  await writeFile(files.ROPEWAY_TLS_CERT, tls.certificate, { mode: 0o600 });
  await writeFile(files.ROPEWAY_TLS_KEY, tls.key, { mode: 0o600 });
  return files;
}
