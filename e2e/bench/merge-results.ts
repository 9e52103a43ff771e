/** Results of runs that shared the cells of an experiment between them, as when processes ran side by side. */
import type { BenchResult, Cell, ExperimentResult } from "./model.ts";

/**
 * Each result with the cells that those before it have of its experiments. A cell that several have is the last one's.
 */
export function withEarlierCells(results: readonly BenchResult[]): BenchResult[] {
  const known = new Map<string, ExperimentResult>();
  return results.map((result) => ({
    ...result,
    experiments: result.experiments.map((experiment) => {
      const cells = new Map<string, Cell>();
      for (const cell of [...(known.get(experiment.id)?.cells ?? []), ...experiment.cells]) cells.set(cell.id, cell);
      const merged = { ...experiment, cells: [...cells.values()] };
      known.set(experiment.id, merged);
      return merged;
    }),
  }));
}
