/** Serves a local edge and the demo site until it is told to stop. stdout gets one line, once phones can be paired. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { startDemo } from "../e2e/demo/start-demo.ts";
import {
  isLocalName,
  keyAdvice,
  phoneAdvice,
  readBaseHost,
  readBlockLists,
  readPlan,
  readPort,
  readSharedCache,
  readSwitch,
  readTls,
} from "../worker/front/edge-settings.ts";
import { readSlotHosts } from "../worker/front/hosts.ts";
import { COMMANDS, readArguments } from "./command-line.mjs";
import { type DemoSite, type EdgeOptions, startEdge, type TlsIdentity } from "./edge-process.ts";
import { keptAccessKey, LOCAL_KEY_FILE, openStateRoot } from "./local-edge/access-key.ts";
import { LOCAL_HOST } from "./local-edge/options.ts";
import { phoneText } from "./local-edge/phone-text.ts";

interface Service {
  close(): Promise<void>;
}

const services: Service[] = [];
/** What ends from then on was told to. */
let isStopping = false;
const stop = async (exitCode: number): Promise<never> => {
  isStopping = true;
  await Promise.all(services.map((service) => service.close()));
  process.exit(exitCode);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void stop(0));

try {
  const { deno, tunnel } = readFlags();
  const options = await readOptions(process.env, tunnel);
  const demo = await startDemoSite(options.host ?? LOCAL_HOST, process.env);
  const edge = await startEdge({ ...options, runtime: deno ? "deno" : "workerd", ...(demo && { demo }) });
  services.push(edge);
  const notReady = keyAdvice(edge.accessKey);
  const advice = [notReady, phoneAdvice(options.ip ?? "127.0.0.1", options.host ?? LOCAL_HOST)];
  // The entry for Deno says so itself.
  if (!deno) for (const line of advice) if (line !== null) console.error(line);
  if (notReady === null) sayReady(tunnel ?? edge.appUrl, edge.accessKey);
  const why = await edge.exited;
  throw new Error(`The edge has ended: ${why}`);
} catch (error) {
  if (!isStopping) {
    console.error(error instanceof Error ? error.message : error);
    await stop(1);
  }
}

function sayReady(edgeUrl: string, accessKey: string): void {
  // A program that reads it wants the one line.
  const text = process.stderr.isTTY ? phoneText({ edgeUrl, accessKey }) : null;
  if (text !== null) console.error(text);
  console.log(`Ropeway is ready: ${edgeUrl}/#key=${accessKey}`);
}

interface Flags {
  readonly deno: boolean;
  /** Origin at which a tunnel leads here: the only host that there is. */
  readonly tunnel: string | undefined;
}

/** @throws Error that says the mend. */
function readFlags(): Flags {
  const { deno, tunnel } = readArguments("start", () => parseArgs({ options: COMMANDS.start.options })).values;
  if (tunnel === undefined) return { deno, tunnel };
  const url = URL.parse(tunnel);
  if (url?.protocol === "https:") return { deno, tunnel: url.origin };
  throw new Error(`Cannot start: --tunnel is "${tunnel}": set it to the address that the tunnel has, https://…`);
}

async function readOptions(
  environment: NodeJS.ProcessEnv,
  tunnel: string | undefined,
): Promise<Omit<EdgeOptions, "runtime">> {
  const accessKey = environment.ROPEWAY_ACCESS_KEY || (await keptAccessKey(LOCAL_KEY_FILE)).key;
  if (!/^[\w.~-]+$/.test(accessKey)) {
    throw new Error("Cannot start: ROPEWAY_ACCESS_KEY may have letters, digits and -._~ only");
  }
  const ip = environment.ROPEWAY_IP || "127.0.0.1";
  if (tunnel !== undefined && environment.ROPEWAY_HOST)
    throw new Error("Cannot start: ROPEWAY_HOST is set with --tunnel, which leads to one host alone: set one of them");
  const unset = tunnel === undefined ? LOCAL_HOST : "";
  const host = environment.ROPEWAY_HOST ? readBaseHost(environment.ROPEWAY_HOST) : unset;
  const slotHosts = environment.ROPEWAY_SLOT_HOSTS ?? "";
  readSlotHosts(slotHosts, host);
  const allowPrivate = readSwitch("ROPEWAY_ALLOW_PRIVATE", environment.ROPEWAY_ALLOW_PRIVATE);
  const tls = await readTls({ certFile: environment.ROPEWAY_TLS_CERT, keyFile: environment.ROPEWAY_TLS_KEY }, (path) =>
    readFile(path, "utf8"),
  );
  if (tls !== null) checkPair(tls);
  const { ROPEWAY_BLOCK_LISTS = "", ROPEWAY_PLAN = "" } = environment;
  // The edge reads them again; here a wrong one ends the start.
  readPlan(ROPEWAY_PLAN);
  readBlockLists({ ROPEWAY_BLOCK_LISTS });
  return {
    ip,
    port: readPort("ROPEWAY_PORT", environment.ROPEWAY_PORT, 8787),
    host,
    slotHosts,
    allowPrivate,
    behindProxy: tunnel !== undefined || readSwitch("ROPEWAY_BEHIND_PROXY", environment.ROPEWAY_BEHIND_PROXY),
    sharesCache: readSharedCache(environment.ROPEWAY_SHARED_CACHE),
    accessKey,
    blockLists: [ROPEWAY_BLOCK_LISTS.trim()],
    plan: ROPEWAY_PLAN === "free" ? "free" : "paid",
    knownHosts: environment.ROPEWAY_KNOWN_HOSTS?.split(" ") ?? "usual",
    ...(tls && { tls }),
    stateDirectory: await openStateRoot(),
    log: (line) => console.error(line),
  };
}

/** Only where the edge runs for this machine; a public base host has no use for it. */
async function startDemoSite(host: string, environment: NodeJS.ProcessEnv): Promise<DemoSite | undefined> {
  if (!isLocalName(host)) return undefined;
  const port = readPort("ROPEWAY_DEMO_PORT", environment.ROPEWAY_DEMO_PORT, 8788);
  const demo = await startDemo({ ip: "127.0.0.1", port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(`Cannot start the demo site: port ${port} is in use; end what uses it, or set ROPEWAY_DEMO_PORT`);
  });
  services.push(demo);
  return { url: demo.url, origins: Object.values(demo.origins) };
}

/** @throws Error where the two do not belong together. */
function checkPair({ certificate, key }: TlsIdentity): void {
  const read = <Value>(name: string, make: () => Value): Value => {
    try {
      return make();
    } catch (error) {
      throw new Error(`Cannot start: ${name} cannot be used: ${(error as Error).message}`);
    }
  };
  const leaf = read("ROPEWAY_TLS_CERT", () => new X509Certificate(certificate));
  const privateKey = read("ROPEWAY_TLS_KEY", () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey))
    throw new Error("Cannot start: ROPEWAY_TLS_KEY is the key of another certificate: set the one of ROPEWAY_TLS_CERT");
}
