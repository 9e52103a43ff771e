/**
 * `npm run deploy`: builds, deploys to the Cloudflare account that wrangler is signed in to, sees to the access key and
 * prints the link that pairs a phone. `npm run deploy -- --new-key` replaces the key, which unpairs all phones;
 * `--dry-run` only shows what would be deployed; `--host` and `--zone` stand in for what one would write into
 * wrangler.toml.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isPackage, root } from "./build/paths.ts";
import { writeDeployConfig } from "./deploy/deploy-config.ts";
import { forgetAccessKey, keptAccessKey } from "./local-edge/access-key.ts";

const SECRET = "ROPEWAY_ACCESS_KEY";
/** Not the local edge's: a key that was in a terminal's scrollback is not one for the internet. */
const KEY_FILE = "deployed-access-key";

const { values: flags } = parseArgs({
  options: {
    "new-key": { type: "boolean", default: false },
    "dry-run": { type: "boolean", default: false },
    host: { type: "string" },
    zone: { type: "string" },
  },
});

try {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-"));
  try {
    await deployAndPair(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @param directory for what is of use meanwhile. */
async function deployAndPair(directory: string): Promise<void> {
  const config = await writeDeployConfig(directory, { host: flags.host, zone: flags.zone });
  const wrangler = (args: readonly string[], run?: WranglerRun): Promise<string> =>
    runWrangler([...args, `--config=${config.path}`], run);
  if (flags["dry-run"]) return void (await wrangler(["deploy", "--dry-run"]));
  const url = await deploy(directory, config.host, wrangler);
  const existing = await wrangler(["secret", "list", "--format=json"], { quiet: true });
  const isSet = (JSON.parse(existing) as { name: string }[]).some(({ name }) => name === SECRET);
  if (flags["new-key"]) await forgetAccessKey(KEY_FILE);
  const { key, isNew } = await keptAccessKey(KEY_FILE);
  if (isSet && isNew && !flags["new-key"]) {
    await forgetAccessKey(KEY_FILE);
    console.error(`The edge has an access key that is not known here. Open ${url}/#key= followed by that key,`);
    console.error(`or replace it with: ${isPackage ? "npx ropeway deploy" : "npm run deploy --"} --new-key`);
    return;
  }
  if (!isSet || isNew) await putSecret(key, wrangler);
  console.log(`Ropeway is ready: ${url}/#key=${key}`);
}

type Wrangler = (args: readonly string[], run?: WranglerRun) => Promise<string>;

/** @returns the origin of the shell. */
async function deploy(directory: string, host: string | null, wrangler: Wrangler): Promise<string> {
  const outputFile = join(directory, "output.ndjson");
  await wrangler(["deploy"], { environment: { WRANGLER_OUTPUT_FILE_PATH: outputFile } });
  if (host !== null) return `https://${host}`;
  const entries = (await readFile(outputFile, "utf8")).trim().split("\n");
  const deployment = entries
    .map((line) => JSON.parse(line) as { type: string; targets?: string[] })
    .find(({ type }) => type === "deploy");
  const target = deployment?.targets?.[0];
  if (target === undefined) throw new Error("Cannot tell the edge's address: see wrangler's output above");
  return new URL(target.includes("://") ? target : `https://${target.replace(/\/.*$/, "")}`).origin;
}

async function putSecret(key: string, wrangler: Wrangler): Promise<void> {
  try {
    await wrangler(["secret", "put", SECRET], { input: key });
  } catch (error) {
    await forgetAccessKey(KEY_FILE);
    throw error;
  }
}

interface WranglerRun {
  /** Written to its standard input. */
  readonly input?: string;
  /** Keeps its standard output from the person. */
  readonly quiet?: boolean;
  readonly environment?: NodeJS.ProcessEnv;
}

/** @returns what it wrote to its standard output, if quiet. */
function runWrangler(
  args: readonly string[],
  { input, quiet = false, environment }: WranglerRun = {},
): Promise<string> {
  // A package brings what running needs, and fetches this when somebody deploys.
  const [program, ...first] = isPackage
    ? ["npx", "--yes", "wrangler@4"]
    : [join(root, "node_modules", ".bin", "wrangler")];
  const child = spawn(program ?? "", [...first, ...args], {
    cwd: isPackage ? process.cwd() : root,
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
