/** `npm run way`: sees to all that the count needs, then hands over to e2e/way/run.ts. */
import { join } from "node:path";
import { ensureDependencies, projectEnvironment, projectNode, root, run } from "./install/bootstrap.mjs";
import { ensureBrowser } from "./install/browser.mjs";

await ensureDependencies();
process.exitCode = await run(projectNode(), [join(root, "e2e", "way", "run.ts")], {
  env: { ...projectEnvironment(), CHROME_PATH: await ensureBrowser() },
});
