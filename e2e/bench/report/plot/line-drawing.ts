/** A metric against a coordinate: medians as lines, quartiles as bands, the physical floor. */
import type { Cell, Metric } from "../../model.ts";
import type { Summary } from "../../statistics.ts";
import { summaryOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { axisTitle, axisUnit } from "../grid.ts";
import { type Markup, markup } from "../markup.ts";
import { formatQuantity, formatTicks } from "../quantity.ts";
import { type Drawing, lineFrom, markerAt, points, stroke, textAt, textWidth } from "./drawing.ts";
import { type AxisScale, scaleOver } from "./scale.ts";

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
  /** Names at the lines' ends; a legend is needed without them. */
  readonly named: boolean;
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

/** Least distance of two names at lines' ends. */
const NAME_HEIGHT = 16;

export function lineDrawing(plot: LinePlot): Drawing {
  const { metric, axis, width, height, named } = plot;
  const cells = plot.cells.toSorted((a, b) => numberAt(a, axis) - numberAt(b, axis));
  const lines = linesOf(cells, plot);
  const floor = cells.flatMap((cell): [number, number][] => {
    const value = cell.floor[metric.name];
    return value === undefined ? [] : [[numberAt(cell, axis), value]];
  });
  const names = [...lines.map(({ look }) => look.label), floorName(metric)];
  const right = width - (named ? 16 + Math.max(...names.map(textWidth)) : 24);
  const bottom = height - 40;
  const y = scaleOver(drawnValues(plot), bottom, 30);
  const left = 12 + Math.max(...formatTicks(y.ticks, metric.unit).map(textWidth));
  const coordinates = cells.map((cell) => numberAt(cell, axis));
  const x = scaleOver(coordinates, left, right, width < 500 ? 4 : 6, FACTOR_FOR_LOGARITHM);
  const area: Area = { left, right, top: 30, bottom, x, y };
  return {
    width,
    height,
    description: spokenLines(lines, plot),
    content: markup`${axes(plot, area)}${floorPart(floor, metric, area)}${lines.filter(({ look }) => !look.ours).map((line) => linePart(line, metric, area))}${lines.filter(({ look }) => look.ours).map((line) => linePart(line, metric, area))}${named && nameParts(lines, floor, metric, area)}`,
  };
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

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: AxisScale;
  readonly y: AxisScale;
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

function axes({ metric, axis }: LinePlot, { left, right, bottom, x, y }: Area): Markup {
  const yLabels = formatTicks(y.ticks, metric.unit);
  const yParts = y.ticks.map((tick, index) => [
    lineFrom(left, y.place(tick), right, y.place(tick), "grid"),
    textAt(left - 8, y.place(tick) + 4, yLabels[index] ?? "", { anchor: "end", tone: "muted" }),
  ]);
  const xLabels = formatTicks(x.ticks, axisUnit(axis));
  const xParts = x.ticks.map((tick, index) => [
    lineFrom(x.place(tick), bottom, x.place(tick), bottom + 5, "axis"),
    textAt(x.place(tick), bottom + 19, xLabels[index] ?? "", { anchor: "middle", tone: "muted" }),
  ]);
  return markup`${textAt(0, 12, metric.label, { tone: "muted" })}${yParts}${xParts}${lineFrom(left, bottom, right, bottom, "axis")}${textAt(right, bottom + 36, axisTitle(axis), { anchor: "end", tone: "muted" })}`;
}

function floorPart(floor: readonly [number, number][], { better }: Metric, { x, y, top, bottom }: Area): Markup | null {
  if (floor.length < 2) return null;
  const places = floor.map(([at, value]) => [x.place(at), y.place(value)]);
  const edge = better === "lower" ? bottom : top;
  const [first, last] = [places[0]?.[0] ?? 0, places.at(-1)?.[0] ?? 0];
  return markup`<polygon class="beyond" points="${points([...places, [last, edge], [first, edge]])}"/><polyline class="floor" points="${points(places)}"/>`;
}

function linePart({ look, line, failedAt }: Line, { unit }: Metric, { x, y, bottom }: Area): Markup {
  const upper = line.map(({ at, summary }) => [x.place(at), y.place(summary.upperQuartile)]);
  const lower = line.map(({ at, summary }) => [x.place(at), y.place(summary.lowerQuartile)]);
  const middle = line.map(({ at, summary }) => [x.place(at), y.place(summary.median)]);
  return markup`<polygon class="band" fill="${look.colour}" points="${points([...upper, ...lower.toReversed()])}"/><polyline points="${points(middle)}" ${stroke(look)}/>${line.map(
    ({ at, summary }) =>
      markerAt(x.place(at), y.place(summary.median), look, `${look.label}: ${spelled(summary, unit)}`),
  )}${failedAt.map((at) => markup`<text class="bad" text-anchor="middle" x="${x.place(at)}" y="${bottom - 6}">✕<title>${look.label}: all runs failed</title></text>`)}`;
}

function nameParts(lines: readonly Line[], floor: readonly [number, number][], metric: Metric, area: Area): Markup {
  const names = lines.map(({ look, line }) => ({
    label: look.label,
    ours: look.ours,
    y: area.y.place(line.at(-1)?.summary.median ?? 0),
  }));
  const lastFloor = floor.length < 2 ? undefined : floor.at(-1);
  if (lastFloor) names.push({ label: floorName(metric), ours: false, y: area.y.place(lastFloor[1]) });
  const placed = spreadOut(
    names.sort((a, b) => a.y - b.y).map(({ y }) => y),
    area.top,
    area.bottom,
  );
  return markup`${names.map(({ label, ours }, index) => textAt(area.right + 10, (placed[index] ?? 0) + 4, label, { tone: ours ? "strong" : "muted" }))}`;
}

/** Moves names apart that would cover each other. @param places from top to bottom. */
function spreadOut(places: readonly number[], top: number, bottom: number): number[] {
  const down: number[] = [];
  for (const place of places) down.push(Math.max(place, top, (down.at(-1) ?? Number.NEGATIVE_INFINITY) + NAME_HEIGHT));
  const up: number[] = [];
  for (const [index, place] of down.toReversed().entries()) {
    up.push(Math.min(place, index === 0 ? bottom : (up.at(-1) ?? bottom) - NAME_HEIGHT));
  }
  return up.toReversed();
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
