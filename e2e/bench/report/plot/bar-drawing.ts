/** One cell: a bar up to the median per contestant, quartiles, every run, and the physical floor. */
import type { Cell, Metric, Series } from "../../model.ts";
import { median, type Summary, summarize } from "../../statistics.ts";
import { valuesOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { counted, formatQuantity } from "../quantity.ts";
import { type Drawing, textWidth } from "./drawing.ts";
import { spelled } from "./line-drawing.ts";
import { axisOver, type Marks, Plot, plotDrawing } from "./plot.ts";

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
  const marginTop = floor === undefined ? 6 : 22;
  return plotDrawing(
    {
      width,
      height: marginTop + shown.length * ROW + 24,
      marginTop,
      marginBottom: 24,
      marginLeft: 16 + Math.max(0, ...shown.map(({ look }) => textWidth(look.label))),
      marginRight: 12 + Math.max(0, ...shown.map((bar) => textWidth(noteOf(bar, unit)))),
      x: {
        ...axisOver([0, ...shown.flatMap(({ values }) => values), floor ?? 0], unit),
        ticks: 3,
        label: null,
        grid: true,
      },
      y: { label: null, tickSize: 0, padding: 0.43, domain: shown.map(({ look }) => look.label) },
      marks: [shown.map((bar) => barMarks(bar, unit)), floor === undefined ? null : floorMarks(floor, unit)],
    },
    `${label}: ${shown.map((bar) => `${bar.look.label} ${noteOf(bar, unit)}`).join("; ")}${floor === undefined ? "" : `; physical floor ${formatQuantity(floor, unit)}`}`,
  );
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

function barMarks(bar: Bar, unit: string): Marks {
  const { look, summary, values, parts, failed } = bar;
  const y = (): string => look.label;
  const weight = { fontWeight: look.ours ? 600 : 400 };
  const text = { y, textAnchor: "start" as const, text: () => noteOf(bar, unit), ...weight };
  if (summary === null) {
    return [
      Plot.text([0], { ...text, x: () => 0, dx: 6, fill: "var(--danger)", text: () => `✕ ${noteOf(bar, unit)}` }),
    ];
  }
  const total = parts.reduce((sum, part) => sum + part, 0);
  const pieces = parts.map((part, index) => ({
    length: total === 0 ? 0 : (part / total) * summary.median,
    opacity: PART_OPACITY[index] ?? 0.2,
  }));
  const { lowerQuartile, upperQuartile } = summary;
  const ink = { stroke: "var(--text)", strokeWidth: 1.25 };
  return [
    pieces.map(({ length, opacity }, index) => {
      const from = pieces.slice(0, index).reduce((sum, piece) => sum + piece.length, 0);
      return Plot.barX([0], { x1: () => from, x2: () => from + length, y, fill: look.colour, fillOpacity: opacity });
    }),
    values.length < 2
      ? null
      : [
          Plot.link([0], { x1: () => lowerQuartile, x2: () => upperQuartile, y, ...ink }),
          Plot.tickX([lowerQuartile, upperQuartile], { x: (value: number) => value, y, ...ink }),
          Plot.dot(values, { x: (value: number) => value, y, r: 1.6, fill: "var(--text)", fillOpacity: 0.6 }),
        ],
    Plot.text([0], {
      ...text,
      x: () => Math.max(upperQuartile, ...values),
      dx: 8,
      fill: failed > 0 ? "var(--danger)" : "var(--text)",
      title: () => `${look.label}: ${spelled(summary, unit)}${failed > 0 ? `, ${counted(failed, "run")} failed` : ""}`,
    }),
  ];
}

function floorMarks(floor: number, unit: string): Marks {
  const stroke = { stroke: "var(--floor)", strokeWidth: 1.5, strokeDasharray: "1 4", strokeLinecap: "round" as const };
  const text = `floor ${formatQuantity(floor, unit)}`;
  return [
    Plot.ruleX([floor], stroke),
    Plot.text([floor], {
      x: (value: number) => value,
      frameAnchor: "top",
      dy: -14,
      text: () => text,
      fill: "var(--muted)",
    }),
  ];
}
