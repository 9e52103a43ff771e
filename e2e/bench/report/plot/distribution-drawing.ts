/** Cumulative distribution over pages: which share of the pages is within how much of a metric. */
import type { Cell, Metric } from "../../model.ts";
import { summaryOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";
import { formatQuantity, formatTicks } from "../quantity.ts";
import { type Drawing, lineFrom, points, stroke, textAt } from "./drawing.ts";
import { scaleOver } from "./scale.ts";

export interface DistributionPlot {
  /** One per page. */
  readonly cells: readonly Cell[];
  readonly metric: Metric;
  readonly looks: ReadonlyMap<string, ContestantLook>;
  readonly width: number;
  readonly height: number;
}

interface Steps {
  readonly look: ContestantLook;
  /** Medians of the pages that loaded, rising. */
  readonly medians: readonly number[];
}

/** Pages that no run of a contestant loaded are missing from its steps, which then end below 100 %. */
export function distributionDrawing({ cells, metric, looks, width, height }: DistributionPlot): Drawing {
  const distributions = [...looks.values()].flatMap((look): Steps[] => {
    const medians = cells.flatMap(({ series }) => {
      const own = series.find(({ contestant }) => contestant === look.contestant);
      return (own && summaryOf(own, metric.name)?.median) ?? [];
    });
    return medians.length === 0 ? [] : [{ look, medians: medians.sort((a, b) => a - b) }];
  });
  const [left, right, top, bottom] = [44, width - 24, 12, height - 40];
  const x = scaleOver(
    distributions.flatMap(({ medians }) => medians),
    left,
    right,
    4,
  );
  const labels = formatTicks(x.ticks, metric.unit);
  const y = (share: number) => bottom - share * (bottom - top);
  const ordered = [...distributions.filter(({ look }) => !look.ours), ...distributions.filter(({ look }) => look.ours)];
  const steps = ordered.map(({ look, medians }): Markup => {
    const corners = medians.flatMap((value, index) => [
      [x.place(value), y(index / cells.length)],
      [x.place(value), y((index + 1) / cells.length)],
    ]);
    const start = [left, y(0)];
    const end = [right, y(medians.length / cells.length)];
    return markup`<polyline points="${points([start, ...corners, end])}" ${stroke(look)}><title>${look.label}</title></polyline>`;
  });
  return {
    width,
    height,
    description: `Share of ${cells.length} pages by ${metric.label}: ${distributions.map(({ look, medians }) => `${look.label} half of them within ${formatQuantity(medians[Math.ceil(medians.length / 2) - 1] ?? 0, metric.unit)}`).join("; ")}`,
    content: markup`${[0, 0.25, 0.5, 0.75, 1].map((share) => [
      lineFrom(left, y(share), right, y(share), "grid"),
      textAt(left - 8, y(share) + 4, `${share * 100}\u00a0%`, { anchor: "end", tone: "muted" }),
    ])}${x.ticks.map((tick, index) => [
      lineFrom(x.place(tick), bottom, x.place(tick), bottom + 5, "axis"),
      textAt(x.place(tick), bottom + 19, labels[index] ?? "", { anchor: "middle", tone: "muted" }),
    ])}${lineFrom(left, bottom, right, bottom, "axis")}${textAt(right, bottom + 36, metric.label, { anchor: "end", tone: "muted" })}${steps}`,
  };
}
