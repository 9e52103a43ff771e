/** `npm run check`: types, lint, format, import direction, lengths of functions, unused code. Runs all, then says what failed. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { root } from "./build/paths.ts";
import { ensureBenchDependencies } from "./install/bootstrap.mjs";

interface Check {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
}

/** One program per set of globals: a service worker has no `document`, workerd no `window`. */
const programs = ["shared", "worker", "pwa-page", "pwa-worker", "test", "worker-test", "node"];

const checks: readonly Check[] = [
  { name: "lint, format, circles of imports", command: ["biome", "ci", "--error-on-warnings", "--colors=off"] },
  { name: "import direction, lengths of functions", command: ["node", "scripts/house/check-house.ts"] },
  ...programs.map(
    (name): Check => ({ name: `types: ${name}`, command: ["tsc", "--project", `tsconfig.${name}.json`] }),
  ),
  { name: "types: deno", command: ["deno", "check", "--quiet", "worker/deno/entry-deno.ts"] },
  { name: "unused code", command: ["knip", "--no-progress"] },
];

// The bench's types are looked at, too.
await ensureBenchDependencies();
const queue = [...checks];
let failed = 0;
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.exitCode = failed === 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const { code, output } = await run(check);
    if (code === 0) {
      console.log(`ok      ${check.name}`);
    } else {
      failed++;
      console.log(`failed  ${check.name}\n${output}`);
    }
  }
}

function run({ command: [program, ...args] }: Check): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", (error) => resolve({ code: 127, output: `Cannot run ${program}: ${error.message}` }));
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
