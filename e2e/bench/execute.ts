/** Carries a plan out: every run in order, none dropped, progress told, results kept as they come. */
import { asRunFailure } from "./failure.ts";
import type { ExperimentResult, Run } from "./model.ts";
import {
  type PlannedCell,
  type PlannedExperiment,
  type PlannedSeries,
  planSteps,
  type Step,
  secondsLeft,
  shuffled,
} from "./schedule.ts";
import { median, medianInterval } from "./statistics.ts";

export interface ExecuteOptions {
  readonly rounds: number;
  /** That contestants take at most where medians have to be precise; as many as planned where absent. */
  readonly mostRounds?: number;
  /** Part of a median by which it may be wrong there, either way, at 95 % confidence. */
  readonly precision: number;
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
 *   measured first, one by one in the first laboratory; then all laboratories take the others, the longest first. One in
 *   which a whole cell failed by the bench's own fault takes no more as long as another is there: it is broken, and
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
    for (let round = rounds + warmUpRounds; round < (options.mostRounds ?? rounds) + warmUpRounds; round += 1) {
      const rough = roughSeries(job, runs.get(job.cell), options);
      if (rough.length === 0) break;
      for (const series of shuffled(rough, random)) {
        const step = { ...job, series, round };
        steps.push(step);
        await take(step);
      }
    }
    // One after another: each writes the whole result.
    kept = kept.then(() => options.keep(resultsOf(experiments, runs, rounds)));
    await kept;
    return isBroken;
  };

  const jobs = cellsOf(steps);
  for (const job of jobs.filter(({ cell }) => cell.needsQuiet)) await measure(experiments, job);
  const others = jobs.filter(({ cell }) => !cell.needsQuiet);
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

/** Those whose median of the headline is not known as precisely as the cell asks for. One that fails always is known. */
function roughSeries(
  { experiment, cell }: CellSteps,
  runs: ReadonlyMap<string, readonly Run[]> | undefined,
  { rounds, precision }: Pick<ExecuteOptions, "rounds" | "precision">,
): PlannedSeries[] {
  if (!cell.isPrecise) return [];
  const isRough = ({ contestant }: PlannedSeries): boolean => {
    const values = (runs?.get(contestant) ?? []).flatMap(({ values }) => values[experiment.headline] ?? []);
    if (2 * values.length < rounds) return false;
    const { low, high } = medianInterval(values);
    return Math.max(high - median(values), median(values) - low) > precision * median(values);
  };
  const pairOf = ({ pair, contestant }: PlannedSeries): string => pair ?? contestant;
  const pairs = new Set(cell.series.filter(isRough).map(pairOf));
  return cell.series.filter((series) => pairs.has(pairOf(series)));
}

/** All that is done in one cell. */
interface CellSteps {
  readonly experiment: PlannedExperiment;
  readonly cell: PlannedCell;
  readonly steps: readonly Step[];
}

function cellsOf(steps: readonly Step[]): CellSteps[] {
  const byCell = Map.groupBy(steps, ({ cell }) => cell);
  return [...byCell].flatMap(([cell, ofCell]) => {
    const [first] = ofCell;
    return first === undefined ? [] : [{ experiment: first.experiment, cell, steps: ofCell }];
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
    const { values, ...pictures } = await own.run(round);
    const after = options.processorTime();
    const total = after.total - before.total;
    const busy = total > 0 ? { processorsBusy: Math.min(1, Math.max(0, (after.busy - before.busy) / total)) } : {};
    return { round: number, failure: null, values, ...busy, ...pictures };
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
      const { prepare: _, needsQuiet: __, isPrecise: ___, series, ...cell } = planned;
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
