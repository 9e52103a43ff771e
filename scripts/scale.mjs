/** `npm run scale`: sees to all that the experiments need, then hands over to e2e/scale/run.ts. */
import { join } from "node:path";
import {
  ensureBenchDependencies,
  ensureDependencies,
  fail,
  projectEnvironment,
  projectNode,
  root,
  run,
} from "./install/bootstrap.mjs";
import { ensureLabPackages, missingForLink } from "./install/lab-packages.mjs";

const args = process.argv.slice(2);

if (args.includes("idle")) {
  const impossible = missingForLink();
  if (impossible.length > 0) fail(`Cannot idle: it emulates a link, which needs ${impossible.join(" and ")}`);
  const missing = await ensureLabPackages();
  if (missing.length > 0) fail(`Cannot idle: install these packages first: ${missing.join(", ")}`);
} else if (process.platform !== "linux") {
  fail("Cannot measure scale: it reads /proc, which only Linux has");
}

await ensureDependencies();
// It draws as the bench does.
await ensureBenchDependencies();
process.exitCode = await run(projectNode(), [join(root, "e2e", "scale", "run.ts"), ...args], {
  env: projectEnvironment(),
});
