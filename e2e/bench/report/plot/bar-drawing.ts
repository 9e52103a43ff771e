/** One cell: a bar up to the median per contestant, quartiles, every run, and the physical floor. */
import type { Cell, Metric, Series } from "../../model.ts";
import { median, type Summary, summarize } from "../../statistics.ts";
import { valuesOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";
import { counted, formatQuantity, formatTicks } from "../quantity.ts";
import { type Drawing, lineFrom, textAt, textWidth } from "./drawing.ts";
import { spelled } from "./line-drawing.ts";
import { linearScale } from "./scale.ts";

export interface BarPlot {
  readonly cell: Cell;
  /** Stacked, all in one unit: bytes down and up, or CPU time of browser and edge. Missing ones count as zero. */
  readonly metrics: readonly [Metric, ...Metric[]];
  readonly looks: ReadonlyMap<string, ContestantLook>;
  readonly width: number;
}

interface Bar {
  readonly look: ContestantLook;
  /** Of the sum of the metrics, run by run; null where no run has any. */
  readonly summary: Summary | null;
  readonly values: readonly number[];
  readonly parts: readonly number[];
  readonly failed: number;
}

const ROW = 23;
const BAR = 13;
/** Opacities of stacked parts. */
const PART_OPACITY = [1, 0.5, 0.3] as const;

export function barDrawing({ cell, metrics, looks, width }: BarPlot): Drawing {
  const [{ unit, label, name }] = metrics;
  const bars = cell.series.flatMap((series) => {
    const look = looks.get(series.contestant);
    return look && series.runs.length > 0 ? [barOf(series, look, metrics)] : [];
  });
  const shown = bars.filter(({ summary, failed }) => summary !== null || failed > 0);
  const floor = cell.floor[name];
  const notes = shown.map((bar) => noteOf(bar, unit));
  const left = 16 + Math.max(0, ...shown.map(({ look }) => textWidth(look.label)));
  const right = width - 12 - Math.max(0, ...notes.map(textWidth));
  const largest = Math.max(0, ...shown.map(({ values }) => Math.max(0, ...values)), floor ?? 0);
  const x = linearScale(largest === 0 ? 1 : largest, left, right, 3);
  const top = floor === undefined ? 6 : 20;
  const bottom = top + shown.length * ROW;
  const labels = formatTicks(x.ticks, unit);
  const rows = shown.map((bar, index) => rowPart(bar, notes[index] ?? "", unit, x.place, top + index * ROW));
  return {
    width,
    height: bottom + 22,
    description: `${label}: ${shown.map((bar) => `${bar.look.label} ${noteOf(bar, unit)}`).join("; ")}${floor === undefined ? "" : `; physical floor ${formatQuantity(floor, unit)}`}`,
    content: markup`${x.ticks.map((tick, index) => [
      lineFrom(x.place(tick), top, x.place(tick), bottom, "grid"),
      textAt(x.place(tick), bottom + 15, labels[index] ?? "", { anchor: "middle", tone: "muted" }),
    ])}${rows}${floor !== undefined && floorPart(floor, unit, x.place(floor), top, bottom, width)}`,
  };
}

function barOf(series: Series, look: ContestantLook, metrics: readonly Metric[]): Bar {
  const measured = series.runs.filter(
    ({ failure, values }) => failure === null && metrics.some(({ name }) => name in values),
  );
  const values = measured.map((run) => metrics.reduce((sum, { name }) => sum + (run.values[name] ?? 0), 0));
  return {
    look,
    values,
    summary: values.length === 0 ? null : summarize(values),
    parts: metrics.map(({ name }) => {
      const ofPart = valuesOf(series, name);
      return ofPart.length === 0 ? 0 : median(ofPart);
    }),
    failed: series.runs.filter(({ failure }) => failure !== null).length,
  };
}

function noteOf({ summary, failed }: Bar, unit: string): string {
  if (summary === null) return `all ${failed} failed`;
  const value = formatQuantity(summary.median, unit);
  return failed === 0 ? value : `${value}, ${failed} failed`;
}

function rowPart(
  { look, summary, values, parts, failed }: Bar,
  note: string,
  unit: string,
  x: (value: number) => number,
  y: number,
): Markup {
  const middle = y + ROW / 2;
  const name = textAt(0, middle + 4, look.label, { tone: look.ours ? "strong" : "muted" });
  if (summary === null) return markup`${name}${textAt(x(0) + 6, middle + 4, `✕ ${note}`, { tone: "bad" })}`;
  const total = parts.reduce((sum, part) => sum + part, 0);
  let from = 0;
  const segments = parts.map((part, index) => {
    const to = total === 0 ? 0 : from + (part / total) * summary.median;
    const segment = markup`<rect x="${x(from)}" y="${middle - BAR / 2}" width="${x(to) - x(from)}" height="${BAR}" fill="${look.colour}" opacity="${PART_OPACITY[index] ?? 0.2}"/>`;
    from = to;
    return segment;
  });
  const end = Math.max(x(summary.upperQuartile), ...values.map(x));
  const whisker = [
    lineFrom(x(summary.lowerQuartile), middle, x(summary.upperQuartile), middle, "quartiles"),
    lineFrom(x(summary.lowerQuartile), middle - 4, x(summary.lowerQuartile), middle + 4, "quartiles"),
    lineFrom(x(summary.upperQuartile), middle - 4, x(summary.upperQuartile), middle + 4, "quartiles"),
  ];
  const runs = values.map((value) => markup`<circle class="run" cx="${x(value)}" cy="${middle}" r="1.6"/>`);
  return markup`<g><title>${`${look.label}: ${spelled(summary, unit)}${failed > 0 ? `, ${counted(failed, "run")} failed` : ""}`}</title>${name}${segments}${values.length > 1 && [whisker, runs]}${textAt(end + 8, middle + 4, note, { tone: failed > 0 ? "bad" : look.ours ? "strong" : "" })}</g>`;
}

function floorPart(floor: number, unit: string, x: number, top: number, bottom: number, width: number): Markup {
  const text = `floor ${formatQuantity(floor, unit)}`;
  const half = textWidth(text) / 2;
  return markup`${lineFrom(x, top - 4, x, bottom, "floor")}${textAt(Math.min(Math.max(x, half), width - half), 12, text, { anchor: "middle", tone: "muted" })}`;
}
