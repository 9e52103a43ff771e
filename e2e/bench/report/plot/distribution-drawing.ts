/** Cumulative distribution over pages: which share of the pages is within how much of a metric. */
import type { Cell, Metric } from "../../model.ts";
import { summaryOf } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { formatQuantity } from "../quantity.ts";
import type { Drawing } from "./drawing.ts";
import { axisOver, inOrder, Plot, plotDrawing, strokeOf } from "./plot.ts";

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
  const largest = Math.max(0, ...distributions.flatMap(({ medians }) => medians));
  const lines = inOrder(distributions).map(({ look, medians }) => {
    const corners = [0, ...medians, largest].map((value, index) => [
      value,
      Math.min(index, medians.length) / cells.length,
    ]);
    return Plot.line(corners, { curve: "step-after", ...strokeOf(look), title: () => look.label });
  });
  return plotDrawing(
    {
      width,
      height,
      marginLeft: 50,
      marginBottom: 40,
      x: { ...axisOver([0, largest], metric.unit), label: metric.label },
      y: {
        domain: [0, 1],
        ticks: [0, 0.25, 0.5, 0.75, 1],
        tickFormat: (share: number) => `${share * 100}\u00a0%`,
        label: null,
        grid: true,
      },
      marks: lines,
    },
    `Share of ${cells.length} pages by ${metric.label}: ${distributions.map(({ look, medians }) => `${look.label} half of them within ${formatQuantity(medians[Math.ceil(medians.length / 2) - 1] ?? 0, metric.unit)}`).join("; ")}`,
  );
}
