/** `npm run test:wpt`: sees to all that the public platform tests need, then hands over to e2e/wpt/run.ts. */
import { join } from "node:path";
import { answerHelp, checkArguments } from "./command-line.mjs";
import { ensureDependencies, fail, projectEnvironment, projectNode, root, run } from "./install/bootstrap.mjs";
import { ensureBrowser } from "./install/browser.mjs";
import { isInstalled } from "./install/debian-packages.mjs";

const args = process.argv.slice(2);
answerHelp("test:wpt", args);
checkArguments("test:wpt", args);
if (!isInstalled("python3")) fail("Cannot run the platform tests: their own server needs python3");
await ensureDependencies();
process.exitCode = await run(projectNode(), [join(root, "e2e", "wpt", "run.ts"), ...args], {
  env: { ...projectEnvironment(), CHROME_PATH: await ensureBrowser() },
});
