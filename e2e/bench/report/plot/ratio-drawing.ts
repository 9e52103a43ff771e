/** Where Ropeway stands: a dot per cell at ours / best direct, the geometric mean of each row, and the line at 1. */
import type { Comparison } from "../analysis.ts";
import { meanRatio } from "../analysis.ts";
import type { ContestantLook } from "../contestant-look.ts";
import { type Markup, markup } from "../markup.ts";
import { formatRatio } from "../quantity.ts";
import { type Drawing, lineFrom, textAt, textWidth } from "./drawing.ts";
import { logarithmicScale } from "./scale.ts";

export interface RatioRow {
  readonly look: ContestantLook;
  readonly comparisons: readonly Comparison[];
}

export interface RatioGroup {
  readonly title: string;
  readonly rows: readonly RatioRow[];
}

const ROW = 24;
const HEAD = 26;

export function ratioDrawing(groups: readonly RatioGroup[], width: number): Drawing {
  const rows = groups.flatMap((group) => group.rows);
  const ratios = rows.flatMap(({ comparisons }) => comparisons.flatMap(({ ratio }) => ratio ?? []));
  const left = 10 + Math.max(0, ...rows.map(({ look }) => textWidth(look.label)));
  const right = width - 52;
  const x = logarithmicScale(Math.min(0.5, ...ratios) * 0.95, Math.max(2, ...ratios), left, right, width < 500 ? 4 : 7);
  const one = x.place(1);
  const top = 24;
  let y = top;
  const content = groups.map(({ title, rows: members }): Markup => {
    const head = textAt(0, y + 18, title, { tone: "heading" });
    const rule = lineFrom(0, y + 1, width, y + 1, "grid");
    y += HEAD;
    const parts = members.map((row) => {
      const part = rowPart(row, x.place, y + ROW / 2, width);
      y += ROW;
      return part;
    });
    y += 6;
    return markup`${rule}${head}${parts}`;
  });
  const behind = rows.flatMap(({ comparisons }) => comparisons).filter((comparison) => comparison.behind).length;
  return {
    width,
    height: y + 24,
    description: `Ours over best direct: ${rows.map(({ look, comparisons }) => `${look.label} ${formatRatio(meanRatio(comparisons) ?? Number.NaN)}`).join("; ")}; above 1 in ${behind} of ${ratios.length}`,
    content: markup`<rect class="behind-side" x="${one}" y="${top}" width="${right - one}" height="${y - top}"/>${textAt(one - 8, 14, "◀ Ropeway better", { anchor: "end", tone: "strong" })}${textAt(one + 8, 14, width < 500 ? "worse ▶" : "direct better ▶", { tone: "muted" })}${lineFrom(one, top, one, y, "one")}${content}${x.ticks.map((tick) => textAt(x.place(tick), y + 17, `${tick}×`, { anchor: "middle", tone: "muted" }))}`,
  };
}

function rowPart({ look, comparisons }: RatioRow, x: (ratio: number) => number, y: number, width: number): Markup {
  const mean = meanRatio(comparisons);
  const dots = comparisons.map(({ ratio, behind, cell }) => {
    if (ratio === null) return null;
    const title = markup`<title>${`${look.label}, ${cell.id}: ${formatRatio(ratio)}`}</title>`;
    const place = x(ratio);
    // A diamond outlined in the colour of warnings: told from the dots by its shape as well.
    return behind
      ? markup`<path class="behind-mark" d="M${place} ${y - 6}l6 6l-6 6l-6 -6z">${title}</path>`
      : markup`<circle cx="${place}" cy="${y}" r="4.5" fill="${look.colour}" fill-opacity="0.5">${title}</circle>`;
  });
  const bar =
    mean === null || comparisons.length < 2
      ? null
      : markup`<rect x="${x(mean) - 1.5}" y="${y - 9}" width="3" height="18" rx="1.5" fill="${look.colour}"/>`;
  const note = mean === null ? "–" : formatRatio(mean);
  return markup`${textAt(0, y + 4, look.label)}${dots}${bar}${textAt(width, y + 4, note, { anchor: "end", tone: "strong" })}`;
}
