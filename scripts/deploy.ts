/**
 * `npm run deploy`: builds, deploys to the Cloudflare account that wrangler is signed in to, sees to the access key and
 * prints the link that pairs a phone. `npm run deploy -- --new-key` replaces the key, which unpairs all phones;
 * `--dry-run` only shows what would be done; `--host` and `--zone` stand in for what one would write into wrangler.toml.
 * Without a host of one's own the edge is at workers.dev, and pages get `--slots` hosts beside it. `--plan` says what is else
 * asked for. Workers Builds, which the button in the README leads to, deploy the edge alone: its key is typed there.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isStrongAccessKey } from "../shared/access-key.ts";
import { isPackage } from "./build/paths.ts";
import { COMMANDS, readArguments } from "./command-line.mjs";
import { writeDeployConfig } from "./deploy/deploy-config.ts";
import {
  type AccessKeys,
  askPlan,
  type Deployed,
  type Deployment,
  deployAll,
  readPlanFlag,
} from "./deploy/deployment.ts";
import { dryPlatform, wranglerPlatform } from "./deploy/platform.ts";
import { builtSlotFiles } from "./deploy/slot-files.ts";
import { readSlotCount, writeSlotWorkers } from "./deploy/slot-workers.ts";
import { runWrangler } from "./deploy/wrangler.ts";
import { DEPLOYED_KEY_FILE, forgetAccessKey, keptAccessKey } from "./local-edge/access-key.ts";

const WITH_NEW_KEY = `${isPackage ? "npx ropeway deploy" : "npm run deploy --"} --new-key`;

const keptKeys: AccessKeys = {
  kept: () => keptAccessKey(DEPLOYED_KEY_FILE),
  forget: () => forgetAccessKey(DEPLOYED_KEY_FILE),
};
const dryKeys: AccessKeys = {
  kept: () => Promise.resolve({ key: "(a random one, unless there is one)", isNew: true }),
  forget: () => Promise.resolve(),
};

try {
  const { values: flags } = readArguments("deploy", () => parseArgs({ options: COMMANDS.deploy.options }));
  const slots = readSlotCount(flags.slots);
  const plan = readPlanFlag(flags.plan);
  const directory = await mkdtemp(join(tmpdir(), "ropeway-"));
  try {
    const { host, worker, compatibilityDate, hasPlan } = await writeDeployConfig(directory, flags);
    if (hasPlan && plan !== null) throw new Error("Cannot deploy: wrangler.toml sets ROPEWAY_PLAN, and so does --plan");
    const isDry = flags["dry-run"];
    const say = (line: string) => console.log(line);
    const platform = isDry ? dryPlatform(runWrangler, say) : wranglerPlatform(runWrangler, directory);
    const edgeAlone = async (): Promise<Deployed> => ({ url: await platform.deploy(worker), key: null });
    const isOfBuilds = process.env.WORKERS_CI === "1";
    const all: Deployment = {
      platform,
      edge: worker,
      host,
      slots,
      newKey: flags["new-key"],
      keys: isDry ? dryKeys : keptKeys,
      slotWorkers: async (names, baseOrigin, list) =>
        writeSlotWorkers(directory, names, await builtSlotFiles(baseOrigin, list), compatibilityDate),
      plan: async (isTold) => plan ?? (isTold || hasPlan || isDry ? null : await askPlan(process)),
      say,
    };
    const { url, key } = await (isOfBuilds ? edgeAlone() : deployAll(all));
    if (isDry) console.log(`Ropeway would be at ${url}`);
    else if (key === null) sayUnknownKey(url);
    else if (isStrongAccessKey(key)) console.log(`Ropeway is ready: ${url}/#key=${key}`);
    else throw new Error(`Ropeway is not ready: its access key is easy to guess; replace it with: ${WITH_NEW_KEY}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function sayUnknownKey(url: string): void {
  console.error(`The edge has an access key that is not known here. Open ${url}/#key= followed by that key,`);
  console.error(`or replace it with: ${WITH_NEW_KEY}`);
}
