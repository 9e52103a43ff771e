/** `npm start`: sees to the packages, then hands over to scripts/serve.ts. `--deno` runs the edge on Deno. */
import { join } from "node:path";
import { ensureDependencies, projectNode, root, run } from "./install/bootstrap.mjs";

// The edge on Deno needs Deno, which the tests need too.
await ensureDependencies(root, { dev: process.argv.includes("--deno") });
process.exitCode = await run(projectNode(), [join(root, "scripts", "serve.ts"), ...process.argv.slice(2)]);
