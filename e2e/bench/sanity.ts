/** What must hold of any result, however fast or slow the machine: used where the bench itself is tested. */
import type { BenchResult, Cell, ExperimentResult, Metric } from "./model.ts";

/**
 * What is wrong with a result, in plain words; nothing where it can be believed.
 *
 * @param ids of the experiments that it must have.
 */
export function sanityFaults({ experiments, rounds }: BenchResult, ids: readonly string[]): string[] {
  const missing = ids.filter((id) => !experiments.some((experiment) => experiment.id === id));
  const faults = experiments.flatMap((experiment) => {
    const runs = experiment.cells.flatMap(({ series }) => series.flatMap((one) => one.runs));
    const isAbout = runs.some(({ values }) => values[experiment.headline] !== undefined);
    return [
      ...(isAbout ? [] : [`${experiment.id}: no run has ${experiment.headline}`]),
      ...experiment.cells.flatMap((cell) =>
        cellFaults(experiment, cell, rounds).map((fault) => `${experiment.id} ${cell.id}: ${fault}`),
      ),
    ];
  });
  return [...missing.map((id) => `${id}: no cell of it was measured`), ...faults];
}

function cellFaults({ metrics }: ExperimentResult, cell: Cell, rounds: number): string[] {
  if (cell.series.length === 0) return ["no contestant"];
  return cell.series.flatMap(({ contestant, runs }) => {
    const faults = runs.length === rounds ? [] : [`${runs.length} runs in place of ${rounds}`];
    for (const { values, failure } of runs) {
      if (failure !== null) {
        faults.push(`${failure.blame} failed: ${failure.message}`);
        continue;
      }
      if (Object.keys(values).length === 0) faults.push("a run without values");
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
