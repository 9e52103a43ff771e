/** Questions of the deployment to the platform. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Wrangler } from "./wrangler.ts";

/** Later deployments leave them as they are. null: there is none any more. */
export type SecretChanges = Readonly<Record<string, string | null>>;

export interface Worker {
  readonly name: string;
  /** Path of its wrangler configuration. */
  readonly config: string;
}

export interface Platform {
  /** @returns the origin where the worker is now. */
  deploy(worker: Worker): Promise<string>;
  /** Workers for pages, which differ in their names only, one after the other. @returns the origin of each. */
  deployAlike(workers: readonly Worker[], say: (line: string) => void): AsyncIterable<string>;
  secretNames(worker: Worker): Promise<readonly string[]>;
  /** All of them at once: no request sees some of them only. */
  changeSecrets(worker: Worker, changes: SecretChanges): Promise<void>;
}

/** @param directory for what is of use meanwhile. */
export function wranglerPlatform(wrangler: Wrangler, directory: string): Platform {
  const output = join(directory, "output.ndjson");
  const deploy = async ({ config }: Worker): Promise<string> => {
    await rm(output, { force: true });
    await wrangler(["deploy", `--config=${config}`], { environment: { WRANGLER_OUTPUT_FILE_PATH: output } });
    return deployedTo(await readFile(output, "utf8"));
  };
  return {
    deploy,
    async *deployAlike(workers, say) {
      for (const [index, worker] of workers.entries()) {
        say(`Host ${index + 1} of ${workers.length} for pages`);
        yield await deploy(worker);
      }
    },
    async secretNames({ config }) {
      const list = await wrangler(["secret", "list", "--format=json", `--config=${config}`], { quiet: true });
      return (JSON.parse(list) as { name: string }[]).map(({ name }) => name);
    },
    async changeSecrets({ config }, changes) {
      await wrangler(["secret", "bulk", `--config=${config}`], { input: JSON.stringify(changes) });
    },
  };
}

/** @param output of wrangler: a JSON object a line. */
function deployedTo(output: string): string {
  const deployment = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; targets?: string[] })
    .find(({ type }) => type === "deploy");
  const target = deployment?.targets?.[0];
  if (target === undefined) throw new Error("Cannot tell the worker's address: see wrangler's output above");
  return new URL(target.includes("://") ? target : `https://${target.replace(/\/.*$/, "")}`).origin;
}

/** Has wrangler pack what would be deployed, says what else would be done, and asks the platform for nothing. */
export function dryPlatform(wrangler: Wrangler, say: (line: string) => void): Platform {
  const pack = async ({ config }: Worker): Promise<void> => {
    await wrangler(["deploy", "--dry-run", `--config=${config}`]);
  };
  const originOf = ({ name }: Worker): string => `https://${name}.your-name.workers.dev`;
  return {
    async deploy(worker) {
      say(`Would deploy the worker ${worker.name}`);
      await pack(worker);
      return originOf(worker);
    },
    async *deployAlike(workers) {
      const [first] = workers;
      say(`Would deploy ${workers.length} workers for pages, ${first?.name} to ${workers.at(-1)?.name}`);
      // The others have the same files.
      if (first !== undefined) await pack(first);
      yield* workers.map(originOf);
    },
    // As at the first time.
    secretNames: () => Promise.resolve([]),
    async changeSecrets({ name }, changes) {
      for (const [secret, value] of Object.entries(changes))
        say(
          `Would ${value === null ? "delete" : "set"} the secret ${secret} of ${name}${value === null ? "" : `: ${value}`}`,
        );
    },
  };
}
