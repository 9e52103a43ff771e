/** Lines over a number, such as time or phones. */
import { axisOver, type Drawing, Plot, plotDrawing, textWidth } from "../bench/report/drawing.ts";
import { formatQuantity } from "../bench/report/quantity.ts";

type Point = readonly [x: number, y: number];

export interface ChartLine {
  /** At the line's end; empty for none. */
  readonly label: string;
  readonly colour: string;
  readonly dashed?: boolean;
  /** Whether each point is seen for itself. */
  readonly marked?: boolean;
  readonly points: readonly Point[];
}

export interface Chart {
  readonly lines: readonly ChartLine[];
  readonly xUnit: string;
  readonly xTitle: string;
  readonly yUnit: string;
}

export function chartDrawing({ lines, xUnit, xTitle, yUnit }: Chart): Drawing {
  const all = lines.flatMap((line) => line.points);
  // Counts are chosen by factors, moments by steps.
  const factor = xUnit === "" ? 50 : Number.POSITIVE_INFINITY;
  return plotDrawing(
    {
      width: 420,
      height: 250,
      marginLeft: 66,
      marginRight: 14 + Math.max(0, ...lines.map(({ label }) => textWidth(label))),
      marginBottom: 40,
      x: {
        ...axisOver(
          all.map(([x]) => x),
          xUnit,
          factor,
        ),
        label: xTitle,
      },
      y: {
        ...axisOver(
          all.map(([, y]) => y),
          yUnit,
          Number.POSITIVE_INFINITY,
        ),
        label: null,
        grid: true,
      },
      marks: lines.map(({ label, colour, dashed, marked, points }) => [
        Plot.line(points, { stroke: colour, strokeWidth: 2, strokeDasharray: dashed ? "5 4" : "none" }),
        marked ? Plot.dot(points, { fill: colour, r: 3.2 }) : null,
        Plot.text(points.slice(-1), { text: () => label, textAnchor: "start", dx: 8 }),
      ]),
    },
    lines
      .map((line) => `${line.label} ends at ${formatQuantity(line.points.at(-1)?.[1] ?? 0, yUnit)}`.trim())
      .join("; "),
  );
}
