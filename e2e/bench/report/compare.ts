/** How far two runs of the bench agree. */
import type { BenchResult, Metric, Series } from "../model.ts";
import { median } from "../statistics.ts";
import { headlineMetric, partsOf, summaryOf } from "./analysis.ts";
import { contestantLabel } from "./contestant-look.ts";
import { cellLabel, gridOf } from "./grid.ts";
import { markdownTable } from "./markdown.ts";
import { counted, formatQuantity } from "./quantity.ts";

/** Issue 3: two full runs of experiment A agree within 5 % on medians. */
export const AGREEMENT = 0.05;

export interface AgreementRow {
  readonly experiment: string;
  readonly cell: string;
  readonly contestant: string;
  readonly metric: Metric;
  /** Median of the first run; null where none of its runs has one, or it lacks the cell. */
  readonly first: number | null;
  readonly second: number | null;
  /** Medians of the seconds of processor time that browser and edge took, first and second; null where one has none. */
  readonly processorTime: readonly [number, number] | null;
  /** The larger over the smaller, less 1: the same whichever run is named first. Null where there are no two. */
  readonly difference: number | null;
  readonly agrees: boolean;
}

export interface Agreement {
  readonly rows: readonly AgreementRow[];
  /** As a share, such as 0.05. */
  readonly tolerance: number;
  /** Null where no row has two medians. */
  readonly largest: number | null;
  /** Every row of which both runs have a median agrees, and every row has two. */
  readonly agrees: boolean;
}

/** Medians of what leads each experiment or part of one, per cell and contestant; what only one run has is a row as well. */
export function compareRuns(first: BenchResult, second: BenchResult, tolerance = AGREEMENT): Agreement {
  const [one, other] = [mediansOf(first), mediansOf(second)];
  const rows = [...new Set([...one.keys(), ...other.keys()])].flatMap((key) => {
    const named = one.get(key) ?? other.get(key);
    if (named === undefined) return [];
    const [a, b] = [one.get(key)?.median ?? null, other.get(key)?.median ?? null];
    const difference = a === null || b === null ? null : differenceOf(a, b);
    const { experiment, cell, contestant, metric } = named;
    const [cpu, otherCpu] = [one.get(key)?.processorTime ?? null, other.get(key)?.processorTime ?? null];
    const processorTime = cpu === null || otherCpu === null ? null : ([cpu, otherCpu] as const);
    const agrees = difference !== null && difference <= tolerance;
    return [{ experiment, cell, contestant, metric, first: a, second: b, processorTime, difference, agrees }];
  });
  const differences = rows.flatMap(({ difference }) => difference ?? []);
  return {
    rows,
    tolerance,
    largest: differences.length === 0 ? null : Math.max(...differences),
    agrees: rows.length > 0 && rows.every(({ agrees }) => agrees),
  };
}

/** A sentence, then the table, rows beyond the tolerance marked. */
export function comparisonTable({ rows, tolerance, largest, agrees }: Agreement): string {
  const apart = rows.filter((row) => !row.agrees).length;
  const limit = percent(tolerance);
  const most = largest === null ? "" : `, ${percent(largest)} at most`;
  const verdict = agrees
    ? `All ${counted(rows.length, "median")} agree within ${limit}${most}.`
    : `${apart} of ${counted(rows.length, "median")} ${apart === 1 ? "differs" : "differ"} by more than ${limit}, or ${apart === 1 ? "is" : "are"} missing in one run${most}.`;
  const table = markdownTable(
    ["experiment and cell", "contestant", "metric", "first run", "second run", "difference", "processor time"],
    rows.map(({ experiment, cell, contestant, metric, first, second, processorTime, difference, agrees: within }) => [
      `${experiment}, ${cell}`,
      contestantLabel(contestant),
      metric.label,
      first === null ? "–" : formatQuantity(first, metric.unit),
      second === null ? "–" : formatQuantity(second, metric.unit),
      `${within ? "" : "▲ "}${difference === null ? "–" : percent(difference)}`,
      processorTime === null ? "–" : processorTime.map((seconds) => formatQuantity(seconds, "s")).join(" → "),
    ]),
  );
  return `${verdict}\n\n${table}`;
}

interface NamedMedian {
  readonly experiment: string;
  readonly cell: string;
  readonly contestant: string;
  readonly metric: Metric;
  readonly median: number | null;
  readonly processorTime: number | null;
}

function mediansOf({ experiments }: BenchResult): Map<string, NamedMedian> {
  return new Map(
    experiments.flatMap(partsOf).flatMap((experiment) => {
      const metric = headlineMetric(experiment);
      const grid = gridOf(experiment.cells);
      return experiment.cells.flatMap((cell) =>
        cell.series.map((series): [string, NamedMedian] => [
          JSON.stringify([experiment.id, cell.id, series.contestant]),
          {
            experiment: experiment.id,
            cell: cellLabel(cell, grid),
            contestant: series.contestant,
            metric,
            median: summaryOf(series, metric.name)?.median ?? null,
            processorTime: processorTimeOf(series),
          },
        ]),
      );
    }),
  );
}

/** Of whom both are known; a direct contestant has no edge. */
function processorTimeOf(series: Series): number | null {
  const seconds = series.runs.flatMap(({ values: { browserCpu, edgeCpu } }) =>
    browserCpu === undefined ? [] : [browserCpu + (edgeCpu ?? 0)],
  );
  return seconds.length === 0 ? null : median(seconds);
}

function differenceOf(a: number, b: number): number {
  return a === b ? 0 : Math.max(a, b) / Math.min(a, b) - 1;
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : "∞";
}
