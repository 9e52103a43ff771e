/** BENCHMARKS.md's tables from the results that are kept. */
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { mergeResults } from "../merge-results.ts";
import type { BenchResult } from "../model.ts";
import { readResult } from "../result-schema.ts";
import { compareRuns, comparisonTable } from "./compare.ts";
import { blockIds, replaceBlock, type SourceResult, updateBenchmarks } from "./markdown.ts";

/** Of `e2e/bench/results`, in this order: of a cell that several have, the last one's counts. */
export const PUBLISHED: readonly string[] = [
  // Most of its cells were measured again; its agreement is that of all delays at once.
  "seed-a-25-rounds",
  "seed-a",
  "seed-a-150",
  "seed-a-5",
  "seed-a-3g",
  "seed-b",
  "seed-c",
  "seed-c-0",
  "seed-c-100",
  "seed-c-more",
  "seed-c-recorded",
  "seed-d",
  "seed-d-hour",
  "seed-f",
  "seed-l",
  "seed-o",
  "seed-r",
  "seed-r-3g",
  "seed-r-lte",
  "seed-r-lte-more",
  "seed-r-sat",
  "seed-r-sat-more",
  "seed-r-next-day",
  "seed-r-next-day-more",
].map((name) => `${name}.json`);

/**
 * Fills the blocks of a document: those of `updateBenchmarks` from all results together, and for each result NAME.json
 * with a second run NAME-again.json the block `NAME/agreement`, if there is one.
 *
 * @param files of results.
 * @returns the results as one.
 * @throws Error as `readResult` and `updateBenchmarks` do.
 */
export async function publishTables(benchmarks: string, files: readonly string[]): Promise<BenchResult> {
  const results = await Promise.all(files.map(read));
  const merged = mergeResults(results);
  await updateBenchmarks(benchmarks, merged, sourcesOf(files, results, merged));
  for (const [index, file] of files.entries()) {
    const first = results[index];
    const id = `${basename(file, ".json")}/agreement`;
    const text = await readFile(benchmarks, "utf8");
    if (first === undefined || !blockIds(text, benchmarks).includes(id)) continue;
    const second = await read(secondRunOf(file));
    await writeFile(benchmarks, replaceBlock(text, id, comparisonTable(compareRuns(first, second))));
  }
  return merged;
}

/** Where the second of two runs at once is kept. */
export function secondRunOf(file: string): string {
  return file.replace(/\.json$/, "-again.json");
}

/** What of each result is among what was merged. */
function sourcesOf(files: readonly string[], results: readonly BenchResult[], merged: BenchResult): SourceResult[] {
  const used = new Set(merged.experiments.flatMap(({ cells }) => cells));
  return results.flatMap((result, index) => {
    const experiments = result.experiments
      .map((experiment) => ({ ...experiment, cells: experiment.cells.filter((cell) => used.has(cell)) }))
      .filter(({ cells }) => cells.length > 0);
    return experiments.length === 0 ? [] : [{ name: basename(files[index] ?? ""), result: { ...result, experiments } }];
  });
}

async function read(file: string): Promise<BenchResult> {
  return readResult(await readFile(file, "utf8"));
}
