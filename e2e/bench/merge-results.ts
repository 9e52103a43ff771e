/** Results of runs that shared experiments, or the cells of one, between them. */
import type { BenchResult, Cell, ExperimentResult } from "./model.ts";

/**
 * One result of several: all experiments in the order of their ids, each with all cells that any run has. A cell that
 * several have is the last one's, and each says the version of Ropeway that it was measured at. All else, such as
 * machine, versions and settings, is that of the run begun last.
 *
 * @throws RangeError without a result.
 */
export function mergeResults(results: readonly BenchResult[]): BenchResult {
  const [last] = results.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  if (last === undefined) throw new RangeError("Cannot merge results: there is none");
  const known = new Map<string, ExperimentResult>();
  for (const experiment of results.flatMap(withVersions)) {
    const cells = new Map<string, Cell>();
    for (const cell of [...(known.get(experiment.id)?.cells ?? []), ...experiment.cells]) cells.set(cell.id, cell);
    known.set(experiment.id, { ...experiment, cells: [...cells.values()] });
  }
  return { ...last, experiments: [...known.values()].sort((one, other) => (one.id < other.id ? -1 : 1)) };
}

function withVersions({ experiments, versions: { ropeway } }: BenchResult): ExperimentResult[] {
  if (ropeway === undefined) return [...experiments];
  return experiments.map((experiment) => ({
    ...experiment,
    cells: experiment.cells.map((cell) => ({ ropeway, ...cell })),
  }));
}
