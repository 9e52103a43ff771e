/** What must hold of any result, however fast or slow the machine: used where the bench itself is tested. */
import { type BenchResult, type Cell, type ExperimentResult, type Metric, roundsText } from "./model.ts";
import { partsOf } from "./report/analysis.ts";

/**
 * What is wrong with a result, in plain words; nothing where it can be believed.
 *
 * @param ids of the experiments that it must have.
 */
export function sanityFaults(
  { experiments, rounds, mostRounds = rounds }: BenchResult,
  ids: readonly string[],
): string[] {
  const missing = ids.filter((id) => !experiments.some((experiment) => experiment.id === id));
  const faults = experiments.flatMap((experiment) => {
    const parts = partsOf(experiment);
    const isAbout = parts.some(({ headline }) => headline === experiment.headline);
    return [
      ...(isAbout ? [] : [`${experiment.id}: no run has ${experiment.headline}`]),
      ...parts.flatMap((part) =>
        part.cells.flatMap((cell) =>
          cellFaults(part, cell, { rounds, mostRounds }).map((fault) => `${experiment.id} ${cell.id}: ${fault}`),
        ),
      ),
    ];
  });
  return [...missing.map((id) => `${id}: no cell of it was measured`), ...faults];
}

function cellFaults(
  { metrics, headline }: ExperimentResult,
  cell: Cell,
  { rounds, mostRounds }: Required<Pick<BenchResult, "rounds" | "mostRounds">>,
): string[] {
  if (cell.series.length === 0) return ["no contestant"];
  return cell.series.flatMap(({ contestant, runs }) => {
    const isComplete = runs.length >= rounds && runs.length <= mostRounds;
    const faults = isComplete ? [] : [`${runs.length} runs in place of ${roundsText({ rounds, mostRounds })}`];
    for (const { values, failure } of runs) {
      if (failure !== null) {
        faults.push(`${failure.blame} failed: ${failure.message}`);
        continue;
      }
      if (Object.keys(values).length === 0) faults.push("a run without values");
      if (values[headline] === undefined) faults.push(`no ${headline}`);
      for (const [name, value] of Object.entries(values)) {
        const fault = valueFault(name, value, cell.floor[name], metrics);
        if (fault !== null) faults.push(fault);
      }
    }
    return faults.map((fault) => `${contestant}: ${fault}`);
  });
}

function valueFault(name: string, value: number, floor: number | undefined, metrics: readonly Metric[]): string | null {
  if (!Number.isFinite(value) || value < 0) return `${name} is ${value}`;
  const metric = metrics.find((each) => each.name === name);
  // Visits give more than every experiment is about.
  if (metric === undefined || floor === undefined) return null;
  const isHigherBetter = metric.better === "higher";
  if (isHigherBetter ? value <= floor : value >= floor) return null;
  return `${name} is ${value}, which is ${isHigherBetter ? "above" : "below"} what is possible, ${floor}`;
}
