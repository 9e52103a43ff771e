import { rmSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { contentHash } from "../build/content-hash.ts";
import { withBuildLock } from "../build/lock.ts";
import { dist } from "../build/paths.ts";
import type { WorkerSettings } from "../build/worker.ts";
import { type Child, startChild } from "./child.ts";
import { startLoopbackProxy } from "./loopback-proxy.ts";
import type { ResolvedEdgeOptions } from "./options.ts";
import { adviceOnState, prepareStateDirectory } from "./state-directory.ts";
import { type AssetEntry, workerdConfig } from "./workerd-config.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".ico": "image/x-icon",
};

/** Starts workerd on the built worker and waits until it listens. */
export async function runWorkerd(options: ResolvedEdgeOptions): Promise<{ child: Child; port: number }> {
  // Only we can read it. The configuration holds the access key and perhaps a private key, so it goes once it is read.
  const directory = await mkdtemp(join(tmpdir(), "ropeway-"));
  const configFile = join(directory, "config.capnp");
  // workerd's storage in memory has no SQL.
  const stateDirectory = options.stateDirectory ?? join(directory, "state");
  await prepareStateDirectory(stateDirectory);
  const removeDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  process.once("exit", removeDirectory);
  const proxy = options.allowPrivate ? await startLoopbackProxy(join(directory, "loopback.sock")) : undefined;
  try {
    // A later build replaces dist/app as a whole, and workerd holds on to the directory that it was given.
    const served = join(directory, "app");
    const config = await withBuildLock(async () => {
      await cp(join(options.build ?? dist, "app"), served, { recursive: true });
      return makeConfig(options, { directory, stateDirectory, served, loopbackProxy: proxy?.address });
    });
    await writeFile(configFile, config, { mode: 0o600 });
    const child = await startChild(
      workerdBinary(),
      ["serve", configFile, "--experimental", "--control-fd=3", ...inspectorFlags(options.inspector)],
      { stdio: ["ignore", "pipe", "pipe", "pipe"] },
      (line) => logUseful(line, options.log),
    );
    const exited = child.exited.then((why) => {
      proxy?.close();
      removeDirectory();
      process.off("exit", removeDirectory);
      return why;
    });
    const listening = await Promise.race([listeningPort(child.process.stdio[3] as Readable), exited]);
    if (typeof listening === "string") {
      const advice = await adviceOnState(listening, stateDirectory);
      throw new Error(`Cannot start the edge: ${advice ?? `workerd ended at once\n${listening}`}`);
    }
    await rm(configFile);
    return { child: { ...child, exited }, port: listening };
  } catch (error) {
    proxy?.close();
    removeDirectory();
    throw error;
  }
}

/** Of the first socket that workerd reports; it reports them once all accept connections. */
async function listeningPort(control: Readable): Promise<number> {
  for await (const line of createInterface({ input: control })) {
    const message = JSON.parse(line) as { event: string; port?: number };
    if (message.event === "listen" && message.port !== undefined) {
      control.resume();
      return message.port;
    }
  }
  return new Promise(() => {});
}

/** workerd prints a stack for every connection that fails; the edge reports those to the phone, and says what it lacks. */
const USELESS =
  /^stack: |DNS lookup failed|No space left on device|blocked by restrictPeers|kj\/(compat|async-io)|disconnected/;

function logUseful(line: string, log: (line: string) => void): void {
  if (!USELESS.test(line)) log(line);
}

async function makeConfig(
  options: ResolvedEdgeOptions,
  paths: {
    /** Where it will be. */
    readonly directory: string;
    readonly stateDirectory: string;
    readonly served: string;
    readonly loopbackProxy: string | undefined;
  },
): Promise<string> {
  const { directory, stateDirectory, served, loopbackProxy } = paths;
  const built = join(options.build ?? dist, "worker");
  const read = (name: string): Promise<string> => readFile(join(built, name), "utf8");
  const [worker, assets, egress, cache, settings] = await Promise.all(
    ["worker.js", "assets.js", "egress.js", "cache.js", "settings.json"].map(read),
  );
  if (
    worker === undefined ||
    assets === undefined ||
    egress === undefined ||
    cache === undefined ||
    settings === undefined
  ) {
    throw new Error("Cannot start the edge: it is not built");
  }
  const wasm = (await readdir(built)).filter((name) => name.endsWith(".wasm"));
  for (const name of wasm) await cp(join(built, name), join(directory, name));
  return workerdConfig({
    options,
    stateDirectory,
    settings: JSON.parse(settings) as WorkerSettings,
    assets: await assetManifest(served),
    appDirectory: served,
    sources: { worker, wasm, assets, egress, cache },
    ...(loopbackProxy === undefined ? {} : { loopbackProxy }),
    trustedCertificates: await extraCertificates(),
  });
}

async function assetManifest(directory: string): Promise<Record<string, AssetEntry>> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const entries = files
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const contentType = contentTypes[extname(file)] ?? "application/octet-stream";
      return [relative(directory, file), { etag: contentHash(await readFile(file)), contentType }] as const;
    });
  return Object.fromEntries(await Promise.all(entries));
}

/** Certificates of NODE_EXTRA_CA_CERTS, so that the edge trusts what the other programs here trust. */
async function extraCertificates(): Promise<string[]> {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (file === undefined || file === "") return [];
  const text = await readFile(file, "utf8").catch(() => "");
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function inspectorFlags(address: string | undefined): string[] {
  return address === undefined ? [] : [`--inspector-addr=${address}`];
}

function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const { default: path } = require("workerd") as { default: string };
  return path;
}
