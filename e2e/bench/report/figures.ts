/** Which plots an experiment gets: chosen by what its cells and metrics are, not by its name. */
import type { Cell, ExperimentResult, Metric } from "../model.ts";
import { compareCells, contestantsOf, headlineMetric, measuredMetrics } from "./analysis.ts";
import { type ContestantLook, looksOf } from "./contestant-look.ts";
import { axisTitle, cellLabel, coordinateLabel, gridOf, groupCells } from "./grid.ts";
import { barDrawing } from "./plot/bar-drawing.ts";
import { distributionDrawing } from "./plot/distribution-drawing.ts";
import type { Drawing, LegendEntry } from "./plot/drawing.ts";
import { filmstripDrawing } from "./plot/filmstrip-drawing.ts";
import { floorName, lineDrawing } from "./plot/line-drawing.ts";
import type { RatioGroup } from "./plot/ratio-drawing.ts";

/** Plots of one kind side by side, with what they say together. */
export interface Figure {
  /** Unique in its experiment; for file names and ids. */
  readonly name: string;
  readonly title: string;
  /** How to read it. */
  readonly note: string;
  readonly legend: readonly LegendEntry[];
  readonly panels: readonly Panel[];
}

export interface Panel {
  /** Empty for the only panel. */
  readonly title: string;
  /** Widest that the panel can use, in pixels. */
  readonly widest: number;
  /** Panels of one section belong together more closely; empty for none. */
  readonly section: string;
  draw(width: number): Drawing;
}

/** Of one panel among several; fits the narrowest phones. */
export const PANEL_WIDTH = 372;
const WIDE = 1060;

/** Wide plots are tall as well. */
const TALL_FROM = 600;

/** Fewer pages make no distribution. */
const FEWEST_PAGES = 3;

const STACKS: readonly { readonly name: string; readonly title: string; readonly metrics: readonly string[] }[] = [
  { name: "bytes", title: "Bytes on the link, down and up", metrics: ["bytesDown", "bytesUp"] },
  { name: "cpu", title: "CPU time of browser and edge", metrics: ["browserCpu", "edgeCpu"] },
];

/** Against the axis, one figure per metric that it tells something of: the headline, and rates. */
export function lineFigures(experiment: ExperimentResult, chosen?: Metric): Figure[] {
  const grid = gridOf(experiment.cells);
  const { axis } = grid;
  if (axis === null) return [];
  const looks = looksOf(contestantsOf(experiment));
  const headline = headlineMetric(experiment);
  const metrics = measuredMetrics(experiment).filter(
    ({ name, better }) => name === headline.name || better === "higher",
  );
  const rates = metrics.filter(({ better }) => better === "higher");
  const groups = groupCells(experiment.cells, axis, grid);
  return (chosen ? [chosen] : [...rates, ...metrics.filter(({ better }) => better === "lower")]).map((metric) => ({
    name: `${metric.name}-against-${axis}`,
    title: `${capital(metric.label)} against ${axisTitle(axis)}`,
    note: `Lines are medians, bands reach from the lower to the upper quartile.${hasFloor(experiment.cells, metric) ? ` Dotted: the ${floorName(metric)}; only who fetches fewer bytes than the origin has can pass it.` : ""}`,
    legend: legendOf(looks, hasFloor(experiment.cells, metric) ? metric : null),
    panels: groups.map(({ label, cells }) => ({
      title: label,
      section: "",
      widest: groups.length === 1 ? WIDE : PANEL_WIDTH,
      draw: (width) =>
        lineDrawing({
          cells,
          comparable: experiment.cells,
          axis,
          metric,
          looks,
          width,
          height: width >= TALL_FROM ? 400 : 290,
        }),
    })),
  }));
}

/** A bar per contestant in each cell. */
export function barFigure(experiment: ExperimentResult, metric: Metric): Figure {
  const floor = hasFloor(experiment.cells, metric);
  return {
    name: metric.name,
    title: capital(metric.label),
    note: `Bars reach to the median, brackets from the lower to the upper quartile, dots are runs.${floor ? " Dotted: the physical floor." : ""} Each panel has its own axis.`,
    legend: [],
    panels: cellPanels(experiment, [metric]),
  };
}

/** What visits cost besides time. Against the axis where there is one: such costs hardly change along it. */
export function costFigures(experiment: ExperimentResult): Figure[] {
  const measured = measuredMetrics(experiment);
  const stacks = STACKS.flatMap(({ name, title, metrics }) => {
    const [first, ...others] = metrics.flatMap((key) => measured.find((metric) => metric.name === key) ?? []);
    return first === undefined ? [] : [{ name, title, metrics: [first, ...others] as const }];
  });
  const lines = stacks.flatMap(({ metrics }) => metrics.flatMap((metric) => lineFigures(experiment, metric)));
  const [first, ...more] = lines;
  if (first === undefined || lines.some(({ panels }) => panels.length > 1)) {
    return stacks.map(({ name, title, metrics }) => {
      const parts = metrics.map(({ label }) => label).join(", then paler ");
      return { name, title, note: `Medians of ${parts}.`, legend: [], panels: cellPanels(experiment, metrics) };
    });
  }
  return [
    {
      name: "costs",
      title: "What it costs besides time",
      note: first.note,
      legend: first.legend,
      panels: [first, ...more].flatMap(({ panels }) => panels.map((panel) => ({ ...panel, widest: PANEL_WIDTH }))),
    },
  ];
}

export function isPartOfStack(metric: Metric): boolean {
  return STACKS.some(({ metrics }) => metrics.includes(metric.name));
}

/** Null where there are too few pages. */
export function distributionFigure(experiment: ExperimentResult): Figure | null {
  const grid = gridOf(experiment.cells);
  const metric = headlineMetric(experiment);
  const groups = groupCells(experiment.cells, "page", grid).filter(({ cells }) => cells.length >= FEWEST_PAGES);
  if (!grid.varying.includes("page") || groups.length === 0) return null;
  const looks = looksOf(contestantsOf(experiment));
  return {
    name: `${metric.name}-distribution`,
    title: `Share of pages by ${metric.label}`,
    note: "Each page counts with its median. Further left is better; a line that ends below 100 % has pages that never loaded.",
    legend: legendOf(looks, null),
    panels: groups.map(({ label, cells }) => ({
      title: label,
      section: "",
      widest: groups.length === 1 ? WIDE : PANEL_WIDTH,
      draw: (width) => distributionDrawing({ cells, metric, looks, width, height: 240 }),
    })),
  };
}

/** Null where no run has pictures. */
export function filmstripFigure(experiment: ExperimentResult): Figure | null {
  const grid = gridOf(experiment.cells);
  const metric = headlineMetric(experiment);
  const looks = looksOf(contestantsOf(experiment));
  const panels = experiment.cells.flatMap((cell, index): Panel[] => {
    const drawing = filmstripDrawing({ cell, metric, looks, name: `film-${experiment.id}-${index}` });
    return drawing ? [{ title: cellLabel(cell, grid), section: "", widest: drawing.width, draw: () => drawing }] : [];
  });
  if (panels.length === 0) return null;
  return {
    name: "filmstrips",
    title: "What the person sees, and when",
    note: "The run in the middle of each contestant. The coloured frame is the first moment at which the page is done.",
    legend: [],
    panels,
  };
}

/** Ratios of all experiments, for the picture at the top. */
export function ratioGroups(experiments: readonly ExperimentResult[], seed: number): RatioGroup[] {
  return experiments.flatMap((experiment): RatioGroup[] => {
    const comparisons = compareCells(experiment, headlineMetric(experiment), seed);
    const rows = [...looksOf(contestantsOf(experiment)).values()].flatMap((look) => {
      const own = comparisons.filter(({ contestant }) => contestant === look.contestant);
      return own.length === 0 ? [] : [{ look, comparisons: own }];
    });
    return rows.length === 0 ? [] : [{ title: `${experiment.id} · ${experiment.title}`, rows }];
  });
}

/** Panels in the order of the cells; those of many pages in sections by what pages have in common. */
function cellPanels(experiment: ExperimentResult, metrics: readonly [Metric, ...Metric[]]): Panel[] {
  const grid = gridOf(experiment.cells);
  const looks = looksOf(contestantsOf(experiment));
  const sectioned = grid.varying.includes("page") && grid.varying.length > 1;
  return groupCells(experiment.cells, sectioned ? "page" : null, grid).flatMap(({ label, cells }) =>
    cells.map((cell) => ({
      title: sectioned ? coordinateLabel("page", cell.at.page ?? "") : cellLabel(cell, grid),
      section: sectioned ? label : "",
      widest: PANEL_WIDTH,
      draw: (width: number) => barDrawing({ cell, metrics, looks, width }),
    })),
  );
}

function legendOf(looks: ReadonlyMap<string, ContestantLook>, floorOf: Metric | null): LegendEntry[] {
  const entries: LegendEntry[] = [...looks.values()].map((look) => ({ label: look.label, look }));
  return floorOf === null ? entries : [...entries, { label: floorName(floorOf), look: "floor" }];
}

function hasFloor(cells: readonly Cell[], { name }: Metric): boolean {
  return cells.some(({ floor }) => floor[name] !== undefined);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
