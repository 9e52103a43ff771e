/** Runs wrangler, which acts for the account that it is signed in to. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { isPackage, root } from "../build/paths.ts";

export interface WranglerRun {
  /** Written to its standard input. */
  readonly input?: string;
  /** Keeps its standard output from the person. */
  readonly quiet?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * @returns what it wrote to its standard output, if quiet.
 * @throws Error where it fails; it has told the person why.
 */
export type Wrangler = (args: readonly string[], run?: WranglerRun) => Promise<string>;

export const runWrangler: Wrangler = (args, { input, quiet = false, environment } = {}) => {
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
};
