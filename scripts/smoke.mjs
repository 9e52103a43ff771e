/** `npm run smoke`: sees to the packages, then hands over to scripts/smoke.ts. */
import { join } from "node:path";
import { ensureDependencies, projectNode, root, run } from "./install/bootstrap.mjs";

await ensureDependencies(root, { dev: false });
process.exitCode = await run(projectNode(), [join(root, "scripts", "smoke.ts"), ...process.argv.slice(2)]);
