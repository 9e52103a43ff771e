/** What an experiment found, in sentences made from its numbers. */

import { ropewayContestant } from "../../contestants/ropeway-contestant.ts";
import type { ExperimentResult, Metric } from "../../model.ts";
import { type Comparison, compareCells, countRuns, headlineMetric, isAboveOne, meanRatio } from "../analysis.ts";
import { contestantLabel, isOurs } from "../contestant-look.ts";
import { cellLabel, gridOf } from "../grid.ts";
import { counted, formatFactor, formatQuantity, formatRatio } from "../quantity.ts";

export interface Headline {
  /** For the eye: "4.3×", the factor of the sentence. Null where there is nothing to compare. */
  readonly figure: string | null;
  readonly better: boolean;
  readonly sentence: string;
}

/** Of the contestant of ours that does best over all cells: at the far end of the axis, or over all cells. */
export function headlineOf(experiment: ExperimentResult, seed: number): Headline {
  const metric = headlineMetric(experiment);
  const byContestant = [...Map.groupBy(compareCells(experiment, metric, seed), ({ contestant }) => contestant)]
    .map(([contestant, comparisons]) => ({ contestant, comparisons, mean: meanRatio(comparisons) }))
    .filter((each): each is typeof each & { mean: number } => each.mean !== null)
    .sort((a, b) => a.mean - b.mean);
  const best = byContestant[0];
  if (best === undefined) {
    return { figure: null, better: false, sentence: "No run of Ropeway can be compared with a direct contestant." };
  }
  const { axis } = gridOf(experiment.cells);
  const last = axis === null ? undefined : farthest(best.comparisons, axis);
  const single = best.comparisons.length === 1 ? best.comparisons[0] : last;
  return single ? headlineOfCell(single, experiment, metric) : headlineOfAll(best, experiment, metric);
}

/** Where we are not first, in a sentence: how often, and where it is worst. */
export function behindSentence(experiment: ExperimentResult, seed: number): string {
  const comparisons = compareCells(experiment, headlineMetric(experiment), seed);
  if (comparisons.length === 0) return "";
  const behind = comparisons.filter((comparison) => comparison.behind);
  const total = counted(comparisons.length, "comparison");
  if (behind.length === 0) return `Ropeway is first or level in all ${total}.`;
  const worst = behind.reduce((most, each) => ((each.ratio ?? Infinity) > (most.ratio ?? Infinity) ? each : most));
  const size =
    worst.ratio === null
      ? "half of its runs failed, or more"
      : `${formatRatio(worst.ratio)} of ${contestantLabel(worst.best.contestant)}`;
  const where = cellLabel(worst.cell, gridOf(experiment.cells));
  return `Ropeway is behind in ${behind.length} of ${total}; most of all: ${contestantLabel(worst.contestant)}, ${where} (${size}).`;
}

/** How many runs there were and whose fault it was where they failed. */
export function runsSentence(cells: ExperimentResult["cells"]): string {
  const { runs, failedByHarness, failedByContestant } = countRuns(cells);
  const failed = failedByHarness + failedByContestant;
  if (failed === 0) return `${counted(runs, "run")}, none failed.`;
  return `${counted(runs, "run")}, of which ${failed} failed: ${failedByContestant} by the contestant's fault, ${failedByHarness} by the bench's own.`;
}

function headlineOfCell(comparison: Comparison, experiment: ExperimentResult, metric: Metric): Headline {
  const { contestant, best, ratio, ours, cell } = comparison;
  const at = ` at ${cellLabel(cell, gridOf(experiment.cells))}`;
  const numbers = `: ${formatQuantity(ours ?? 0, metric.unit)} against ${formatQuantity(best.median, metric.unit)}`;
  const rival = rivalOf(best.contestant, experiment);
  return phrase(contestant, ratio ?? 1, { metric, rival, page: "the page" }, at + numbers);
}

function headlineOfAll(
  { contestant, comparisons, mean }: { contestant: string; comparisons: readonly Comparison[]; mean: number },
  experiment: ExperimentResult,
  metric: Metric,
): Headline {
  const first = comparisons.filter(({ behind }) => !behind).length;
  const rest = ` (geometric mean), and is first or level in ${first} of ${counted(comparisons.length, "cell")}`;
  return phrase(contestant, mean, { metric, rival: rivalOf(null, experiment), page: "pages" }, rest);
}

/** What a claim speaks of. */
interface Terms {
  readonly metric: Metric;
  readonly rival: string;
  readonly page: "the page" | "pages";
}

function phrase(contestant: string, ratio: number, terms: Terms, rest: string): Headline {
  const factor = formatFactor(Math.max(ratio, 1 / ratio));
  const claim = isLevel(ratio)
    ? `is level with ${terms.rival} in ${terms.metric.label}`
    : ratio < 1
      ? betterClaim(terms, factor)
      : worseClaim(terms, factor);
  return {
    figure: `${formatFactor(1 / ratio)}×`,
    better: !isAboveOne(ratio),
    sentence: `${subject(contestant)} ${claim}${rest}.`,
  };
}

function subject(contestant: string): string {
  const known = ropewayContestant(contestant);
  if (known === null || known.channels !== null) return contestantLabel(contestant);
  return `${known.state.charAt(0).toUpperCase()}${known.state.slice(1)}, Ropeway`;
}

/** @param contestant the best one of a cell; null where it differs from cell to cell. */
function rivalOf(contestant: string | null, { cells }: ExperimentResult): string {
  const direct = cells.flatMap(({ series }) => series.filter((one) => !isOurs(one.contestant)));
  const browsers = direct.every((one) => one.contestant.startsWith("http/"));
  if (!browsers) return contestant ?? "the best of the others";
  const name = contestant === null ? null : contestantLabel(contestant);
  return name === null ? "the best direct browser" : `the best direct browser (${name})`;
}

function isLevel(ratio: number): boolean {
  return Math.round(ratio * 100) === 100;
}

function betterClaim({ metric: { name, label, unit, better }, rival, page }: Terms, factor: string): string {
  if (name === "load") return `loads ${page} ${factor} times faster than ${rival}`;
  if (better === "higher") return `has ${factor} times the ${label} of ${rival}`;
  if (isTime(unit)) return `is ${factor} times faster than ${rival} in ${label}`;
  return `has ${factor} times less in ${label} than ${rival}`;
}

function worseClaim({ metric: { name, label, unit, better }, rival, page }: Terms, factor: string): string {
  if (name === "load") return `takes ${factor} times as long to load ${page} as ${rival}`;
  if (better === "higher") return `has 1/${factor} of the ${label} of ${rival}`;
  if (isTime(unit)) return `takes ${factor} times as long as ${rival} in ${label}`;
  return `has ${factor} times as much in ${label} as ${rival}`;
}

function isTime(unit: string): boolean {
  return unit === "ms" || unit === "s";
}

function farthest(comparisons: readonly Comparison[], axis: string): Comparison | undefined {
  const compared = comparisons.filter(({ ratio }) => ratio !== null);
  const end = Math.max(...compared.map(({ cell }) => Number(cell.at[axis])));
  const there = compared.filter(({ cell }) => Number(cell.at[axis]) === end);
  return there.length === 1 ? there[0] : undefined;
}
