/**
 * Part of `npm run check`: import direction, doors of modules, lengths of functions, expressions, and texts of the app, in
 * all source files and catalogues of languages.
 * `--borders` prints how many names cross the border of each module, `--messages` how many kinds of messages there are,
 * `--language CODE` writes the catalogue of a language with all texts of the app.
 * `--map` writes CONTRIBUTING's map of modules.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/paths.ts";
import { houseFaults } from "./house-faults.ts";
import { appTexts, type Catalogue, catalogueFaults, completed, missingTexts } from "./languages.ts";
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
const LANGUAGES = join(root, "pwa", "languages");
const words = appTexts(texts);
const read = (code: string): Catalogue => JSON.parse(readFileSync(join(LANGUAGES, `${code}.json`), "utf8"));
const codes = readdirSync(LANGUAGES).map((name) => name.replace(/\.json$/, ""));
const wanted = process.argv[process.argv.indexOf("--language") + 1];
if (process.argv.includes("--language") && wanted !== undefined) {
  const all = completed(wanted, codes.includes(wanted) ? read(wanted) : {}, words);
  writeFileSync(join(LANGUAGES, `${wanted}.json`), `${JSON.stringify(all, null, 2)}\n`);
}
for (const code of codes) {
  const missing = missingTexts(read(code), words).length;
  if (missing > 0) console.log(`pwa/languages/${code}.json has no words yet for ${missing} texts`);
}
const faults = [
  ...codes.flatMap((code) => catalogueFaults(code, read(code), words)),
  ...[...shapes].flatMap(([path, shape]) => houseFaults(path, shape)),
  ...moduleFaults(shapes),
  ...mapFaults(readFileSync(CONTRIBUTING, "utf8")),
];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
