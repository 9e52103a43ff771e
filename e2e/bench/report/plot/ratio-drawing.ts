/** Where Ropeway stands: a dot per cell at ours / best direct, the geometric mean of each row, and the line at 1. */
import type { Comparison } from "../analysis.ts";
import { meanRatio } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { formatRatio } from "../quantity.ts";
import { type Drawing, textWidth } from "./drawing.ts";
import { axisOver, type Marks, Plot, plotDrawing } from "./plot.ts";

export interface RatioRow {
  readonly look: ContestantLook;
  readonly comparisons: readonly Comparison[];
}

export interface RatioGroup {
  readonly title: string;
  readonly rows: readonly RatioRow[];
}

const ROW = 25;

/** A line of the plot: a group's title, or one contestant of it. */
interface Place {
  readonly key: string;
  readonly title: string | null;
  readonly row: RatioRow | null;
}

export function ratioDrawing(groups: readonly RatioGroup[], width: number): Drawing {
  const places = groups.flatMap(({ title, rows }): Place[] => [
    { key: title, title, row: null },
    ...rows.map((row) => ({ key: `${title} ${row.look.contestant}`, title: null, row })),
  ]);
  const rows = groups.flatMap((group) => group.rows);
  const ratios = rows.flatMap(({ comparisons }) => comparisons.flatMap(({ ratio }) => ratio ?? []));
  const behind = rows.flatMap(({ comparisons }) => comparisons).filter((comparison) => comparison.behind).length;
  const names = new Map(places.flatMap(({ key, row }) => (row === null ? [] : [[key, row.look.label] as const])));
  return plotDrawing(
    {
      width,
      height: places.length * ROW + 50,
      marginLeft: 10 + Math.max(0, ...rows.map(({ look }) => textWidth(look.label))),
      marginRight: 52,
      marginTop: 24,
      marginBottom: 26,
      x: { ...axisOver([...ratios, 0.5, 2], "", 1), tickFormat: (ratio: number) => `${ratio}×`, label: null },
      y: {
        domain: places.map(({ key }) => key),
        ticks: [...names.keys()],
        tickFormat: (key: string) => names.get(key),
        tickSize: 0,
        label: null,
      },
      marks: [
        Plot.ruleX([1], { stroke: "var(--text)", strokeWidth: 1.5 }),
        sideNote("◀ Ropeway better", "end", 600),
        sideNote(width < 500 ? "worse ▶" : "direct better ▶", "start", 400),
        Plot.text(
          places.filter(({ title }) => title !== null),
          {
            y: "key",
            text: "title",
            frameAnchor: "left",
            textAnchor: "start",
            dx: -100,
            fill: "var(--muted)",
            stroke: "var(--surface)",
            strokeWidth: 4,
          },
        ),
        places.flatMap(({ key, row }) => (row === null ? [] : rowMarks(key, row))),
      ],
    },
    `Ours over best direct: ${rows.map(({ look, comparisons }) => `${look.label} ${formatRatio(meanRatio(comparisons) ?? Number.NaN)}`).join("; ")}; above 1 in ${behind} of ${ratios.length}`,
  );
}

function sideNote(text: string, textAnchor: "start" | "end", fontWeight: number): Plot.Markish {
  const dx = textAnchor === "end" ? -8 : 8;
  return Plot.text([1], {
    x: (one: number) => one,
    frameAnchor: "top",
    dy: -14,
    dx,
    textAnchor,
    fontWeight,
    text: () => text,
  });
}

function rowMarks(key: string, { look, comparisons }: RatioRow): Marks {
  const mean = meanRatio(comparisons);
  const y = (): string => key;
  const dots = comparisons.filter(({ ratio }) => ratio !== null);
  const dot = {
    x: ({ ratio }: Comparison) => ratio,
    y,
    title: ({ ratio, cell }: Comparison) => `${look.label}, ${cell.id}: ${formatRatio(ratio ?? Number.NaN)}`,
  };
  return [
    Plot.dot(
      dots.filter((comparison) => !comparison.behind),
      { ...dot, r: 4.5, fill: look.colour, fillOpacity: 0.5 },
    ),
    // A diamond outlined in the colour of warnings: told from the dots by its shape as well.
    Plot.dot(
      dots.filter((comparison) => comparison.behind),
      { ...dot, symbol: "diamond", r: 5, fill: "var(--surface)", stroke: "var(--danger)", strokeWidth: 2 },
    ),
    mean === null || comparisons.length < 2
      ? null
      : Plot.tickX([mean], { x: (value: number) => value, y, stroke: look.colour, strokeWidth: 3 }),
    Plot.text([0], {
      y,
      frameAnchor: "right",
      textAnchor: "end",
      dx: 48,
      fontWeight: 600,
      text: () => (mean === null ? "–" : formatRatio(mean)),
    }),
  ];
}
