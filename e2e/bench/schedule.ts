/** What the bench does in which order, and how long that takes. Pure. */
import type { Cell, ExperimentResult, Run } from "./model.ts";

/** What one run of one contestant gives. */
export type Outcome = Pick<Run, "values" | "filmstrip" | "timeline">;

export interface PlannedSeries {
  readonly contestant: string;
  /** Seconds that one run takes, roughly; only ratios matter once the bench is under way. */
  readonly estimate: number;
  /** Others of the same pair go on beyond the planned rounds if this one does. */
  readonly pair?: string;
  run(round: number): Promise<Outcome>;
}

export interface PlannedCell extends Omit<Cell, "series"> {
  /** Measured while no other cell is: what it takes is as much a matter of the processor as of its link. */
  readonly needsQuiet: boolean;
  /** Whether contestants go on beyond the planned rounds until their medians are known as precisely as the options ask. */
  readonly isPrecise?: boolean;
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

export interface Step {
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
  const left = new Map<WeightedStep["cell"], number>();
  for (const step of steps) {
    const { cell, series } = step;
    if (isDone(step)) past += series.estimate / (cell.needsQuiet ? 1 : laboratories);
    else if (cell.needsQuiet) alone += series.estimate;
    else {
      shared += series.estimate;
      left.set(cell, (left.get(cell) ?? 0) + series.estimate);
    }
  }
  // A cell stays in one laboratory.
  const future = alone + Math.max(shared / laboratories, ...left.values());
  return past === 0 ? future : future * (secondsSpent / past);
}

interface WeightedStep {
  readonly cell: Pick<PlannedCell, "needsQuiet">;
  readonly series: Pick<PlannedSeries, "estimate">;
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return result;
}
