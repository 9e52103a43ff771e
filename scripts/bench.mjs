/** `npm run bench`: sees to all that the bench needs, then hands over to e2e/bench/run.ts. */
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
import { ensureBrowser } from "./install/browser.mjs";
import { ensureLabPackages, missingForLink, withoutLink } from "./install/lab-packages.mjs";

/** With one of these it measures nothing. */
const WITHOUT_LINK = ["--help", "-h", "--publish", "--plan"];

const given = process.argv.slice(2);
const needsLink = !given.some((argument) => WITHOUT_LINK.includes(argument));
const impossible = needsLink ? missingForLink() : [];
if (impossible.length > 0) fail(withoutLink(impossible));

await ensureDependencies();
await ensureBenchDependencies();
const browser = needsLink ? { CHROME_PATH: await ensureBrowser() } : {};
const missing = needsLink ? await ensureLabPackages() : [];
if (missing.length > 0) fail(`Cannot run the bench: install these packages first: ${missing.join(", ")}`);

process.exitCode = await run(projectNode(), [join(root, "e2e", "bench", "run.ts"), ...given], {
  env: { ...projectEnvironment(), ...browser },
});
