/**
 * Part of `npm run check`: import direction, doors of modules, lengths of functions, and
 * expressions, in all source files.
 * `--borders` prints how many names cross the border of each module.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/paths.ts";
import { houseFaults } from "./house-faults.ts";
import { borderTable, moduleFaults } from "./modules.ts";
import { sourceShape } from "./source-shape.ts";

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
});
const shapes = new Map(
  listed
    .split("\n")
    .filter((path) => /\.(ts|tsx|mjs)$/.test(path) && existsSync(join(root, path)))
    .map((path) => [path, sourceShape(path, readFileSync(join(root, path), "utf8"))]),
);
if (process.argv.includes("--borders")) console.log(borderTable(shapes));
const faults = [...[...shapes].flatMap(([path, shape]) => houseFaults(path, shape)), ...moduleFaults(shapes)];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
