/** A metric against a coordinate: medians as lines, quartiles as bands, the physical floor. */
import type { Cell, Metric } from "../../model.ts";
import type { Summary } from "../../statistics.ts";
import { summaryOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { axisTitle, axisUnit } from "../grid.ts";
import { formatQuantity } from "../quantity.ts";
import type { Drawing } from "./drawing.ts";
import { axisOver, inOrder, type Marks, markerOf, Plot, plotDrawing, strokeOf } from "./plot.ts";

export interface LinePlot {
  readonly cells: readonly Cell[];
  /** Those that share the vertical axis, in other plots beside this one. */
  readonly comparable: readonly Cell[];
  /** Coordinate along the horizontal axis. */
  readonly axis: string;
  readonly metric: Metric;
  readonly looks: ReadonlyMap<string, ContestantLook>;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly at: number;
  readonly summary: Summary;
}

interface Line {
  readonly look: ContestantLook;
  readonly line: readonly Point[];
  /** Where no run succeeded. */
  readonly failedAt: readonly number[];
}

/** Coordinates keep equal steps up to this factor: paper A's delays do, payloads of 1 B to 1 MB do not. */
const FACTOR_FOR_LOGARITHM = 1000;

export function lineDrawing(plot: LinePlot): Drawing {
  const { metric, axis, width, height } = plot;
  const cells = plot.cells.toSorted((a, b) => numberAt(a, axis) - numberAt(b, axis));
  const lines = linesOf(cells, plot);
  const floor = cells.flatMap((cell): [number, number][] => {
    const value = cell.floor[metric.name];
    return value === undefined ? [] : [[numberAt(cell, axis), value]];
  });
  const coordinates = cells.map((cell) => numberAt(cell, axis));
  return plotDrawing(
    {
      width,
      height,
      marginLeft: 74,
      marginRight: 24,
      marginTop: 34,
      marginBottom: 40,
      x: { ...axisOver(coordinates, axisUnit(axis), FACTOR_FOR_LOGARITHM), label: axisTitle(axis) },
      y: { ...axisOver(drawnValues(plot), metric.unit), label: metric.label, grid: true },
      marks: [
        Plot.line(floor, { stroke: "var(--floor)", strokeWidth: 1.5, strokeDasharray: "1 4", strokeLinecap: "round" }),
        ...inOrder(lines).map((line) => lineMarks(line, metric)),
      ],
    },
    spokenLines(lines, plot),
  );
}

function drawnValues({ comparable, metric: { name } }: LinePlot): number[] {
  return comparable.flatMap(({ floor, series }) => {
    const summaries = series.flatMap((one) => summaryOf(one, name) ?? []);
    return [
      ...(floor[name] === undefined ? [] : [floor[name]]),
      ...summaries.flatMap(({ lowerQuartile, upperQuartile }) => [lowerQuartile, upperQuartile]),
    ];
  });
}

export function floorName({ better }: Metric): string {
  return better === "lower" ? "physical floor" : "physical limit";
}

function linesOf(cells: readonly Cell[], { looks, metric, axis }: LinePlot): Line[] {
  return [...looks.values()].flatMap((look) => {
    const places = cells.flatMap((cell) => {
      const series = cell.series.find(({ contestant }) => contestant === look.contestant);
      return series
        ? [{ at: numberAt(cell, axis), summary: summaryOf(series, metric.name), tried: series.runs.length > 0 }]
        : [];
    });
    const line = places.flatMap(({ at, summary }) => (summary ? [{ at, summary }] : []));
    // A metric that a contestant does not have at all (the edge's CPU time of direct ones) is no failure.
    const failedAt =
      line.length > 0 ? places.filter(({ summary, tried }) => tried && !summary).map(({ at }) => at) : [];
    return line.length > 0 ? [{ look, line, failedAt }] : [];
  });
}

function lineMarks({ look, line, failedAt }: Line, { unit }: Metric): Marks {
  const x = ({ at }: Point) => at;
  const y = ({ summary }: Point) => summary.median;
  return [
    Plot.areaY(line, {
      x,
      y1: ({ summary }: Point) => summary.lowerQuartile,
      y2: ({ summary }: Point) => summary.upperQuartile,
      fill: look.colour,
      fillOpacity: 0.16,
    }),
    Plot.line(line, { x, y, ...strokeOf(look) }),
    Plot.dot(line, {
      x,
      y,
      ...markerOf(look),
      title: ({ summary }: Point) => `${look.label}: ${spelled(summary, unit)}`,
    }),
    Plot.text(failedAt, {
      x: (at: number) => at,
      frameAnchor: "bottom",
      dy: -6,
      text: () => "✕",
      fill: "var(--danger)",
      title: () => `${look.label}: all runs failed`,
    }),
  ];
}

function spokenLines(lines: readonly Line[], { metric, axis }: LinePlot): string {
  const spoken = lines.map(({ look, line }) => {
    const ends = [line[0], line.at(-1)].flatMap((point) =>
      point ? [formatQuantity(point.summary.median, metric.unit)] : [],
    );
    return `${look.label} from ${ends.join(" to ")}`;
  });
  return `${metric.label} against ${axisTitle(axis)}: ${spoken.join("; ")}`;
}

export function spelled({ median, lowerQuartile, upperQuartile, count }: Summary, unit: string): string {
  return `${formatQuantity(median, unit)}, quartiles ${formatQuantity(lowerQuartile, unit)} and ${formatQuantity(upperQuartile, unit)}, ${count} runs`;
}

function numberAt({ at }: Cell, axis: string): number {
  return Number(at[axis]);
}
