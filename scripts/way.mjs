/** `npm run way`: sees to all that the count needs, then hands over to e2e/way/run.ts. */
import { join } from "node:path";
import { answerHelp } from "./command-line.mjs";
import { ensureDependencies, projectEnvironment, projectNode, root, run } from "./install/bootstrap.mjs";
import { ensureBrowser } from "./install/browser.mjs";

answerHelp("way", process.argv.slice(2));
await ensureDependencies();
process.exitCode = await run(projectNode(), [join(root, "e2e", "way", "run.ts")], {
  env: { ...projectEnvironment(), CHROME_PATH: await ensureBrowser() },
});
