/** `npm run bench`: sees to all that the bench needs, then hands over to e2e/bench/run.ts. */
import { join } from "node:path";
import { ensureDependencies, fail, projectEnvironment, projectNode, root, run } from "./bootstrap.mjs";
import { ensureBrowser } from "./browser.mjs";
import { ensureLabPackages, missingForLink } from "./lab-packages.mjs";

const impossible = missingForLink();
if (impossible.length > 0) fail(`Cannot run the bench: it emulates a link, which needs ${impossible.join(" and ")}`);

await ensureDependencies();
const browser = await ensureBrowser();
const missing = await ensureLabPackages();
if (missing.length > 0) fail(`Cannot run the bench: install these packages first: ${missing.join(", ")}`);

process.exitCode = await run(projectNode(), [join(root, "e2e", "bench", "run.ts"), ...process.argv.slice(2)], {
  env: { ...projectEnvironment(), CHROME_PATH: browser },
});
