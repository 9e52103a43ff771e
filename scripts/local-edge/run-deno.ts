import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { appDirectory, root } from "../build/paths.ts";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";
import { edgeSettings, type ResolvedEdgeOptions } from "./options.ts";
import { makePrivate } from "./state-directory.ts";

const START_TIMEOUT = 60_000;
const POLL_INTERVAL = 50;

/** With the wasm that it codes with (entry-deno.ts). */
const CODECS = ["@bokuweb", "@jsquash"].map((scope) => join(root, "node_modules", scope));

/** Starts the edge's Deno entry and waits until it listens. */
export async function runDeno(options: ResolvedEdgeOptions): Promise<{ child: Child; port: number }> {
  const ip = options.ips[0] ?? "127.0.0.1";
  // Deno is given a number, since it has no way to tell us which one it took.
  const port = options.port === 0 ? await freePort(ip) : options.port;
  const state = options.stateDirectory === undefined ? [] : [options.stateDirectory];
  for (const directory of [...state, cacheDirectory()]) await makePrivate(directory);
  const secrets = await mkdtemp(join(tmpdir(), "ropeway-"));
  try {
    const tlsFiles = await writeTlsFiles(secrets, options);
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
          ROPEWAY_PORT: String(port),
          ROPEWAY_KV_PATH: state[0] === undefined ? ":memory:" : join(state[0], "deno.kv"),
        },
      },
      options.log,
    );
    const listening = await Promise.race([untilAccepting(ip, port), child.exited]);
    if (typeof listening === "string") throw new Error(`Cannot start the edge: Deno ended at once\n${listening}`);
    if (!listening) {
      await child.stop();
      throw new Error(`Cannot start the edge: Deno does not listen on port ${port}`);
    }
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

async function untilAccepting(ip: string, port: number): Promise<boolean> {
  const host = ip === "0.0.0.0" ? "127.0.0.1" : ip === "::" ? "::1" : ip;
  for (const end = Date.now() + START_TIMEOUT; Date.now() < end; await sleep(POLL_INTERVAL)) {
    if (await accepts(host, port)) return true;
  }
  return false;
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
