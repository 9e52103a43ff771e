/** Files of results. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { BenchResult } from "./model.ts";

/** @throws Error "Cannot read PATH: …" when the bench of now has not written it. */
export async function readResult(path: string): Promise<BenchResult> {
  const content = await readFile(path);
  const result = JSON.parse(String(path.endsWith(".gz") ? gunzipSync(content) : content)) as BenchResult;
  if (result.schema !== 2) throw new Error(`Cannot read ${path}: it is of another form than the bench writes now`);
  return result;
}

/** Writes the result as a whole or not at all, and makes its directory; compressed where the path ends on `.gz`. */
export async function writeResult(path: string, result: BenchResult): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const text = `${JSON.stringify(result, null, 1)}\n`;
  await writeFile(`${path}.partial`, path.endsWith(".gz") ? gzipSync(text, { level: 9 }) : text);
  await rename(`${path}.partial`, path);
}

/**
 * What runs had of each experiment, as one: all cells, of one that two runs had the contestants of both. Of a contestant that
 * both had, the later run counts.
 */
export async function readExperiments(paths: readonly string[]): Promise<MergedResults> {
  const runs = await Promise.all(paths.filter(existsSync).map(readResult));
  return mergeResults(runs.toSorted((one, other) => one.startedAt.localeCompare(other.startedAt)));
}

type Experiment = BenchResult["experiments"][number];

/** By the experiment's id. */
export type MergedResults = ReadonlyMap<string, Experiment & { readonly runs: readonly BenchResult[] }>;

/** @param runs the earliest first. */
export function mergeResults(runs: readonly BenchResult[]): MergedResults {
  const merged = new Map<string, Experiment & { readonly runs: readonly BenchResult[] }>();
  for (const run of runs) {
    for (const experiment of run.experiments) {
      const known = merged.get(experiment.id);
      const cells = new Map((known?.cells ?? []).map((cell) => [cell.id, cell]));
      for (const cell of experiment.cells) {
        const others = (cells.get(cell.id)?.series ?? []).filter(
          ({ contestant }) => !cell.series.some((series) => series.contestant === contestant),
        );
        cells.set(cell.id, { ...cell, series: [...others, ...cell.series] });
      }
      merged.set(experiment.id, { ...experiment, cells: [...cells.values()], runs: [...(known?.runs ?? []), run] });
    }
  }
  return merged;
}
