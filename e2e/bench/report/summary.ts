/** How Ropeway stands beside the best direct contestant: a row for each experiment, or part of it that reads apart. */
import { CLASS_NAMES } from "../behaviours/models/application-model.ts";
import type { Cell, ExperimentResult } from "../model.ts";
import { type Comparison, compareCells, headlineMetric, meanRatio } from "./analysis.ts";
import { coordinateLabel, versionsOf } from "./grid.ts";
import { formatRatio } from "./quantity.ts";

export const SUMMARY_HEAD = ["experiment", "cells", "first or level", "app closed", "open", "warm", "version"] as const;

const VISITS: Readonly<Record<string, string>> = {
  first: "first visit",
  "same day": "the same day",
  "next day": "the day after",
  sibling: "a second page",
};
const STATES: readonly string[] = ["ropeway cold", "ropeway open", "ropeway warm"];

interface Part {
  readonly label: string;
  readonly cells: readonly Cell[];
}

/** Ratios of the headline metric: the geometric mean, then the best and the worst cell. Below 1 Ropeway is better. */
export function summaryRows(experiments: readonly ExperimentResult[], seed: number): string[][] {
  return experiments.flatMap((experiment) =>
    partsToTell(experiment).flatMap(({ label, cells }) => {
      const comparisons = compareCells({ cells }, headlineMetric(experiment), seed);
      // What a WebSocket costs is compared with TCP, not with a page's other ways.
      if (!comparisons.some(({ contestant }) => STATES.includes(contestant))) return [];
      const behind = comparisons.filter((comparison) => comparison.behind).length;
      return [
        [
          `${experiment.id}: ${label}`,
          String(cells.length),
          `${comparisons.length - behind} of ${comparisons.length}`,
          ...STATES.map((state) => ratiosText(comparisons.filter(({ contestant }) => contestant === state))),
          versionsOf(cells),
        ],
      ];
    }),
  );
}

function ratiosText(comparisons: readonly Comparison[]): string {
  const mean = meanRatio(comparisons);
  const ratios = comparisons.flatMap(({ ratio }) => ratio ?? []);
  if (comparisons.length === 0) return "–";
  if (mean === null) return "failed";
  if (ratios.length === 1) return formatRatio(mean);
  return `${formatRatio(mean)} (${formatRatio(Math.min(...ratios))} to ${formatRatio(Math.max(...ratios))})`;
}

function partsToTell({ id, title, cells }: ExperimentResult): Part[] {
  const parts = (label: (cell: Cell) => string): Part[] =>
    [...Map.groupBy(cells, label)].map(([name, members]) => ({ label: name, cells: members }));
  if (id === "A")
    return parts(({ at }) => (Number(at.delay) < 25 ? "150 pictures, 5 ms one way" : "150 pictures, 25 to 300 ms"));
  if (id === "C")
    return parts(({ at }) => {
      const what = CLASS_NAMES.includes(String(at.class)) ? "applications" : "a recorded page";
      return `${what}, ${Number(at.delay) === 0 ? "0 ms" : "100 and 300 ms"}`;
    });
  if (id === "R")
    return parts(({ at }) => {
      const link = coordinateLabel("profile", at.profile ?? "");
      return `${link}, ${VISITS[String(at.visit)]}`;
    }).toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)));
  return [{ label: title, cells }];
}

function isFirst({ cells }: Part): boolean {
  return cells[0]?.at.visit === "first";
}
