/** Medians of a result, and how they compare: what tables, sentences and pictures are made of. */
import type { BenchResult, Cell } from "../model.ts";
import type { MergedResults } from "../results.ts";
import { geometricMean, isLevel, type Summary, summarize } from "../statistics.ts";
import { formatQuantity } from "./quantity.ts";

export const LINKS: Readonly<Record<string, string>> = { gprs: "GPRS", "3g": "3G", lte: "LTE", sat: "satellite" };

export const HTTP = ["http/1.1", "http/2", "http/3"] as const;

export function cellsOf(results: MergedResults, id: string, at: Cell["at"] = {}): readonly Cell[] {
  const isAt = (cell: Cell): boolean => Object.entries(at).every(([name, value]) => cell.at[name] === value);
  return (results.get(id)?.cells ?? []).filter(isAt);
}

/** Null where there is no such cell, or half of the runs or more failed. */
export function summaryOf(cell: Cell | undefined, contestant: string, metric: string): Summary | null {
  const runs = cell?.series.find((series) => series.contestant === contestant)?.runs ?? [];
  const values = runs.flatMap((run) => run.values[metric] ?? []);
  return values.length === 0 || 2 * values.length <= runs.length ? null : summarize(values);
}

/** As "4.21 s (4.10 to 4.40 s)": the median, and the quartiles around it. */
export function told(cell: Cell | undefined, contestant: string, metric: string, unit: string): string {
  const summary = summaryOf(cell, contestant, metric);
  if (summary === null) return failureOf(cell, contestant);
  const { median, lowerQuartile, upperQuartile } = summary;
  const [low, middle, high] = [lowerQuartile, median, upperQuartile].map((value) => formatQuantity(value, unit));
  return low === high ? `${middle}` : `${middle} (${low} to ${high})`;
}

/** As "−28 %" of the other's median, or "level" where their quartiles overlap. */
export function change(cell: Cell | undefined, contestant: string, other: string, metric: string): string {
  const [one, base] = [summaryOf(cell, contestant, metric), summaryOf(cell, other, metric)];
  if (one === null) return failureOf(cell, contestant);
  if (base === null || base.median === 0) return "–";
  if (isLevel(one, base)) return "level";
  const percent = Math.round(100 * (one.median / base.median - 1));
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}

/** As "2.7 times" the other's median, or "level". */
export function factor(cell: Cell | undefined, contestant: string, other: string, metric: string): string {
  const [one, base] = [summaryOf(cell, contestant, metric), summaryOf(cell, other, metric)];
  if (one === null) return failureOf(cell, contestant);
  if (base === null || base.median === 0) return "–";
  const ratio = one.median / base.median;
  return isLevel(one, base) ? "level" : `${ratio.toFixed(ratio < 10 ? 1 : 0)} times`;
}

function failureOf(cell: Cell | undefined, contestant: string): string {
  const runs = cell?.series.find((series) => series.contestant === contestant)?.runs ?? [];
  // Chromium ends a QUIC handshake after four silent seconds, and asks nobody else where HTTP/3 is forced.
  if (runs.length === 0) return "–";
  return contestant === "http/3" ? "gives up" : "fails";
}

export interface Standing {
  /** Ropeway's median by that of the fastest of the three HTTP versions. */
  readonly ratio: number;
  readonly isLevel: boolean;
}

/** Beside the fastest of the three HTTP versions in the same cell. */
export function standing(cell: Cell, contestant: string, metric = "load"): Standing | null {
  const ours = summaryOf(cell, contestant, metric);
  const others = HTTP.flatMap((name) => summaryOf(cell, name, metric) ?? []);
  const [best] = others.toSorted((one, other) => one.median - other.median);
  return ours === null || best === undefined
    ? null
    : { ratio: ours.median / best.median, isLevel: isLevel(ours, best) };
}

/** As "0.83 (0.61 to 1.02): 4 faster, 1 level": the geometric mean of the ratios, the best and the worst. */
export function standingsText(standings: readonly Standing[]): string {
  if (standings.length === 0) return "–";
  const ratios = standings.map(({ ratio }) => ratio);
  const [faster, level, slower] = [
    standings.filter((each) => !each.isLevel && each.ratio < 1),
    standings.filter((each) => each.isLevel),
    standings.filter((each) => !each.isLevel && each.ratio >= 1),
  ].map(({ length }) => length);
  const counts = Object.entries({ faster, level, slower }).filter(([, count]) => count !== 0);
  const text = counts.map(([name, count]) => `${count} ${name}`).join(", ");
  return `${meanText(ratios)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}): ${text}`;
}

/** Of a contestant in some cells, each by the fastest of the three HTTP versions. */
export function ratiosOf(cells: readonly Cell[], contestant: string): number[] {
  return cells.flatMap((cell) => standing(cell, contestant)?.ratio ?? []);
}

/** Of a contestant by another one, of the cells that both have. */
export function medianRatios(cells: readonly Cell[], contestant: string, other: string, metric: string): number[] {
  return cells.flatMap((cell) => {
    const [one, base] = [summaryOf(cell, contestant, metric), summaryOf(cell, other, metric)];
    return one && base ? one.median / base.median : [];
  });
}

export function meanText(ratios: readonly number[]): string {
  return ratios.length === 0 ? "–" : geometricMean(ratios).toFixed(2);
}

/** Commit, day, machine and load of what a table was made of. @param at values that its cells have. */
export function originOf(results: MergedResults, ids: readonly string[], at: Cell["at"] = {}): string {
  const cells = ids.flatMap((id) => cellsOf(results, id, at));
  const names = new Set(cells.map(({ id }) => id));
  const has = ({ experiments }: BenchResult): boolean =>
    experiments.some((each) => each.cells.some(({ id }) => names.has(id)));
  const runs = [...new Set(ids.flatMap((id) => results.get(id)?.runs ?? []))].filter(has);
  if (runs.length === 0) return "";
  const days = runs.map(({ startedAt }) => startedAt.slice(0, 10)).toSorted();
  const commits = [...new Set(runs.map(({ versions }) => versions.ropeway ?? "unknown"))];
  const busy = cells.flatMap(busyness);
  const load =
    busy.length === 0 ? "" : `; processors ${Math.round((100 * busy.reduce((a, b) => a + b)) / busy.length)} % busy`;
  const machines = [...new Set(runs.map(({ machine }) => `${machine.processor}, ${machine.memory}`))];
  const rounds = [...new Set(runs.map((run) => run.rounds))].join(" and ");
  return `Version ${commits.join(", ")}, ${[...new Set([days[0], days.at(-1)])].join(" to ")}, ${machines.join(" and ")}${load}; ${rounds} ${rounds === "1" ? "round" : "rounds"}.`;
}

function busyness({ series }: Cell): number[] {
  return series.flatMap(({ runs }) => runs.flatMap((run) => run.processorsBusy ?? []));
}
