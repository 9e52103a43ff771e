/** What the bench does in which order, and how long that takes. Pure. */
import type { Cell, ExperimentResult, Run } from "./model.ts";

/** What one run of one contestant gives. */
export type Outcome = Pick<Run, "values" | "filmstrip" | "timeline">;

export interface PlannedSeries {
  readonly contestant: string;
  /** Seconds that one run takes, roughly; only ratios matter once the bench is under way. */
  readonly estimate: number;
  run(round: number): Promise<Outcome>;
}

export interface PlannedCell extends Omit<Cell, "series"> {
  /** Sets the link and whatever else all contestants share; called before each round. */
  prepare(): Promise<void>;
  readonly series: readonly PlannedSeries[];
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

/** Seconds until the end, from what is done: estimates, corrected by how they turned out so far. */
export function secondsLeft(steps: readonly Pick<Step, "series">[], done: number, secondsSpent: number): number {
  const estimated = (part: readonly Pick<Step, "series">[]): number =>
    part.reduce((sum, { series }) => sum + series.estimate, 0);
  const past = estimated(steps.slice(0, done));
  const factor = past === 0 ? 1 : secondsSpent / past;
  return estimated(steps.slice(done)) * factor;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return result;
}
