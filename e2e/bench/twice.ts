/** Two runs at once: each contestant twice in each round, so that both share whatever the machine goes through. */
import type { BenchResult } from "./model.ts";
import type { PlannedExperiment } from "./schedule.ts";

const SECOND = " (second run)";

/** The plan of both runs. */
export function planTwice(experiments: readonly PlannedExperiment[]): PlannedExperiment[] {
  return experiments.map((experiment) => ({
    ...experiment,
    cells: experiment.cells.map((cell) => ({
      ...cell,
      series: cell.series.flatMap(({ contestant, ...series }) => [
        { ...series, contestant, pair: contestant },
        { ...series, contestant: contestant + SECOND, pair: contestant },
      ]),
    })),
  }));
}

/** What came of that plan, as the two runs' results; as it is where it was no such plan. */
export function splitRuns(result: BenchResult): BenchResult[] {
  const isOfSecond = ({ contestant }: { readonly contestant: string }): boolean => contestant.endsWith(SECOND);
  const part = (second: boolean): BenchResult => ({
    ...result,
    experiments: result.experiments.map((experiment) => ({
      ...experiment,
      cells: experiment.cells.map((cell) => ({
        ...cell,
        series: cell.series
          .filter((series) => isOfSecond(series) === second)
          .map(({ contestant, ...series }) => ({ ...series, contestant: contestant.replace(SECOND, "") })),
      })),
    })),
  });
  const hasSecond = result.experiments.some(({ cells }) => cells.some(({ series }) => series.some(isOfSecond)));
  return hasSecond ? [part(false), part(true)] : [result];
}
