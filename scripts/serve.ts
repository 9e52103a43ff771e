/** Serves a local edge and the demo site until it is told to stop. stdout gets one line, once all is ready. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startDemo } from "../e2e/demo/start-demo.ts";
import { type DemoSite, type EdgeOptions, startEdge, type TlsIdentity } from "./edge-process.ts";
import { keptAccessKey, stateRoot } from "./local-edge/access-key.ts";
import { LOCAL_HOST } from "./local-edge/options.ts";

/** 128 random bits in base64url. */
const STRONG_ACCESS_KEY_LENGTH = 22;

interface Service {
  close(): Promise<void>;
}

const services: Service[] = [];
const stop = async (exitCode: number): Promise<never> => {
  await Promise.all(services.map((service) => service.close()));
  process.exit(exitCode);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void stop(0));

try {
  const options = await readOptions(process.env);
  const demo = await startDemoSite(options.host ?? LOCAL_HOST, process.env);
  const edge = await startEdge({ ...options, ...(demo && { demo }) });
  services.push(edge);
  console.log(`Ropeway is ready: ${edge.url}/#key=${edge.accessKey}`);
  const why = await edge.exited;
  throw new Error(`The edge has ended: ${why}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  await stop(1);
}

async function readOptions(environment: NodeJS.ProcessEnv): Promise<EdgeOptions> {
  const accessKey = environment.ROPEWAY_ACCESS_KEY || (await keptAccessKey("access-key")).key;
  if (!/^[\w.~-]+$/.test(accessKey)) {
    throw new Error("Cannot start: ROPEWAY_ACCESS_KEY may have letters, digits and -._~ only");
  }
  if (accessKey.length < STRONG_ACCESS_KEY_LENGTH) {
    console.error(`ROPEWAY_ACCESS_KEY is easy to guess: use ${STRONG_ACCESS_KEY_LENGTH} random characters or more`);
  }
  const tls = await readTls(environment);
  return {
    runtime: process.argv.includes("--deno") ? "deno" : "workerd",
    ip: environment.ROPEWAY_IP || "127.0.0.1",
    port: readPort(environment, "ROPEWAY_PORT", 8787),
    host: environment.ROPEWAY_HOST || LOCAL_HOST,
    allowPrivate: environment.ROPEWAY_ALLOW_PRIVATE === "1",
    accessKey,
    ...(tls && { tls }),
    stateDirectory: join(stateRoot, "state"),
    log: (line) => console.error(line),
  };
}

/** Only where the edge runs for this machine; a public base host has no use for it. */
async function startDemoSite(host: string, environment: NodeJS.ProcessEnv): Promise<DemoSite | undefined> {
  if (host !== "localhost" && !host.endsWith(".localhost")) return undefined;
  const port = readPort(environment, "ROPEWAY_DEMO_PORT", 8788);
  const demo = await startDemo({ ip: "127.0.0.1", port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(`Cannot start the demo site: port ${port} is in use; end what uses it, or set ROPEWAY_DEMO_PORT`);
  });
  services.push(demo);
  return { url: demo.url, origins: Object.values(demo.origins) };
}

async function readTls(environment: NodeJS.ProcessEnv): Promise<TlsIdentity | undefined> {
  const { ROPEWAY_TLS_CERT, ROPEWAY_TLS_KEY } = environment;
  if (!ROPEWAY_TLS_CERT && !ROPEWAY_TLS_KEY) return undefined;
  if (!ROPEWAY_TLS_CERT || !ROPEWAY_TLS_KEY) {
    throw new Error("Cannot start: ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY go together");
  }
  const [certificate, key] = await Promise.all([
    readPem("ROPEWAY_TLS_CERT", ROPEWAY_TLS_CERT),
    readPem("ROPEWAY_TLS_KEY", ROPEWAY_TLS_KEY),
  ]);
  return { certificate, key };
}

async function readPem(name: string, file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`Cannot start: ${name} cannot be read: ${error.message}`);
  });
  if (!text.includes("-----BEGIN")) throw new Error(`Cannot start: ${name} is not a PEM file: ${file}`);
  return text;
}

function readPort(environment: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = environment[name];
  if (!text) return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`Cannot start: ${name} is not a port number: ${text}`);
}
