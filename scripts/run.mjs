/**
 * `npm start`, `npm run smoke`, `deploy` and `package`: say what they take where `--help` asks for it, see to the packages,
 * then hand over to their script, which needs the Node of package.json.
 */
import { join } from "node:path";
import { answerHelp, checkArguments } from "./command-line.mjs";
import { ensureDependencies, fail, projectNode, root, run } from "./install/bootstrap.mjs";

/** @type {Readonly<Record<string, { script: string, needsDev: (args: readonly string[]) => boolean }>>} */
const SCRIPTS = {
  // Deno is of use to the tests, too.
  start: { script: "serve.ts", needsDev: (args) => args.includes("--deno") },
  smoke: { script: "smoke.ts", needsDev: () => false },
  // wrangler
  deploy: { script: "deploy.ts", needsDev: () => true },
  package: { script: "package.ts", needsDev: () => false },
};

const [name = "", ...args] = process.argv.slice(2);
const command = SCRIPTS[name] ?? fail(`Cannot run ${name}: there are ${Object.keys(SCRIPTS).join(", ")}`);
answerHelp(name, args);
checkArguments(name, args);
await ensureDependencies(root, { dev: command.needsDev(args) });
process.exitCode = await run(projectNode(), [join(root, "scripts", command.script), ...args]);
