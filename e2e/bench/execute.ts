/** Carries a plan out: every run in order, none dropped, progress told, results kept as they come. */
import { asRunFailure } from "./failure.ts";
import type { ExperimentResult, Run } from "./model.ts";
import { type PlannedExperiment, planSteps, type Step, secondsLeft } from "./schedule.ts";

export interface ExecuteOptions {
  readonly rounds: number;
  /** Thrown away. */
  readonly warmUpRounds: number;
  /** From 0 to 1, seeded. */
  readonly random: () => number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** A line for the person who waits. */
  readonly tell: (line: string) => void;
  /** Results so far, after each cell. */
  readonly keep: (results: readonly ExperimentResult[]) => Promise<void>;
}

/** By cell and contestant. */
type Runs = Map<Step["cell"], Map<string, Run[]>>;

export async function execute(
  experiments: readonly PlannedExperiment[],
  options: ExecuteOptions,
): Promise<ExperimentResult[]> {
  const steps = planSteps(experiments, options.rounds, options.warmUpRounds, options.random);
  const runs: Runs = new Map();
  const start = options.now();
  for (const [index, step] of steps.entries()) {
    const run = await runStep(step, options);
    if (step.round >= options.warmUpRounds) add(runs, step, run);
    const left = secondsLeft(steps, index + 1, (options.now() - start) / 1000);
    options.tell(progressLine(step, run, index + 1, steps.length, left));
    if (steps[index + 1]?.cell !== step.cell) await options.keep(resultsOf(experiments, runs));
  }
  return resultsOf(experiments, runs);
}

function add(runs: Runs, { cell, series: { contestant } }: Step, run: Run): void {
  const ofCell = runs.get(cell) ?? new Map<string, Run[]>();
  runs.set(cell, ofCell.set(contestant, [...(ofCell.get(contestant) ?? []), run]));
}

async function runStep({ cell, series, round }: Step, { warmUpRounds }: ExecuteOptions): Promise<Run> {
  const number = round - warmUpRounds + 1;
  try {
    await cell.prepare();
    return { round: number, failure: null, ...(await series.run(round)) };
  } catch (error) {
    return { round: number, values: {}, failure: asRunFailure(error) };
  }
}

function resultsOf(experiments: readonly PlannedExperiment[], runs: Runs): ExperimentResult[] {
  return experiments.flatMap((experiment) => {
    const cells = experiment.cells.flatMap((planned) => {
      const ofCell = runs.get(planned);
      if (ofCell === undefined) return [];
      const { prepare: _, series, ...cell } = planned;
      return [
        { ...cell, series: series.map(({ contestant }) => ({ contestant, runs: ofCell.get(contestant) ?? [] })) },
      ];
    });
    return cells.length > 0 ? [{ ...experiment, cells }] : [];
  });
}

function progressLine(step: Step, run: Run, done: number, total: number, left: number): string {
  const { experiment, cell, series } = step;
  const measured = experiment.metrics.filter(({ name }) => run.values[name] !== undefined);
  const metric = measured.find(({ name }) => name === experiment.headline) ?? measured[0];
  const value = metric && run.values[metric.name];
  const outcome = run.failure
    ? `FAILED (${run.failure.blame}): ${run.failure.message.split("\n")[0]}`
    : `${metric?.label ?? experiment.headline} ${value === undefined ? "?" : format(value)} ${metric?.unit ?? ""}`;
  const round = run.round < 1 ? "warm-up" : `round ${run.round}`;
  return `[${done}/${total}] ${experiment.id} ${cell.id}, ${series.contestant}, ${round}: ${outcome}; ${duration(left)} left`;
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Seconds as a person says them. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
