/**
 * `npm run deploy`: builds, deploys to the Cloudflare account that wrangler is signed in to, sees to the access key and
 * prints the link that pairs a phone. `npm run deploy -- --new-key` replaces the key, which unpairs all phones;
 * `--dry-run` only shows what would be done; `--host` and `--zone` stand in for what one would write into wrangler.toml.
 * Without a host of one's own the edge is at workers.dev, and pages get `--slots` hosts beside it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isStrongAccessKey } from "../shared/access-key.ts";
import { isPackage } from "./build/paths.ts";
import { COMMANDS, readArguments } from "./command-line.mjs";
import { writeDeployConfig } from "./deploy/deploy-config.ts";
import { type AccessKeys, deployAll } from "./deploy/deployment.ts";
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
  const directory = await mkdtemp(join(tmpdir(), "ropeway-"));
  try {
    const { host, worker, compatibilityDate } = await writeDeployConfig(directory, flags);
    const isDry = flags["dry-run"];
    const say = (line: string) => console.log(line);
    const { url, key } = await deployAll({
      platform: isDry ? dryPlatform(runWrangler, say) : wranglerPlatform(runWrangler, directory),
      edge: worker,
      host,
      slots,
      newKey: flags["new-key"],
      keys: isDry ? dryKeys : keptKeys,
      slotWorkers: async (names, baseOrigin, list) =>
        writeSlotWorkers(directory, names, await builtSlotFiles(baseOrigin, list), compatibilityDate),
      say,
    });
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
