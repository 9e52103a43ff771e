/** BENCHMARKS.md's tables from the results that are kept. */
import { mergeResults } from "../merge-results.ts";
import type { BenchResult } from "../model.ts";
import { readResultFile } from "../result-schema.ts";
import { updateBenchmarks } from "./markdown.ts";

/** Of `e2e/bench/results`, in this order: of a cell that several have, the last one's counts. */
export const PUBLISHED: readonly string[] = [
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
].map((name) => `${name}.json.gz`);

/**
 * Fills the blocks of a document from all results together.
 *
 * @param files of results.
 * @returns the results as one.
 * @throws Error as `readResultFile` and `updateBenchmarks` do.
 */
export async function publishTables(benchmarks: string, files: readonly string[]): Promise<BenchResult> {
  const merged = mergeResults(await Promise.all(files.map(readResultFile)));
  await updateBenchmarks(benchmarks, merged);
  return merged;
}
