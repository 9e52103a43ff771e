/** What contestants show of a page at the same moments, one below the other. */
import type { Cell, FilmstripFrame, Metric } from "../../model.ts";
import { typicalRun } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";
import { formatQuantity, formatTick } from "../quantity.ts";
import { type Drawing, lineFrom, textAt } from "./drawing.ts";

export interface FilmstripPlot {
  readonly cell: Cell;
  /** When a contestant is done, in milliseconds; of its runs the one in the middle is shown. */
  readonly metric: Metric;
  readonly looks: ReadonlyMap<string, ContestantLook>;
  /** Tells this drawing's pictures from those of others on the same page. */
  readonly name: string;
}

interface Strip {
  readonly look: ContestantLook;
  readonly doneAt: number;
  readonly frames: readonly FilmstripFrame[];
}

const FRAME = { width: 58, height: 129 };
const COLUMN = FRAME.width + 8;
const HEAD = 22;
const ROW = HEAD + FRAME.height + 14;
const COLUMNS = 14;

/** Where the slowest takes more than this many times the fastest, equal steps would show next to nothing of the fastest. */
const FACTOR_FOR_EQUAL_STEPS = 4;

/** Null where no run has pictures. */
export function filmstripDrawing({ cell, metric, looks, name }: FilmstripPlot): Drawing | null {
  const strips = [...looks.values()].flatMap((look): Strip[] => {
    const series = cell.series.find(({ contestant }) => contestant === look.contestant);
    const run = series && typicalRun({ runs: series.runs.filter(({ filmstrip }) => filmstrip?.length) }, metric.name);
    const frames = run?.filmstrip?.toSorted((a, b) => a.at - b.at);
    return run && frames ? [{ look, doneAt: run.values[metric.name] ?? 0, frames }] : [];
  });
  if (strips.length === 0) return null;
  const moments = momentsOf(strips);
  const pictures = [...new Set(strips.flatMap(({ frames }) => frames.map(({ picture }) => picture)))];
  const width = moments.length * COLUMN;
  const rows = strips.map((strip, index) =>
    rowPart(strip, { moments, pictures, name, unit: metric.unit }, 30 + HEAD + index * ROW),
  );
  return {
    width,
    height: 30 + strips.length * ROW,
    description: `Filmstrips on one time axis: ${strips.map(({ look, doneAt }) => `${look.label} done after ${formatQuantity(doneAt, metric.unit)}`).join("; ")}`,
    content: markup`<defs>${pictures.map((picture, index) => markup`<image id="${name}-${index}" href="${picture}" width="${FRAME.width}" height="${FRAME.height}" preserveAspectRatio="xMidYMin slice"/>`)}</defs>${moments.map((moment, index) => textAt(index * COLUMN + FRAME.width / 2, 14, formatTick(moment, metric.unit), { anchor: "middle", tone: "muted" }))}${lineFrom(0, 21, width - 8, 21, "axis")}${rows}`,
  };
}

interface Film {
  readonly moments: readonly number[];
  readonly pictures: readonly string[];
  readonly name: string;
  readonly unit: string;
}

function rowPart({ look, doneAt, frames }: Strip, { moments, pictures, name, unit }: Film, y: number): Markup {
  const done = moments.findIndex((moment) => moment >= doneAt);
  const cells = moments.map((moment, index) => {
    const x = index * COLUMN;
    const shown = frames.findLast(({ at }) => at <= moment);
    const picture = shown && markup`<use href="#${name}-${pictures.indexOf(shown.picture)}" x="${x}" y="${y}"/>`;
    const frame =
      index === done
        ? markup`<rect class="film-frame" x="${x - 1}" y="${y - 1}" width="${FRAME.width + 2}" height="${FRAME.height + 2}" style="stroke:${look.colour};stroke-width:3"/>`
        : markup`<rect class="film-frame" x="${x}" y="${y}" width="${FRAME.width}" height="${FRAME.height}"/>`;
    return markup`<g${index > done ? markup` opacity="0.45"` : null}>${picture ?? null}${frame}</g>`;
  });
  return markup`${textAt(0, y - 7, `${look.label}: done after ${formatQuantity(doneAt, unit)}`, { tone: look.ours ? "strong" : "muted" })}${cells}`;
}

/** Equal steps, or 1, 2, 3, 5, 10 and so on; from before anything shows up to the first at which all are done. */
function momentsOf(strips: readonly Strip[]): number[] {
  const done = strips.map(({ doneAt }) => Math.max(1, doneAt));
  const [fastest, slowest] = [Math.min(...done), Math.max(...done)];
  if (slowest / fastest <= FACTOR_FOR_EQUAL_STEPS) {
    const least = slowest / (COLUMNS - 1);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.ceil((least / power) * 2) * (power / 2);
    return Array.from({ length: Math.ceil(slowest / step) + 1 }, (_, index) => index * step);
  }
  const firstChange = Math.min(fastest, ...strips.flatMap(({ frames }) => frames[1]?.at ?? []));
  const marks = [0, 1, 2, 3, 4, 5, 6].flatMap((power) =>
    [1, 1.5, 2, 3, 5, 7].map((mantissa) => mantissa * 10 ** power),
  );
  const first = marks.findLastIndex((mark) => mark <= firstChange);
  const last = marks.findIndex((mark) => mark >= slowest);
  return [0, ...marks.slice(Math.max(0, first, last - COLUMNS + 2), last + 1)];
}
