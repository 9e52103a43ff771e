/**
 * What the bench does in which order, and how it is carried out: every run in order, none dropped, progress told, results
 * kept as they come.
 */
import { asRunFailure } from "./failure.ts";
import type { Cell, ExperimentResult, Run } from "./model.ts";

/** What one run of one contestant gives. */
export type Outcome = Pick<Run, "values">;

export interface PlannedSeries {
  readonly contestant: string;
  /** Seconds that one run takes, roughly; only ratios matter once the bench is under way. */
  readonly estimate: number;
  run(round: number): Promise<Outcome>;
}

export interface PlannedCell extends Omit<Cell, "series"> {
  /** Measured while no other cell is: what it takes is as much a matter of the processor as of its link. */
  readonly needsQuiet: boolean;
  /** Sets the link and whatever else all contestants share in a round; called before each run. */
  prepare(round: number): Promise<void>;
  readonly series: readonly PlannedSeries[];
}

/** Milliseconds one way from which waiting for the link, not the processor, is what takes a contestant's time. */
const LONG_DELAY = 100;

export function needsQuiet({ delay }: { readonly delay: number }): boolean {
  return delay < LONG_DELAY;
}

export interface PlannedExperiment extends Omit<ExperimentResult, "cells"> {
  readonly cells: readonly PlannedCell[];
}

interface Step {
  readonly experiment: PlannedExperiment;
  readonly cell: PlannedCell;
  readonly series: PlannedSeries;
  /** From 0; those below `warmUpRounds` are thrown away. */
  readonly round: number;
}

/**
 * All runs in order: cell by cell, and in a cell round by round, so that contestants share whatever the machine goes
 * through. Within a round their order is shuffled, so that none always follows the same other.
 *
 * @param random numbers from 0 to 1, seeded.
 */
export function planSteps(
  experiments: readonly PlannedExperiment[],
  rounds: number,
  warmUpRounds: number,
  random: () => number,
): Step[] {
  const steps: Step[] = [];
  for (const experiment of experiments) {
    for (const cell of experiment.cells) {
      for (let round = 0; round < rounds + warmUpRounds; round++) {
        for (const series of shuffled(cell.series, random)) steps.push({ experiment, cell, series, round });
      }
    }
  }
  return steps;
}

/**
 * Seconds until the end, from what is done: estimates, corrected by how they turned out so far.
 *
 * @param laboratories that share the cells which need no quiet.
 */
export function secondsLeft(
  steps: readonly WeightedStep[],
  isDone: (step: WeightedStep) => boolean,
  secondsSpent: number,
  laboratories = 1,
): number {
  let [past, alone, shared] = [0, 0, 0];
  for (const step of steps) {
    const { cell, series } = step;
    if (isDone(step)) past += series.estimate / (cell.needsQuiet ? 1 : laboratories);
    else if (cell.needsQuiet) alone += series.estimate;
    else shared += series.estimate;
  }
  const future = alone + shared / laboratories;
  return past === 0 ? future : future * (secondsSpent / past);
}

interface WeightedStep {
  readonly cell: Pick<PlannedCell, "needsQuiet">;
  readonly series: Pick<PlannedSeries, "estimate">;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return result;
}

export interface ExecuteOptions {
  readonly rounds: number;
  /** Thrown away. */
  readonly warmUpRounds: number;
  /** From 0 to 1, seeded. */
  readonly random: () => number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds since some moment that the machine's processors worked, and that they might have. */
  readonly processorTime: () => ProcessorTime;
  /** A line for the person who waits. */
  readonly tell: (line: string) => void;
  /** Results so far, after each cell. */
  readonly keep: (results: readonly ExperimentResult[]) => Promise<void>;
}

export interface ProcessorTime {
  readonly busy: number;
  readonly total: number;
}

/** By cell and contestant. */
type Runs = Map<PlannedCell, Map<string, Run[]>>;

/**
 * @param laboratories the same plan as each laboratory would carry it out, one or more. Cells that need quiet are
 *   measured first, one by one in the first laboratory; then all laboratories take the others, the longest first, and where
 *   there is no warm-up one may take one round of a cell, another the next. One in which a whole job failed by the bench's own fault takes no more as long as another is there: it is broken, and
 *   would run through all that is left.
 */
export async function execute(
  laboratories: readonly (readonly PlannedExperiment[])[],
  options: ExecuteOptions,
): Promise<ExperimentResult[]> {
  const [experiments = []] = laboratories;
  const { rounds, warmUpRounds, random } = options;
  const steps = planSteps(experiments, rounds, warmUpRounds, random);
  const runs: Runs = new Map();
  const done = new Set<unknown>();
  const start = options.now();
  let kept: Promise<void> = Promise.resolve();

  /** @returns whether the bench itself was to blame for every run. */
  const measure = async (plan: readonly PlannedExperiment[], job: CellSteps): Promise<boolean> => {
    const cell = sameCell(plan, job);
    let isBroken = true;
    const take = async (step: Step): Promise<void> => {
      const run = await runStep(cell, step, options);
      isBroken &&= run.failure?.blame === "harness";
      if (step.round >= warmUpRounds) add(runs, step, run);
      done.add(step);
      const left = secondsLeft(steps, (each) => done.has(each), (options.now() - start) / 1000, laboratories.length);
      options.tell(progressLine(step, run, done.size, steps.length, left));
    };
    for (const step of job.steps) await take(step);
    // One after another: each writes the whole result.
    kept = kept.then(() => options.keep(resultsOf(experiments, runs, rounds)));
    await kept;
    return isBroken;
  };

  const isQuiet = ({ cell }: Step): boolean => cell.needsQuiet;
  for (const job of jobsOf(steps.filter(isQuiet), ({ cell }) => cell)) await measure(experiments, job);
  // What no round leaves for the next can be in different laboratories.
  const isApart = laboratories.length > 1 && warmUpRounds === 0;
  const others = jobsOf(
    steps.filter((step) => !isQuiet(step)),
    ({ experiment, cell, round }) => (isApart ? `${experiment.id} ${cell.id} ${round}` : cell),
  );
  // With one laboratory the order of the plan is easier to follow.
  if (laboratories.length > 1) others.sort((a, b) => estimateOf(b) - estimateOf(a));
  let working = laboratories.length;
  const ends = await Promise.allSettled(
    laboratories.map(async (plan) => {
      for (let job = others.shift(); job !== undefined; job = others.shift()) {
        const isBroken = await measure(plan, job);
        if (isBroken && working > 1) {
          working -= 1;
          return;
        }
      }
    }),
  );
  // Not before all have come to rest: who called closes the laboratories.
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return resultsOf(experiments, runs, rounds);
}

/** What one laboratory does in one cell: all of it, or a round. */
interface CellSteps {
  readonly experiment: PlannedExperiment;
  readonly cell: PlannedCell;
  readonly steps: readonly Step[];
}

function jobsOf(steps: readonly Step[], key: (step: Step) => unknown): CellSteps[] {
  return [...Map.groupBy(steps, key).values()].flatMap((together) => {
    const [first] = together;
    return first === undefined ? [] : [{ experiment: first.experiment, cell: first.cell, steps: together }];
  });
}

function estimateOf({ steps }: CellSteps): number {
  return steps.reduce((sum, { series }) => sum + series.estimate, 0);
}

/** The same cell of another laboratory's plan. */
function sameCell(plan: readonly PlannedExperiment[], { experiment, cell }: CellSteps): PlannedCell {
  const found = plan.find(({ id }) => id === experiment.id)?.cells.find(({ id }) => id === cell.id);
  if (found === undefined)
    throw new Error(`Cannot run the bench: a laboratory has no cell ${experiment.id} ${cell.id}`);
  return found;
}

function add(runs: Runs, { cell, series: { contestant } }: Step, run: Run): void {
  const ofCell = runs.get(cell) ?? new Map<string, Run[]>();
  runs.set(cell, ofCell.set(contestant, [...(ofCell.get(contestant) ?? []), run]));
}

async function runStep(cell: PlannedCell, { series, round }: Step, options: ExecuteOptions): Promise<Run> {
  const number = round - options.warmUpRounds + 1;
  const before = options.processorTime();
  try {
    const own = cell.series.find(({ contestant }) => contestant === series.contestant);
    if (own === undefined) throw new Error(`a laboratory has no contestant ${series.contestant} in ${cell.id}`);
    await cell.prepare(round);
    const { values } = await own.run(round);
    const after = options.processorTime();
    const total = after.total - before.total;
    const busy = total > 0 ? { processorsBusy: Math.min(1, Math.max(0, (after.busy - before.busy) / total)) } : {};
    return { round: number, failure: null, values, ...busy };
  } catch (error) {
    return { round: number, values: {}, failure: asRunFailure(error) };
  }
}

function resultsOf(experiments: readonly PlannedExperiment[], runs: Runs, rounds: number): ExperimentResult[] {
  return experiments.flatMap((experiment) => {
    const cells = experiment.cells.flatMap((planned) => {
      const ofCell = runs.get(planned);
      // Another laboratory may be in the middle of it.
      const isWhole = planned.series.every(({ contestant }) => (ofCell?.get(contestant)?.length ?? 0) >= rounds);
      if (ofCell === undefined || !isWhole) return [];
      const { prepare: _, needsQuiet: __, series, ...cell } = planned;
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
