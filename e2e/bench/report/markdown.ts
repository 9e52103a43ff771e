/** A result's tables for BENCHMARKS.md, and their way into it. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { hasFixedChannels } from "../contestants/ropeway-contestant.ts";
import { type BenchResult, type Cell, type ExperimentResult, type Metric, roundsText } from "../model.ts";
import { quantile } from "../statistics.ts";
import {
  type Comparison,
  compareCell,
  compareCells,
  comparePolicy,
  contestantsOf,
  headlineMetric,
  measuredMetrics,
  partWith,
  summaryOf,
  valuesOf,
} from "./analysis.ts";
import { contestantLabel, isOurs } from "./contestant-look.ts";
import { cellLabel, gridOf } from "./grid.ts";
import { PAPER_FIGURE_HEAD, paperFigures } from "./paper-figures.ts";
import { counted, formatQuantity, formatRatio, formatScaled, scaleFor } from "./quantity.ts";

export interface SourceResult {
  /** Of its file. */
  readonly name: string;
  readonly result: BenchResult;
}

/** One block of BENCHMARKS.md: what stands between `<!-- bench:ID -->` and `<!-- /bench -->`. */
const BLOCK = /<!-- bench:(\S+) -->([\s\S]*?)<!-- \/bench -->/g;
const START = /<!-- bench:(\S+) -->/g;

/**
 * Replaces the blocks that the result has numbers for, and leaves all others and the prose between them as they are.
 * Blocks are named `A` (an experiment's table), `A/bytesDown` (of another metric), `A/not-first` and `not-first` (cells
 * in which Ropeway is not first), `papers` (their figures beside ours), `run` (versions, machine, seed) and `runs` (which result each experiment is from).
 *
 * @param sources what the result was merged from.
 * @returns names of the blocks replaced.
 * @throws Error "Cannot update FILE: …" when it cannot be read, or a block has no end.
 */
export async function updateBenchmarks(
  file: string,
  result: BenchResult,
  sources: readonly SourceResult[] = [],
): Promise<string[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`Cannot update ${file}: ${error.message}`);
  });
  const ids = blockIds(text, file);
  const contents = ids.flatMap((id) => {
    const content = blockOf(id, result, sources);
    return content === null ? [] : [{ id, content }];
  });
  const updated = contents.reduce((before, { id, content }) => replaceBlock(before, id, content), text);
  await writeFile(`${file}.partial`, updated);
  await rename(`${file}.partial`, file);
  return contents.map(({ id }) => id);
}

/** @throws Error "Cannot replace block ID: …" when the text has no such block. */
export function replaceBlock(text: string, id: string, content: string): string {
  if (!blockIds(text, "the text").includes(id)) {
    throw new Error(`Cannot replace block ${id}: there is no <!-- bench:${id} --> with <!-- /bench --> after it`);
  }
  return text.replaceAll(BLOCK, (block, name) =>
    name === id ? `<!-- bench:${id} -->\n${content.trim()}\n<!-- /bench -->` : block,
  );
}

/**
 * Cells as rows, contestants as columns: median, and the quartiles in brackets; then what Ropeway is to the best direct
 * contestant, and its own choice of channels to the best fixed number of them where those took part.
 */
export function experimentTable(whole: ExperimentResult, metric: Metric, seed: number): string {
  const experiment = partWith(whole, metric);
  const { cells } = experiment;
  const grid = gridOf(cells);
  const contestants = contestantsOf(experiment).filter((name) => hasOrMisses(cells, name, metric));
  const hasDirect = contestants.some((contestant) => !isOurs(contestant));
  const compared = hasDirect ? contestants.filter((name) => isOurs(name) && !hasFixedChannels(name)) : [];
  const policies = cells.map((cell) => comparePolicy(cell, metric, seed));
  // Of counts, such as the channels themselves, fewer is not better.
  const hasPolicy = metric.unit !== "" && policies.some((policy) => policy !== null);
  const hasFloor = cells.some(({ floor }) => floor[metric.name] !== undefined);
  const rows = cells.map((cell, index) => {
    const scale = scaleFor(metric.unit, largestMedian(cell, metric));
    const comparisons = compareCell(cell, metric, seed);
    const floor = cell.floor[metric.name];
    return [
      cellLabel(cell, grid),
      ...contestants.map((contestant) => medianWithQuartiles(cell, contestant, metric)),
      ...(hasFloor ? [floor === undefined ? "–" : formatScaled(floor, scale)] : []),
      scale.unit,
      ...compared.map((contestant) => ratioText(comparisons.find((each) => each.contestant === contestant))),
      ...(hasPolicy ? [ratioText(policies[index] ?? undefined)] : []),
    ];
  });
  return markdownTable(
    [
      metric.label,
      ...contestants.map(contestantLabel),
      ...(hasFloor ? ["floor"] : []),
      "unit",
      ...compared.map((contestant) => `${contestantLabel(contestant)} / best direct`),
      ...(hasPolicy ? ["policy / best fixed"] : []),
    ],
    rows,
  );
}

/** False for a contestant that ran well and has no such metric, as direct ones have no channels. */
function hasOrMisses(cells: readonly Cell[], contestant: string, metric: Metric): boolean {
  const runs = cells.flatMap(({ series }) => series.flatMap((one) => (one.contestant === contestant ? one.runs : [])));
  return runs.every(({ failure }) => failure !== null) || valuesOf({ runs }, metric.name).length > 0;
}

/** A sentence, and a line for each cell and contestant of ours that a direct one beats or that never succeeded. */
export function notFirstList(experiments: readonly ExperimentResult[], seed: number): string {
  const all = experiments.flatMap((experiment) =>
    compareCells(experiment, headlineMetric(experiment), seed).map((comparison) => ({ experiment, comparison })),
  );
  const behind = all.filter(({ comparison }) => comparison.behind);
  if (all.length === 0) return "There is nothing to compare with.";
  if (behind.length === 0) return `Ropeway is first or level in all ${counted(all.length, "comparison")}.`;
  return [
    `Ropeway is not first in ${behind.length} of ${counted(all.length, "comparison")}:`,
    "",
    ...behind.map(({ experiment, comparison }) => notFirstLine(experiment, comparison)),
  ].join("\n");
}

function notFirstLine(experiment: ExperimentResult, { cell, contestant, ours, best, ratio }: Comparison): string {
  const { unit, label } = headlineMetric(experiment);
  const place = cellLabel(cell, gridOf(experiment.cells));
  const rival = `${contestantLabel(best.contestant)} ${formatQuantity(best.median, unit)}`;
  const own = ours === null ? "fails in half of its runs or more" : `${label} ${formatQuantity(ours, unit)}`;
  const factor = ratio === null ? "" : ` (${formatRatio(ratio)})`;
  return `- ${plain(`${experiment.id}, ${place}: ${contestantLabel(contestant)} ${own}, ${rival}${factor}`)}`;
}

function runTable(result: BenchResult): string {
  const { versions, machine, startedAt, mode, warmUpRounds, seed } = result;
  return markdownTable(
    ["what", "which"],
    [
      ["run", `${mode}, ${startedAt.slice(0, 10)}, seed ${seed}`],
      ["rounds", `${roundsText(result)}, after ${counted(warmUpRounds, "warm-up round")}`],
      ...Object.entries(versions),
      ...Object.entries(machine),
    ],
  );
}

/** A row for each result: what of it is used, and how it was made. */
function runsTable(sources: readonly SourceResult[]): string {
  return markdownTable(
    ["result", "experiments", "Ropeway", "begun (UTC)", "rounds", "laboratories", "processors busy"],
    sources.map(({ name, result }) => [
      name,
      result.experiments.map(({ id, cells }) => `${id} (${counted(cells.length, "cell")})`).join(", "),
      result.versions.ropeway ?? "unknown",
      result.startedAt.slice(0, 16).replace("T", " "),
      `${roundsText(result)}, after ${result.warmUpRounds}`,
      String(result.laboratories ?? 1),
      processorsBusy(result.experiments),
    ]),
  );
}

/** Median, and the ninth decile in brackets, of the runs that say it: near 100 % the machine is what was measured. */
function processorsBusy(experiments: readonly ExperimentResult[]): string {
  const runs = experiments.flatMap(({ cells }) => cells.flatMap(({ series }) => series.flatMap((one) => one.runs)));
  const shares = runs.flatMap((run) => run.processorsBusy ?? []);
  if (shares.length === 0) return "–";
  const [middle, most] = [0.5, 0.9].map((share) => Math.round(100 * quantile(shares, share)));
  return `${middle} % (${most} %)`;
}

/** Null where the result has nothing for the block. */
function blockOf(id: string, result: BenchResult, sources: readonly SourceResult[]): string | null {
  const { experiments, seed } = result;
  if (id === "run") return runTable(result);
  if (id === "runs") return sources.length === 0 ? null : runsTable(sources);
  if (id === "not-first") return notFirstList(experiments, seed);
  if (id === "papers") return markdownTable(PAPER_FIGURE_HEAD, paperFigures(experiments));
  const [name, part] = id.split("/");
  const experiment = experiments.find((each) => each.id === name);
  if (experiment === undefined) return null;
  if (part === "not-first") return notFirstList([experiment], seed);
  const metric = part === undefined ? headlineMetric(experiment) : findMetric(experiment, part);
  return metric ? experimentTable(experiment, metric, seed) : null;
}

function findMetric(experiment: ExperimentResult, name: string): Metric | undefined {
  return measuredMetrics(experiment).find((metric) => metric.name === name);
}

/** @throws Error "Cannot update FILE: block ID has no end". */
export function blockIds(text: string, file: string): string[] {
  const whole = [...text.matchAll(BLOCK)];
  for (const [block, id] of whole) {
    if ([...block.matchAll(START)].length > 1) throw new Error(`Cannot update ${file}: block ${id} has no end`);
  }
  const starts = [...text.matchAll(START)].map(([, id]) => id ?? "");
  if (starts.length > whole.length) throw new Error(`Cannot update ${file}: block ${starts.at(-1)} has no end`);
  return [...new Set(starts)];
}

function medianWithQuartiles(cell: Cell, contestant: string, metric: Metric): string {
  const series = cell.series.find((each) => each.contestant === contestant);
  if (series === undefined || series.runs.length === 0) return "–";
  const failed = series.runs.filter(({ failure }) => failure !== null).length;
  const summary = summaryOf(series, metric.name);
  if (summary === null) return failureText(failed, series.runs.length);
  const scale = scaleFor(metric.unit, largestMedian(cell, metric));
  const [middle, lower, upper] = [summary.median, summary.lowerQuartile, summary.upperQuartile].map((value) =>
    formatScaled(value, scale),
  );
  const quartiles = summary.count > 1 ? ` [${lower}–${upper}]` : "";
  return `${middle}${quartiles}${failed > 0 ? `, ${failed} failed` : ""}`;
}

function failureText(failed: number, runs: number): string {
  if (failed === runs) return `all ${failed} failed`;
  return 2 * failed < runs ? "–" : `${failed} of ${runs} failed`;
}

function largestMedian(cell: Cell, { name }: Metric): number {
  return Math.max(0, ...cell.series.map((series) => summaryOf(series, name)?.median ?? 0));
}

/** Behind is bold with a mark: above 1.0, or above the policy's 1.10. */
function ratioText(comparison: Pick<Comparison, "ratio" | "behind" | "ours"> | undefined): string {
  if (comparison === undefined) return "–";
  const { ratio, behind, ours } = comparison;
  const figure = ratio === null ? (ours === null ? "failed" : "–") : formatRatio(ratio);
  return behind ? `**▲ ${figure}**` : figure;
}

/** First column to the left, the others to the right. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head.map(plain)), line(rule), ...rows.map((row) => line(row.map(plain)))].join("\n");
}

/** Text that Markdown takes for what it is: no tags, columns, links or comments of its own. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, (space) => (space.includes("\n") ? " " : space))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("|", "\\|")
    .replaceAll("`", "\\`");
}
