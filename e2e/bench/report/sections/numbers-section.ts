/** An experiment's numbers as tables: comparisons, failures, medians, every run. */
import { hasFixedChannels } from "../../contestants/ropeway-contestant.ts";
import type { Cell, ExperimentResult, Metric } from "../../model.ts";
import {
  type Comparison,
  compareCell,
  comparePolicy,
  contestantsOf,
  failuresOf,
  hasMedian,
  headlineMetric,
  measuredMetrics,
  summaryOf,
} from "../analysis.ts";
import { contestantLabel, isOurs } from "../contestant-look.ts";
import { cellLabel, gridOf } from "../grid.ts";
import { type Markup, type MarkupValue, markup } from "../markup.ts";
import { counted, formatNumber, formatQuantity, formatRatio, formatScaled, scaleFor } from "../quantity.ts";
import { disclosure, tableMarkup } from "./table.ts";

/** Longer tables are folded away below what stands out. */
const LONG_TABLE = 16;

/**
 * Ours over best direct in each cell, with the cells above 1.0 marked, and by themselves where there are many. Null
 * where nothing of ours took part.
 */
export function ratioTable(experiment: ExperimentResult, seed: number): Markup | null {
  const metric = headlineMetric(experiment);
  const ours = contestantsOf(experiment).filter(isOurs);
  const rows = experiment.cells.map((cell) => ({
    cell,
    comparisons: compareCell(cell, metric, seed),
    policy: comparePolicy(cell, metric, seed),
  }));
  const hasPolicy = rows.some(({ policy }) => policy !== null);
  if (ours.length === 0) return null;
  const behind = rows.filter(({ comparisons }) =>
    comparisons.some((comparison) => comparison.behind && !hasFixedChannels(comparison.contestant)),
  );
  const table = (caption: string, chosen: typeof rows) =>
    tableMarkup({
      caption,
      head: ["", "best direct", ...ours.map(contestantLabel), ...(hasPolicy ? ["policy / best fixed"] : [])],
      numbersFrom: 1,
      rows: chosen.map(({ cell, comparisons, policy }) => [
        cellLabel(cell, gridOf(experiment.cells)),
        bestDirect(comparisons, metric),
        ...ours.map((contestant) => ratioCell(comparisons.find((each) => each.contestant === contestant))),
        ...(hasPolicy ? [ratioCell(policy ?? undefined)] : []),
      ]),
    });
  const key = markup`<p class="note">Ours / best direct (${metric.label}), with the 95 % bootstrap interval of the ratio. <span class="behind">▲ 1.20</span> is above 1.0: direct is better there.${hasPolicy && markup` Policy / best fixed: the app's own choice of channels against the best fixed number of them; marked above 1.10.`}</p>`;
  if (rows.length <= LONG_TABLE) return markup`<h3>Ours / best direct</h3>${key}${table("Every cell", rows)}`;
  return markup`<h3>Ours / best direct</h3>${key}${
    behind.length > 0 && table(`Cells above 1.0: ${behind.length} of ${rows.length}`, behind)
  }${disclosure(`All ${rows.length} cells`, table("Every cell", rows))}`;
}

/** Null where no run failed. */
export function failureTable({ cells }: ExperimentResult): Markup | null {
  const failures = failuresOf(cells);
  if (failures.length === 0) return null;
  const grid = gridOf(cells);
  const rows = failures.map(({ cell, contestant, blame, message, rounds }) => [
    cellLabel(cell, grid),
    contestantLabel(contestant),
    markup`<span class="blame ${blame}">${blame}</span>`,
    message,
    rounds.join(", "),
  ]);
  const total = failures.reduce((sum, { rounds }) => sum + rounds.length, 0);
  const caption = `${counted(total, "run")} failed`;
  return disclosure(
    `${caption}, with whose fault it was`,
    tableMarkup({ caption, head: ["", "contestant", "fault of", "what happened", "rounds"], numbersFrom: 5, rows }),
    true,
  );
}

/** Median and quartiles of every metric, then every run, all folded away. @param part what to add to their names. */
export function rawTables(experiment: ExperimentResult, part: string): Markup {
  const metrics = measuredMetrics(experiment);
  return markup`${disclosure(
    `Medians and quartiles of every metric${part}`,
    metrics.map((metric) => summaryTable(experiment, metric)),
  )}${disclosure(`Every run${part}`, runTable(experiment, metrics))}`;
}

function summaryTable(experiment: ExperimentResult, metric: Metric): Markup {
  const contestants = contestantsOf(experiment);
  const grid = gridOf(experiment.cells);
  const largest = Math.max(
    0,
    ...experiment.cells.flatMap(({ series }) => series.map((one) => summaryOf(one, metric.name)?.median ?? 0)),
  );
  const scale = scaleFor(metric.unit, largest);
  const shownValue = (cell: Cell, contestant: string): MarkupValue => {
    const series = cell.series.find((each) => each.contestant === contestant);
    const summary = series && summaryOf(series, metric.name);
    if (!summary) return series && series.runs.length > 0 && !hasMedian(series) ? "failed" : "–";
    return markup`${formatScaled(summary.median, scale)} <small>${formatScaled(summary.lowerQuartile, scale)} to ${formatScaled(summary.upperQuartile, scale)}</small>`;
  };
  const hasFloor = experiment.cells.some(({ floor }) => floor[metric.name] !== undefined);
  return tableMarkup({
    caption: scale.unit === "" ? metric.label : `${metric.label}, ${scale.unit}`,
    head: ["", ...contestants.map(contestantLabel), ...(hasFloor ? ["floor"] : [])],
    numbersFrom: 1,
    rows: experiment.cells.map((cell) => {
      const floor = cell.floor[metric.name];
      const floorCell = floor === undefined ? "–" : formatScaled(floor, scale);
      return [
        cellLabel(cell, grid),
        ...contestants.map((contestant) => shownValue(cell, contestant)),
        ...(hasFloor ? [floorCell] : []),
      ];
    }),
  });
}

function runTable({ cells }: ExperimentResult, metrics: readonly Metric[]): Markup {
  const grid = gridOf(cells);
  return tableMarkup({
    caption: "Every run, in the metrics' own units",
    head: [
      "",
      "contestant",
      "round",
      ...metrics.map(({ label, unit }) => (unit === "" ? label : `${label}, ${unit}`)),
      "failure",
    ],
    numbersFrom: 2,
    rows: cells.flatMap((cell) =>
      cell.series.flatMap(({ contestant, runs }) =>
        runs.map(({ round, values, failure }) => [
          cellLabel(cell, grid),
          contestantLabel(contestant),
          round,
          ...metrics.map(({ name }) => (values[name] === undefined ? "" : formatNumber(values[name]))),
          failure ? `${failure.blame}: ${failure.message}` : "",
        ]),
      ),
    ),
  });
}

function bestDirect(comparisons: readonly Comparison[], { unit }: Metric): MarkupValue {
  const best = comparisons[0]?.best;
  if (best === undefined) return "no run succeeded";
  return markup`${contestantLabel(best.contestant)} <small>${formatQuantity(best.median, unit)}</small>`;
}

function ratioCell(comparison: Pick<Comparison, "ratio" | "interval" | "behind" | "ours"> | undefined): MarkupValue {
  if (comparison === undefined) return "–";
  const { ratio, interval, behind, ours } = comparison;
  const figure = ratio === null ? (ours === null ? "failed" : "–") : formatRatio(ratio);
  const range = interval && markup` <small>${formatRatio(interval.low)} to ${formatRatio(interval.high)}</small>`;
  return behind ? markup`<span class="behind">▲ ${figure}</span>${range}` : markup`${figure}${range}`;
}
