/**
 * `npm run deploy`: builds, deploys to the Cloudflare account that wrangler is signed in to, sees to the access key and
 * prints the link that pairs a phone. `npm run deploy -- --new-key` replaces the key, which unpairs all phones.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { root } from "./build/paths.ts";
import { forgetAccessKey, keptAccessKey } from "./local-edge/access-key.ts";

const SECRET = "ROPEWAY_ACCESS_KEY";
/** Not the local edge's: a key that was in a terminal's scrollback is not one for the internet. */
const KEY_FILE = "deployed-access-key";

try {
  const url = await deploy();
  const existing = await wrangler(["secret", "list", "--format=json"], { quiet: true });
  const isSet = (JSON.parse(existing) as { name: string }[]).some(({ name }) => name === SECRET);
  const replace = process.argv.includes("--new-key");
  if (replace) await forgetAccessKey(KEY_FILE);
  const { key, isNew } = await keptAccessKey(KEY_FILE);
  if (isSet && isNew && !replace) {
    await forgetAccessKey(KEY_FILE);
    console.error(
      `The edge has an access key that this checkout does not know. Open ${url}/#key= followed by that key,`,
    );
    console.error("or replace it with: npm run deploy -- --new-key");
  } else {
    if (!isSet || isNew) await putSecret(key);
    console.log(`Ropeway is ready: ${url}/#key=${key}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @returns the origin of the shell. */
async function deploy(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-"));
  const outputFile = join(directory, "output.ndjson");
  try {
    await wrangler(["deploy"], { environment: { WRANGLER_OUTPUT_FILE_PATH: outputFile } });
    const host = deployedHost();
    if (host !== undefined) return `https://${host}`;
    const entries = (await readFile(outputFile, "utf8")).trim().split("\n");
    const deployment = entries
      .map((line) => JSON.parse(line) as { type: string; targets?: string[] })
      .find(({ type }) => type === "deploy");
    const target = deployment?.targets?.[0];
    if (target === undefined) throw new Error("Cannot tell the edge's address: see wrangler's output above");
    return new URL(target.includes("://") ? target : `https://${target.replace(/\/.*$/, "")}`).origin;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function putSecret(key: string): Promise<void> {
  try {
    await wrangler(["secret", "put", SECRET], { input: key });
  } catch (error) {
    await forgetAccessKey(KEY_FILE);
    throw error;
  }
}

function deployedHost(): string | undefined {
  const config: { readonly vars: Record<string, unknown> } = unstable_readConfig({
    config: join(root, "wrangler.toml"),
  });
  const host = config.vars.ROPEWAY_HOST;
  return typeof host === "string" && host !== "" ? host : undefined;
}

interface WranglerRun {
  /** Written to its standard input. */
  readonly input?: string;
  /** Keeps its standard output from the person. */
  readonly quiet?: boolean;
  readonly environment?: NodeJS.ProcessEnv;
}

/** @returns what it wrote to its standard output, if quiet. */
function wrangler(args: readonly string[], { input, quiet = false, environment }: WranglerRun = {}): Promise<string> {
  const child = spawn(join(root, "node_modules", ".bin", "wrangler"), args, {
    cwd: root,
    stdio: [input === undefined ? "inherit" : "pipe", quiet ? "pipe" : "inherit", "inherit"],
    env: { ...process.env, ...environment },
  });
  child.stdin?.end(input);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`Cannot deploy: wrangler ${args.join(" ")} failed (see above)`));
    });
  });
}
