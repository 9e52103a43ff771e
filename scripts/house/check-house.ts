/**
 * Part of `npm run check`: import direction, doors of modules, lengths of functions, and
 * expressions, in all source files.
 * `--borders` prints how many names cross the border of each module, `--messages` how many kinds of messages there are,
 * `--map` writes CONTRIBUTING's map of modules.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/paths.ts";
import { houseFaults } from "./house-faults.ts";
import { messageKinds } from "./message-kinds.ts";
import { borderTable, mapFaults, moduleFaults, withMap } from "./modules.ts";
import { sourceShape } from "./source-shape.ts";

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
});
const texts = new Map(
  listed
    .split("\n")
    .filter((path) => /\.(ts|tsx|mjs)$/.test(path) && existsSync(join(root, path)))
    .map((path) => [path, readFileSync(join(root, path), "utf8")]),
);
const shapes = new Map([...texts].map(([path, text]) => [path, sourceShape(path, text)]));
if (process.argv.includes("--messages")) {
  const kinds = [...messageKinds(texts)].map(([path, each]) => [path, each.length] as const);
  for (const [path, count] of kinds) console.log(`${path} ${count}`);
  console.log(`all ${kinds.reduce((sum, [, count]) => sum + count, 0)}`);
}
if (process.argv.includes("--borders")) console.log(borderTable(shapes));
const CONTRIBUTING = join(root, "CONTRIBUTING.md");
if (process.argv.includes("--map")) writeFileSync(CONTRIBUTING, withMap(readFileSync(CONTRIBUTING, "utf8")));
const faults = [
  ...[...shapes].flatMap(([path, shape]) => houseFaults(path, shape)),
  ...moduleFaults(shapes),
  ...mapFaults(readFileSync(CONTRIBUTING, "utf8")),
];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
