/** The documents' two pictures: "what it does to a page", and "the day after". */
import type { Cell } from "../model.ts";
import type { MergedResults } from "../results.ts";
import { geometricMean } from "../statistics.ts";
import { arrange, axisOver, type Drawing, Plot, pictureSvg, plotDrawing, textWidth } from "./drawing.ts";
import { cellsOf, LINKS, originOf, ratiosOf, summaryOf } from "./figures.ts";
import { formatQuantity } from "./quantity.ts";

const PICTURES: Readonly<Record<string, (results: MergedResults) => string | null>> = {
  "a-throughput-against-delay.svg": throughputPicture,
  "r-day-after.svg": dayAfterPicture,
};

export const PICTURE_FILES = Object.keys(PICTURES);

/** @returns null where what it shows has not been measured. */
export function pictureOf(file: string, results: MergedResults): string | null {
  return PICTURES[file]?.(results) ?? null;
}

const LINES = [
  { contestant: "http/1.1", label: "HTTP/1.1", colour: "var(--direct-1)", dash: "2 3" },
  { contestant: "http/2", label: "HTTP/2", colour: "var(--direct-2)", dash: "6 4" },
  { contestant: "http/3", label: "HTTP/3", colour: "var(--direct-3)", dash: "none" },
  { contestant: "ropeway open 1 channel", label: "one WebSocket", colour: "var(--fixed-1)", dash: "3 3" },
  { contestant: "ropeway open", label: "app open", colour: "var(--ours-2)", dash: "none" },
  { contestant: "ropeway warm", label: "from another site", colour: "var(--ours-3)", dash: "none" },
] as const;

function throughputPicture(results: MergedResults): string | null {
  const cells = cellsOf(results, "A").toSorted((one, other) => Number(one.at.delay) - Number(other.at.delay));
  if (cells.length < 2) return null;
  const lines = LINES.map((line) => ({ ...line, points: cells.flatMap((cell) => pointOf(cell, line.contestant)) }));
  const highest = lines.flatMap(({ points }) => points.map(({ high }) => high));
  // Lines may end close to each other; their labels keep a distance.
  const heights = new Map<string, number>();
  const ends = lines.map(({ label, points }) => ({ label, end: points.at(-1)?.median ?? 0 }));
  for (const { label, end } of ends.toSorted((one, other) => one.end - other.end)) {
    const below = Math.max(...heights.values());
    heights.set(label, Math.max(end, below + Math.max(...highest) / 24));
  }
  const labelAt = (label: string) => (): number => heights.get(label) ?? 0;
  const drawing = plotDrawing(
    {
      width: 820,
      height: 420,
      marginLeft: 74,
      marginRight: 20 + Math.max(...LINES.map(({ label }) => textWidth(label))),
      marginTop: 34,
      marginBottom: 40,
      x: {
        ...axisOver([0, ...cells.map(({ at }) => Number(at.delay))], "ms", Number.POSITIVE_INFINITY),
        label: "delay, one way",
      },
      y: { ...axisOver([0, ...highest], "kbit/s"), label: "throughput", grid: true },
      marks: lines.map(({ points, colour, dash, label }) => [
        Plot.areaY(points, { x: "at", y1: "low", y2: "high", fill: colour, fillOpacity: 0.16 }),
        Plot.line(points, { x: "at", y: "median", stroke: colour, strokeWidth: 2.25, strokeDasharray: dash }),
        Plot.dot(points, { x: "at", y: "median", fill: colour, r: 3.5 }),
        Plot.text(points.slice(-1), { x: "at", y: labelAt(label), text: () => label, textAnchor: "start", dx: 8 }),
      ]),
    },
    lines
      .map(({ label, points }) => `${label} ends at ${formatQuantity(points.at(-1)?.median ?? 0, "kbit/s")}`)
      .join("; "),
  );
  return pictureSvg("150 pictures of 1,517 bytes: throughput against delay", originOf(results, ["A"]), [drawing]);
}

function pointOf(cell: Cell, contestant: string) {
  const summary = summaryOf(cell, contestant, "throughput");
  if (summary === null) return [];
  const { median, lowerQuartile: low, upperQuartile: high } = summary;
  return [{ at: Number(cell.at.delay), median, low, high }];
}

function dayAfterPicture(results: MergedResults): string | null {
  const panels = [
    { title: "App open", contestant: "ropeway open" },
    { title: "App closed", contestant: "ropeway cold" },
  ].map(({ title, contestant }) => ({ title, drawing: ratioDrawing(results, contestant) }));
  if (panels.some(({ drawing }) => drawing === null)) return null;
  const drawn = panels.flatMap(({ title, drawing }) => (drawing === null ? [] : [{ title, drawing }]));
  const description = drawn.map(({ title, drawing }) => `${title}: ${drawing.description}`).join(". ");
  return pictureSvg(
    "The day after: Ropeway's time by the best of HTTP/1.1, 2 and 3",
    `A dot for each page, a line for their mean. ${originOf(results, ["R"])}`,
    [arrange(drawn, 2, description)],
  );
}

function ratioDrawing(results: MergedResults, contestant: string): Drawing | null {
  const rows = Object.entries(LINKS).flatMap(([profile, link]) => {
    const values = ratiosOf(cellsOf(results, "R", { profile, visit: "next day" }), contestant);
    return values.length === 0 ? [] : [{ link, values, mean: geometricMean(values) }];
  });
  if (rows.length === 0) return null;
  const dots = rows.flatMap(({ link, values }) => values.map((value) => ({ link, value })));
  return plotDrawing(
    {
      width: 420,
      height: 60 + 46 * rows.length,
      marginLeft: 80,
      marginRight: 20,
      marginBottom: 30,
      x: { domain: [0, Math.max(2, ...dots.map(({ value }) => value))], ticks: 5, label: null, grid: true },
      y: { domain: rows.map(({ link }) => link), label: null, tickSize: 0 },
      marks: [
        Plot.ruleX([1], { stroke: "var(--text)", strokeWidth: 1.5 }),
        Plot.dot(dots, { x: "value", y: "link", fill: "var(--ours-1)", fillOpacity: 0.6, r: 4 }),
        Plot.tickX(rows, { x: "mean", y: "link", stroke: "var(--ours-3)", strokeWidth: 3 }),
      ],
    },
    rows.map(({ link, mean }) => `${link} ${mean.toFixed(2)}`).join(", "),
  );
}
