/** Plots as SVG pictures for the documents. Lengths are CSS pixels; colours come from the theme's variables. */
import { type PlotOptions, plot, type ScaleOptions } from "@observablehq/plot";
import { DOMParser } from "linkedom";
import { formatTick, scaleFor } from "./quantity.ts";

/** Text that is markup already: only `markup` makes it from literals, and `trusted` from style sheets. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in a template's holes; null and false leave nothing. */
type MarkupValue = string | number | Markup | null | false | readonly MarkupValue[];

/** Template tag: `markup\`<p title="${text}">${[first, second]}</p>\``; attributes need their quotes. */
export function markup(literals: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(literals.map((literal, index) => literal + render(values[index] ?? null)).join(""));
}

/** Takes text as markup as it stands: for what this file holds and the library gives, never for what a result holds. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

function render(value: MarkupValue): string {
  if (value === null || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "number") return String(Number.isInteger(value) ? value : Number(value.toFixed(2)));
  return typeof value === "string" ? escapeText(value) : value.map(render).join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that XML does not allow at all become U+FFFD. */
function escapeText(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "")
  );
}

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

function textAt(
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

const document = new DOMParser().parseFromString(
  '<svg xmlns="http://www.w3.org/2000/svg"/>',
  "image/svg+xml",
) as unknown as Document;

/** Where several sizes of number have to be seen at once, equal steps are equal factors. */
const FACTOR_FOR_LOGARITHM = 20;

/** @param description what it shows, for those who do not see it. */
export function plotDrawing(
  options: PlotOptions & { readonly width: number; readonly height: number },
  description: string,
): Drawing {
  const { width, height } = options;
  const svg = plot({ ...options, document });
  svg.querySelector("style")?.remove();
  // The library writes sixteen digits, and escapes the text of a result.
  const content = svg.innerHTML.replaceAll(/(?<=="[^"]*)(\d+\.\d\d)\d+(?=[^"]*")/g, "$1");
  return { width, height, description, content: trusted(`<g text-anchor="middle">${content}</g>`) };
}

/**
 * An axis for all of `values`, with labels in their unit.
 *
 * @param factor an axis starts at zero up to here, between the largest and the smallest value.
 */
export function axisOver(values: readonly number[], unit: string, factor = FACTOR_FOR_LOGARITHM): ScaleOptions {
  const largest = Math.max(...values, Number.MIN_VALUE);
  const smallest = Math.min(...values, largest);
  if (smallest > 0 && largest / smallest > factor) {
    const ticks = roundNumbers(smallest, largest);
    const domain = [Math.min(smallest, ticks[0] ?? smallest), Math.max(largest, ticks.at(-1) ?? largest)];
    return { type: "log", domain, ticks, tickFormat: (tick: number) => formatTick(tick, unit) };
  }
  const scale = scaleFor(unit, largest);
  return {
    type: "linear",
    domain: [0, largest],
    nice: 5,
    ticks: 5,
    tickFormat: (tick: number) => (tick === 0 ? "0" : formatTick(tick, unit, scale)),
  };
}

export * as Plot from "@observablehq/plot";

/** 1, 2 and 5 of each power of ten that is reached; of many only the powers. */
function roundNumbers(smallest: number, largest: number): number[] {
  const first = Math.floor(Math.log10(smallest));
  const powers = Array.from({ length: Math.floor(Math.log10(largest)) + 2 - first }, (_, index) => first + index);
  const mantissas = powers.length > 3 ? [1] : [1, 2, 5];
  const candidates = powers.flatMap((power) => mantissas.map((mantissa) => Number(`${mantissa}e${power}`)));
  const from = candidates.findLastIndex((tick) => tick <= smallest);
  const to = candidates.findIndex((tick) => tick >= largest);
  return candidates.slice(Math.max(0, from), to + 1);
}

/**
 * Colours in light and dark. Those of contestants stay apart with every kind of colour blindness (CIE76 distance of at least
 * 14 after Machado's simulations), and dashes tell them apart too.
 */
const LIGHT = {
  surface: "#ffffff",
  text: "#14211e",
  muted: "#53635e",
  line: "#dbe3df",
  axis: "#8b9994",
  "direct-1": "#98a5a0",
  "direct-2": "#71807b",
  "direct-3": "#465450",
  "ours-1": "#2165b8",
  "ours-2": "#c98a00",
  "ours-3": "#c43419",
  "fixed-1": "#d390d5",
  "fixed-2": "#b829ff",
  "fixed-3": "#32203c",
} as const;

const DARK: Record<keyof typeof LIGHT, string> = {
  surface: "#1a2321",
  text: "#e9f0ed",
  muted: "#a3b3ad",
  line: "#2d3936",
  axis: "#6f7f79",
  "direct-1": "#687672",
  "direct-2": "#8e9c97",
  "direct-3": "#b9c6c1",
  "ours-1": "#5aa2f0",
  "ours-2": "#e8b93a",
  "ours-3": "#ff6f4e",
  "fixed-1": "#764b8b",
  "fixed-2": "#b829ff",
  "fixed-3": "#e0b6ed",
};

/** How drawings look, wherever they stand. */
const DRAWING_STYLE = `
.drawing text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
.drawing { color: var(--text); fill: currentColor; }
.drawing .muted { fill: var(--muted); }
.drawing .strong { font-weight: 600; }
`;

/** Style inside of a picture that stands alone. */
function pictureStyle(): Markup {
  return trusted(
    `svg { ${variables(LIGHT)} }\n@media (prefers-color-scheme: dark) { svg { ${variables(DARK)} } }\n${DRAWING_STYLE}
.drawing .ground { fill: var(--surface); }
.drawing .title { font-size: 17px; font-weight: 650; }
`,
  );
}

function variables(colours: Readonly<Record<string, string>>): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(" ");
}

const MARGIN = 20;

/** Drawings one below the other under a title, as a file of its own. */
export function pictureSvg(title: string, subtitle: string, drawings: readonly Drawing[]): string {
  let y = 66;
  const parts: Markup[] = [];
  for (const { height, content } of drawings) {
    parts.push(markup`<g transform="translate(${MARGIN} ${y})">${content}</g>`);
    y += height + 14;
  }
  const width = Math.max(420, ...drawings.map((drawing) => drawing.width)) + 2 * MARGIN;
  const height = y + 6;
  const description = `${title}. ${drawings.at(-1)?.description ?? ""}`;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}"><style>${pictureStyle()}</style><rect class="ground" width="${width}" height="${height}" rx="12"/><text class="title" x="${MARGIN}" y="32">${title}</text>${markup`<g transform="translate(${MARGIN} 50)">${textAt(0, 0, subtitle, { tone: "muted" })}</g>`}${parts}</svg>
`.text;
}
