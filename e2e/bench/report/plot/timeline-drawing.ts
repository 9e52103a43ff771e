/** What came over the link against time, a line for each contestant, around an outage. */
import type { Cell, Metric, Timeline } from "../../model.ts";
import { typicalRun } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { formatQuantity } from "../quantity.ts";
import type { Drawing } from "./drawing.ts";
import { axisOver, inOrder, type Marks, markerOf, Plot, plotDrawing, strokeOf } from "./plot.ts";

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
  const outage = Math.max(...lines.map(({ timeline }) => timeline.outage.to - timeline.outage.from));
  const bytes = lines.flatMap(({ timeline }) => timeline.points.map(([, count]) => count));
  return plotDrawing(
    {
      width,
      height,
      marginLeft: 66,
      marginRight: 24,
      marginTop: 34,
      marginBottom: 40,
      x: {
        ticks: 5,
        tickFormat: (time: number) => (time === 0 ? "back" : `${time / 1000}\u00a0s`),
        label: "since the link's return",
      },
      y: { ...axisOver([0, ...bytes], "B"), label: "bytes down", grid: true },
      marks: [
        Plot.rectX([0], { x1: () => -outage, x2: () => 0, fill: "var(--axis)", fillOpacity: 0.12 }),
        Plot.text([-outage / 2], {
          x: (time: number) => time,
          frameAnchor: "top",
          dy: -8,
          text: () => "no link",
          fill: "var(--muted)",
        }),
        ...inOrder(lines).map(lineMarks),
      ],
    },
    spoken(lines),
  );
}

/** In the experiment's order. */
function linesOf({ cell, metric, looks }: TimelinePlot): Line[] {
  return [...looks.values()].flatMap((look): Line[] => {
    const series = cell.series.find(({ contestant }) => contestant === look.contestant);
    const timeline = series && typicalRun(series, metric.name)?.timeline;
    return timeline ? [{ look, timeline }] : [];
  });
}

function lineMarks({ look, timeline: { points, outage, load, reload } }: Line): Marks {
  const x = ([at = 0]: readonly number[]) => at - outage.to;
  const y = ([, count = 0]: readonly number[]) => count;
  const at = (time: number): [number, number] => [time, points.findLast(([moment]) => moment <= time)?.[1] ?? 0];
  const hint = `${look.label}: loaded ${formatQuantity(load - outage.to, "ms")} after the link's return`;
  const shown = points.filter(([moment]) => moment <= load);
  return [
    Plot.line(shown, { x, y, ...strokeOf(look) }),
    Plot.dot([at(load)], { x, y, ...markerOf(look), title: () => hint }),
    reload === null
      ? null
      : Plot.text([at(reload.at)], {
          x,
          y,
          dy: -8,
          text: () => "↻",
          fill: "var(--danger)",
          title: () => `${look.label}: reloaded, ${reload.reason}`,
        }),
  ];
}

function spoken(lines: readonly Line[]): string {
  const ends = lines.map(({ look, timeline: { load, outage, reload } }) => {
    const again = reload === null ? "" : " with a reload";
    return `${look.label} ${formatQuantity(load - outage.to, "ms")}${again}`;
  });
  return `Loaded after the link's return: ${ends.join("; ")}`;
}
