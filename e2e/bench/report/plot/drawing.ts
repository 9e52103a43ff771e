/** Plots, legends and films as one picture. Lengths are CSS pixels; colours come from the theme's variables. */
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";

/** A plot, to be put into a page or a picture. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** What it shows, for those who do not see it. */
  readonly description: string;
  readonly content: Markup;
}

/** Mean width of a character of the plots' 12 pixel type, bold, in the widest of the usual fonts. */
const CHARACTER = 7.6;

export function textWidth(text: string): number {
  return text.length * CHARACTER;
}

export function inlineSvg({ width, height, description, content }: Drawing): Markup {
  return markup`<svg class="drawing" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}">${content}</svg>`;
}

export function textAt(
  x: number,
  y: number,
  text: string,
  {
    anchor = "start",
    tone = "",
  }: { anchor?: "start" | "middle" | "end"; tone?: "" | "muted" | "strong" | "heading" | "bad" } = {},
): Markup {
  return markup`<text x="${x}" y="${y}" text-anchor="${anchor}" class="${tone}">${text}</text>`;
}

export function lineFrom(x1: number, y1: number, x2: number, y2: number, kind: string): Markup {
  return markup`<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

/** @param title shown when pointed at. */
function markerAt(x: number, y: number, look: ContestantLook, title: string, size = 4): Markup {
  const paint = look.ours
    ? markup`fill="${look.colour}" stroke="var(--surface)" stroke-width="1"`
    : markup`fill="var(--surface)" stroke="${look.colour}" stroke-width="1.75"`;
  const hint = title === "" ? null : markup`<title>${title}</title>`;
  if (look.marker === "circle") return markup`<circle cx="${x}" cy="${y}" r="${size}" ${paint}>${hint}</circle>`;
  const reach = size * 1.15;
  const corners =
    look.marker === "square"
      ? [
          [x - size, y - size],
          [x + size, y - size],
          [x + size, y + size],
          [x - size, y + size],
        ]
      : [
          [x, y - reach],
          [x + reach, y + reach * 0.8],
          [x - reach, y + reach * 0.8],
        ];
  return markup`<polygon points="${points(corners)}" ${paint}>${hint}</polygon>`;
}

function points(places: readonly (readonly number[])[]): string {
  return places.map((place) => place.map((length) => length.toFixed(1)).join(",")).join(" ");
}

export interface LegendEntry {
  readonly label: string;
  readonly look: ContestantLook | "floor";
}

/** Entries from left to right, in as many lines as they need. */
export function legendDrawing(entries: readonly LegendEntry[], width: number): Drawing {
  const lineHeight = 22;
  let [x, y] = [0, 14];
  const content = entries.map(({ label, look }) => {
    const needed = 34 + textWidth(label) + 16;
    if (x > 0 && x + needed > width + 16) [x, y] = [0, y + lineHeight];
    const swatch =
      look === "floor"
        ? lineFrom(x, y - 4, x + 26, y - 4, "floor")
        : [
            markup`<line x1="${x}" y1="${y - 4}" x2="${x + 26}" y2="${y - 4}" ${stroke(look)}/>`,
            markerAt(x + 13, y - 4, look, ""),
          ];
    const entry = markup`${swatch}${textAt(x + 32, y, label)}`;
    x += needed;
    return entry;
  });
  const description = `Legend: ${entries.map(({ label }) => label).join(", ")}`;
  return { width, height: y + 8, description, content: markup`${content}` };
}

function stroke(look: ContestantLook): Markup {
  const dash = look.dash === "" ? null : markup` stroke-dasharray="${look.dash}"`;
  return markup`fill="none" stroke="${look.colour}" stroke-width="${look.ours ? 2.5 : 1.75}" stroke-linejoin="round"${dash}`;
}

/** Drawings side by side in rows of `columns`, each with its title above it, as one. */
export function arrange(
  panels: readonly { readonly title: string; readonly drawing: Drawing }[],
  columns: number,
  description: string,
): Drawing {
  const [gapAcross, gapDown, titleHeight] = [36, 22, 22];
  const widths = panels.map(({ drawing }) => drawing.width);
  const column = Math.max(0, ...widths);
  const used = Math.min(columns, panels.length);
  let top = 0;
  const content: Markup[] = [];
  for (let start = 0; start < panels.length; start += columns) {
    const row = panels.slice(start, start + columns);
    const head = row.some(({ title }) => title !== "") ? titleHeight : 0;
    for (const [index, { title, drawing }] of row.entries()) {
      const name = title === "" ? null : textAt(0, 13, title, { tone: "strong" });
      content.push(
        markup`<g transform="translate(${index * (column + gapAcross)} ${top})">${name}<g transform="translate(0 ${head})">${drawing.content}</g></g>`,
      );
    }
    top += head + Math.max(...row.map(({ drawing }) => drawing.height)) + gapDown;
  }
  return {
    width: used * column + Math.max(0, used - 1) * gapAcross,
    height: Math.max(0, top - gapDown),
    description,
    content: markup`${content}`,
  };
}
