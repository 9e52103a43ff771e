/** Lines over a number, such as time or phones. */
import { markup } from "../bench/report/markup.ts";
import { type Drawing, lineFrom, points, textAt, textWidth } from "../bench/report/plot/drawing.ts";
import { scaleOver } from "../bench/report/plot/scale.ts";
import { formatQuantity, formatTicks } from "../bench/report/quantity.ts";

export interface ChartLine {
  /** At the line's end; empty for none. */
  readonly label: string;
  readonly colour: string;
  readonly dashed?: boolean;
  /** Whether each point is seen for itself. */
  readonly marked?: boolean;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly lines: readonly ChartLine[];
  readonly xUnit: string;
  readonly xTitle: string;
  readonly yUnit: string;
}

const WIDTH = 420;
const HEIGHT = 250;
const NAME_HEIGHT = 15;

export function chartDrawing({ lines, xUnit, xTitle, yUnit }: Chart): Drawing {
  const all = lines.flatMap((line) => line.points);
  const [top, bottom] = [10, HEIGHT - 40];
  const y = scaleOver(
    all.map(([, value]) => value),
    bottom,
    top,
    5,
    Number.POSITIVE_INFINITY,
  );
  const yLabels = formatTicks(y.ticks, yUnit);
  const left = 10 + Math.max(...yLabels.map(textWidth));
  const right = WIDTH - 10 - Math.max(0, ...lines.map(({ label }) => textWidth(label)));
  const x = scaleOver(
    all.map(([value]) => value),
    left,
    right,
    5,
    // Counts are chosen by factors, moments by steps.
    xUnit === "" ? 50 : Number.POSITIVE_INFINITY,
  );
  const xLabels = formatTicks(x.ticks, xUnit);
  const ends = namePlaces(lines.map((line) => y.place(line.points.at(-1)?.[1] ?? 0)));
  const drawn = lines.map(({ label, colour, dashed, marked, points: own }, index) => {
    const places = own.map(([at, value]) => [x.place(at), y.place(value)]);
    const dash = dashed ? markup` stroke-dasharray="5 4"` : null;
    const marks = places.map(([cx = 0, cy = 0]) => markup`<circle cx="${cx}" cy="${cy}" r="3.2" fill="${colour}"/>`);
    return markup`<polyline points="${points(places)}" fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"${dash}/>${marked === true && marks}${textAt(right + 8, (ends[index] ?? 0) + 4, label)}`;
  });
  return {
    width: WIDTH,
    height: HEIGHT,
    description: lines
      .map((line) => `${line.label} ends at ${formatQuantity(line.points.at(-1)?.[1] ?? 0, yUnit)}`.trim())
      .join("; "),
    content: markup`${y.ticks.map((tick, index) => [
      lineFrom(left, y.place(tick), right, y.place(tick), "grid"),
      textAt(left - 6, y.place(tick) + 4, yLabels[index] ?? "", { anchor: "end", tone: "muted" }),
    ])}${x.ticks.map((tick, index) => textAt(x.place(tick), bottom + 18, xLabels[index] ?? "", { anchor: "middle", tone: "muted" }))}${lineFrom(left, bottom, right, bottom, "axis")}${textAt(right, bottom + 35, xTitle, { anchor: "end", tone: "muted" })}${drawn}`,
  };
}

/** Names stand beside their lines' ends, one below the other where those are close. */
function namePlaces(ends: readonly number[]): number[] {
  const order = ends.map((place, index) => ({ place, index })).sort((a, b) => a.place - b.place);
  const places: number[] = [];
  let lowest = Number.NEGATIVE_INFINITY;
  for (const { place, index } of order) {
    lowest = Math.max(place, lowest + NAME_HEIGHT);
    places[index] = lowest;
  }
  return places;
}
