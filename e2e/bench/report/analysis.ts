/** What the runs of a result come to: summaries, comparisons with the best direct contestant, failures. */

import { hasFixedChannels } from "../contestants/ropeway-contestant.ts";
import type { Cell, ExperimentResult, Metric, Run, RunFailure, Series } from "../model.ts";
import { bootstrapRatio, geometricMean, type Interval, median, type Summary, summarize } from "../statistics.ts";
import { isOurs } from "./contestant-look.ts";

/** One of ours against the best direct contestant of its cell. */
export interface Comparison {
  readonly cell: Cell;
  readonly contestant: string;
  /** Null where none of our runs succeeded. */
  readonly ours: number | null;
  readonly best: { readonly contestant: string; readonly median: number };
  /**
   * Below 1 we are better: ours over best direct, or the other way round for metrics of which more is better. Null
   * where there is none, as over zero.
   */
  readonly ratio: number | null;
  readonly interval: Interval | null;
  /** Above 1.0 once rounded to two digits, or no run of ours succeeded. */
  readonly behind: boolean;
}

export interface ContestantFailures {
  readonly contestant: string;
  readonly cell: Cell;
  readonly blame: RunFailure["blame"];
  readonly message: string;
  readonly rounds: readonly number[];
}

export interface RunCount {
  readonly runs: number;
  readonly failedByHarness: number;
  readonly failedByContestant: number;
}

export function headlineMetric({ id, headline, metrics }: ExperimentResult): Metric {
  const metric = metrics.find(({ name }) => name === headline);
  if (metric === undefined) throw new Error(`Cannot report experiment ${id}: its headline ${headline} is no metric`);
  return metric;
}

/**
 * An experiment whose cells have different coordinates is several in one, such as messages by payload and handshakes
 * by delay: each part with the metrics that it has, led by the experiment's headline or else by its first metric.
 */
export function partsOf(experiment: ExperimentResult): ExperimentResult[] {
  const parts = Map.groupBy(experiment.cells, ({ at }) => Object.keys(at).sort().join(" "));
  if (parts.size < 2) return [experiment];
  return [...parts.values()].map((cells) => {
    const measured = measuredMetrics({ ...experiment, cells });
    const metrics = measured.length > 0 ? measured : experiment.metrics;
    const headline = metrics.find(({ name }) => name === experiment.headline) ?? metrics[0];
    return { ...experiment, cells, metrics, headline: headline?.name ?? experiment.headline };
  });
}

/** The parts that have the metric, as one; without the cells in which nothing came of it that could have failed. */
export function partWith(experiment: ExperimentResult, { name }: Metric): ExperimentResult {
  const parts = partsOf(experiment).filter(({ metrics }) => metrics.some((metric) => metric.name === name));
  const isEmpty = ({ series }: Cell): boolean =>
    series.every(({ runs }) => runs.every(({ values }) => values[name] === undefined)) &&
    series.some(({ runs }) => runs.some(({ failure }) => failure === null));
  return { ...experiment, cells: parts.flatMap(({ cells }) => cells).filter((cell) => !isEmpty(cell)) };
}

/** In the order in which the experiment's cells have them. */
export function contestantsOf({ cells }: Pick<ExperimentResult, "cells">): string[] {
  return [...new Set(cells.flatMap(({ series }) => series.map(({ contestant }) => contestant)))];
}

export function valuesOf(series: Pick<Series, "runs">, metric: string): number[] {
  return series.runs.flatMap((run) => measuredValue(run, metric) ?? []);
}

/** Null where no run has the metric, and of who fails in half of its runs or more: what is left is not what it does. */
export function summaryOf(series: Pick<Series, "runs">, metric: string): Summary | null {
  const values = hasMedian(series) ? valuesOf(series, metric) : [];
  return values.length === 0 ? null : summarize(values);
}

/** The metrics that at least one run has, so that nothing is drawn of the others. */
export function measuredMetrics({ metrics, cells }: ExperimentResult): Metric[] {
  return metrics.filter(({ name }) => cells.some(({ series }) => series.some((one) => valuesOf(one, name).length > 0)));
}

/** None where the cell has no direct contestant with a value to compare with. */
export function compareCell(cell: Cell, metric: Metric, seed: number): Comparison[] {
  const best = bestOf(cell, metric, (contestant) => !isOurs(contestant));
  if (best === null) return [];
  return cell.series
    .filter((series) => isOurs(series.contestant) && isComparable(series, metric))
    .map((series) => {
      const { ours, ratio, interval } = against(series, best, metric, seed);
      return {
        cell,
        contestant: series.contestant,
        ours,
        best: { contestant: best.contestant, median: best.median },
        ratio,
        interval,
        behind: ratio === null ? ours === null || isWorse(ours, best.median, metric) : isAboveOne(ratio),
      };
    });
}

/** Not where visits went well without the metric, as some have no pictures; who fails is compared, and behind. */
function isComparable(series: Series, { name }: Metric): boolean {
  return !hasMedian(series) || valuesOf(series, name).length > 0;
}

/** Of what a person can use: fixed numbers of channels are there to judge the app's own choice by. */
export function compareCells({ cells }: Pick<ExperimentResult, "cells">, metric: Metric, seed: number): Comparison[] {
  return cells.flatMap((cell) =>
    compareCell(cell, metric, seed).filter(({ contestant }) => !hasFixedChannels(contestant)),
  );
}

/** Issue 4: the app's own choice of channels is within 10 % of the best fixed number. */
export const POLICY_TOLERANCE = 1.1;

/** The app's own choice of channels ("ropeway open") against the best fixed number of them. */
export interface PolicyComparison extends Pick<Comparison, "ours" | "best" | "ratio" | "interval"> {
  /** Above 1.10 once rounded to two digits, or no run of the policy succeeded. */
  readonly behind: boolean;
}

const POLICY = "ropeway open";

/** Null where the cell has no policy, or no fixed number of channels with a value. */
export function comparePolicy(cell: Cell, metric: Metric, seed: number): PolicyComparison | null {
  const policy = cell.series.find(({ contestant }) => contestant === POLICY);
  const best = bestOf(cell, metric, hasFixedChannels);
  if (policy === undefined || best === null) return null;
  const { ours, ratio, interval } = against(policy, best, metric, seed);
  const behind = ratio === null ? ours === null : Math.round(ratio * 100) > Math.round(POLICY_TOLERANCE * 100);
  return { ours, best: { contestant: best.contestant, median: best.median }, ratio, interval, behind };
}

/** Over the cells in which there is a ratio; null where there is none, or ours has no median in some cell. */
export function meanRatio(comparisons: readonly Comparison[]): number | null {
  if (comparisons.some(({ ours }) => ours === null)) return null;
  const ratios = comparisons.flatMap(({ ratio }) => ratio ?? []);
  return ratios.length === 0 ? null : geometricMean(ratios);
}

/** Whether a table shows the ratio as more than 1.00. */
export function isAboveOne(ratio: number): boolean {
  return Math.round(ratio * 100) > 100;
}

export function countRuns(cells: readonly Cell[]): RunCount {
  const runs = cells.flatMap(({ series }) => series.flatMap((one) => one.runs));
  const blamed = (blame: RunFailure["blame"]) => runs.filter(({ failure }) => failure?.blame === blame).length;
  return { runs: runs.length, failedByHarness: blamed("harness"), failedByContestant: blamed("contestant") };
}

/** The same failure of one contestant in one cell counts as one, with its rounds. */
export function failuresOf(cells: readonly Cell[]): ContestantFailures[] {
  return cells.flatMap((cell) =>
    cell.series.flatMap(({ contestant, runs }) => {
      const byMessage = Map.groupBy(
        runs.filter(({ failure }) => failure !== null),
        ({ failure }) => `${failure?.blame} ${failure?.message}`,
      );
      return [...byMessage.values()].flatMap((same) => {
        const failure = same[0]?.failure;
        return failure ? [{ contestant, cell, ...failure, rounds: same.map(({ round }) => round) }] : [];
      });
    }),
  );
}

/** The run whose value is nearest to the median: the one to show where only one can be shown. */
export function typicalRun({ runs }: Pick<Series, "runs">, metric: string): Run | null {
  const measured = runs.filter((run) => measuredValue(run, metric) !== null);
  if (measured.length === 0) return null;
  const middle = median(measured.map((run) => measuredValue(run, metric) ?? 0));
  const distance = (run: Run) => Math.abs((measuredValue(run, metric) ?? 0) - middle);
  return measured.reduce((nearest, run) => (distance(run) < distance(nearest) ? run : nearest));
}

interface Rival {
  readonly contestant: string;
  readonly median: number;
  readonly values: readonly number[];
}

/** Below 1 the series is better, as in `Comparison`. */
function against(
  series: Series,
  rival: Rival,
  metric: Metric,
  seed: number,
): Pick<Comparison, "ours" | "ratio" | "interval"> {
  const values = hasMedian(series) ? valuesOf(series, metric.name) : [];
  const ours = values.length === 0 ? null : median(values);
  const [above, below] = metric.better === "lower" ? [values, rival.values] : [rival.values, values];
  const comparable = [...above, ...below].every((value) => value > 0) && ours !== null;
  return {
    ours,
    ratio: comparable ? median(above) / median(below) : null,
    interval: comparable && values.length > 1 ? bootstrapRatio(above, below, { seed }) : null,
  };
}

function bestOf(cell: Cell, { name, better }: Metric, isRival: (contestant: string) => boolean): Rival | null {
  let best: Rival | null = null;
  for (const series of cell.series) {
    const values = valuesOf(series, name);
    if (!isRival(series.contestant) || values.length === 0 || !hasMedian(series)) continue;
    const middle = median(values);
    if (best === null || (better === "lower" ? middle < best.median : middle > best.median)) {
      best = { contestant: series.contestant, median: middle, values };
    }
  }
  return best;
}

function isWorse(ours: number, direct: number, { better }: Metric): boolean {
  return better === "lower" ? ours > direct : ours < direct;
}

/** One that fails in half of its runs or more, by its own fault, has no median. */
export function hasMedian({ runs }: Pick<Series, "runs">): boolean {
  const counted = runs.filter(({ failure }) => failure?.blame !== "harness");
  return 2 * counted.filter(({ failure }) => failure !== null).length < counted.length;
}

function measuredValue({ values, failure }: Run, metric: string): number | null {
  return failure === null ? (values[metric] ?? null) : null;
}
