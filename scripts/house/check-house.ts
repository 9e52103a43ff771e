/** Part of `npm run check`: import direction, lengths of functions, and expressions, in all source files. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/paths.ts";
import { houseFaults } from "./house-faults.ts";
import { sourceShape } from "./source-shape.ts";

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
});
const faults = listed
  .split("\n")
  .filter((path) => /\.(ts|tsx|mjs)$/.test(path) && existsSync(join(root, path)))
  .flatMap((path) => houseFaults(path, sourceShape(path, readFileSync(join(root, path), "utf8"))));
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
