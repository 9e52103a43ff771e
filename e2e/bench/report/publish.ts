/** Documents that say what was measured, between markers: `<!-- bench:NAME -->…<!-- /bench -->`. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { root } from "../../../scripts/build/paths.ts";
import { PIECES, resultFile } from "../all.ts";
import { type MergedResults, readExperiments } from "../results.ts";
import { PICTURE_FILES, pictureOf } from "./pictures.ts";
import { blockText } from "./tables.ts";

export const RESULTS = join(import.meta.dirname, "..", "results");

const DOCUMENTS = ["README.md", "BENCHMARKS.md", "docs/papers.md"].map((name) => join(root, name));
const PICTURES = join(root, "docs", "bench");

const BLOCK = /<!-- bench:([\w-]+) -->[\s\S]*?<!-- \/bench -->/g;

/** Files as they have to be for the results that are kept, by their paths. */
export async function published(): Promise<ReadonlyMap<string, string>> {
  const results = await readExperiments(PIECES.map((piece) => resultFile(RESULTS, piece)));
  const files = new Map<string, string>();
  for (const path of DOCUMENTS) files.set(path, filled(await readFile(path, "utf8"), results));
  for (const file of PICTURE_FILES) {
    const svg = pictureOf(file, results);
    if (svg !== null) files.set(join(PICTURES, file), svg);
  }
  return files;
}

/** @throws Error where a marker stands for nothing, or has no end. */
export function filled(text: string, results: MergedResults): string {
  const starts = [...text.matchAll(/<!-- bench:/g)].length;
  if ([...text.matchAll(BLOCK)].length !== starts || [...text.matchAll(/<!-- \/bench -->/g)].length !== starts)
    throw new Error("Cannot publish: a marker of the bench has no end, or there is an end too many");
  return text.replaceAll(
    BLOCK,
    (_, name: string) => `<!-- bench:${name} -->${blockText(name, results)}<!-- /bench -->`,
  );
}

export async function publish(tell: (line: string) => void): Promise<void> {
  for (const [path, content] of await published()) {
    if ((await readFile(path, "utf8").catch(() => "")) === content) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    tell(`Written: ${relative(process.cwd(), path)}`);
  }
}
