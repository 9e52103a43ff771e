/** What came over the link against time, a line for each contestant, around an outage. */
import type { Cell, Metric, Timeline } from "../../model.ts";
import { typicalRun } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";
import { formatQuantity, formatTicks } from "../quantity.ts";
import { type Drawing, lineFrom, markerAt, points, stroke, textAt, textWidth } from "./drawing.ts";
import { type AxisScale, linearScale } from "./scale.ts";

export interface TimelinePlot {
  readonly cell: Cell;
  /** Which run is drawn: the one in the middle. */
  readonly metric: Metric;
  readonly looks: ReadonlyMap<string, ContestantLook>;
  readonly width: number;
  readonly height: number;
}

interface Line {
  readonly look: ContestantLook;
  readonly timeline: Timeline;
}

/** Null where no run has a timeline. */
export function timelineDrawing(plot: TimelinePlot): Drawing | null {
  const { width, height } = plot;
  const lines = linesOf(plot);
  if (lines.length === 0) return null;
  const bottom = height - 40;
  const y = linearScale(Math.max(...lines.map(largest)), bottom, 30);
  const left = 12 + Math.max(...formatTicks(y.ticks, "B").map(textWidth));
  const x = timeScale(lines, left, width - 24);
  const outage = Math.max(...lines.map(({ timeline }) => timeline.outage.to - timeline.outage.from));
  return {
    width,
    height,
    description: spoken(lines),
    content: markup`<rect class="beyond" x="${x.place(-outage)}" y="30" width="${x.place(0) - x.place(-outage)}" height="${bottom - 30}"/>${axes(x, y, left, bottom, width - 24)}${textAt((x.place(-outage) + x.place(0)) / 2, 24, "no link", { anchor: "middle", tone: "muted" })}${lines.toSorted((a, b) => Number(a.look.ours) - Number(b.look.ours)).map((line) => linePart(line, x, y))}`,
  };
}

/** In the experiment's order. */
function linesOf({ cell, metric, looks }: TimelinePlot): Line[] {
  return [...looks.values()].flatMap((look): Line[] => {
    const series = cell.series.find(({ contestant }) => contestant === look.contestant);
    const timeline = series && typicalRun(series, metric.name)?.timeline;
    return timeline ? [{ look, timeline }] : [];
  });
}

/** Milliseconds since the link came back. */
function timeScale(lines: readonly Line[], from: number, to: number): AxisScale {
  const first = Math.min(...lines.map(({ timeline }) => -timeline.outage.to));
  const last = Math.max(...lines.map(({ timeline }) => Math.max(timeline.load, 0) - timeline.outage.to), 0);
  const step = linearScale(last - first, 0, 1).ticks[1] ?? last - first;
  const marks = Math.floor(last / step) - Math.ceil(first / step) + 1;
  return {
    ticks: Array.from({ length: marks }, (_, index) => (Math.ceil(first / step) + index) * step),
    place: (value) => from + ((to - from) * (Math.min(value, last) - first)) / (last - first),
  };
}

function axes(x: AxisScale, y: AxisScale, left: number, bottom: number, right: number): Markup {
  const labels = formatTicks(y.ticks, "B");
  const rows = y.ticks.map((tick, index) => [
    lineFrom(left, y.place(tick), right, y.place(tick), "grid"),
    textAt(left - 8, y.place(tick) + 4, labels[index] ?? "", { anchor: "end", tone: "muted" }),
  ]);
  const columns = x.ticks.map((tick) => [
    lineFrom(x.place(tick), bottom, x.place(tick), bottom + 5, "axis"),
    textAt(x.place(tick), bottom + 19, tick === 0 ? "back" : `${tick / 1000}\u00a0s`, {
      anchor: "middle",
      tone: "muted",
    }),
  ]);
  return markup`${textAt(0, 12, "bytes down", { tone: "muted" })}${rows}${columns}${lineFrom(left, bottom, right, bottom, "axis")}${textAt(right, bottom + 36, "since the link's return", { anchor: "end", tone: "muted" })}`;
}

function linePart({ look, timeline }: Line, x: AxisScale, y: AxisScale): Markup {
  const { outage, load, reload } = timeline;
  const places = timeline.points
    .filter(([at]) => at <= load)
    .map(([at, bytes]) => [x.place(at - outage.to), y.place(bytes)]);
  const bytesAt = (time: number): number => timeline.points.findLast(([at]) => at <= time)?.[1] ?? 0;
  const again =
    reload &&
    markup`<text class="bad" text-anchor="middle" x="${x.place(reload.at - outage.to)}" y="${y.place(bytesAt(reload.at)) - 6}">↻<title>${look.label}: reloaded, ${reload.reason}</title></text>`;
  const hint = `${look.label}: loaded ${formatQuantity(load - outage.to, "ms")} after the link's return`;
  return markup`<polyline points="${points(places)}" ${stroke(look)}/>${markerAt(x.place(load - outage.to), y.place(bytesAt(load)), look, hint)}${again}`;
}

function largest({ timeline }: Line): number {
  return Math.max(...timeline.points.map(([, bytes]) => bytes));
}

function spoken(lines: readonly Line[]): string {
  const ends = lines.map(({ look, timeline: { load, outage, reload } }) => {
    const again = reload === null ? "" : " with a reload";
    return `${look.label} ${formatQuantity(load - outage.to, "ms")}${again}`;
  });
  return `Loaded after the link's return: ${ends.join("; ")}`;
}
