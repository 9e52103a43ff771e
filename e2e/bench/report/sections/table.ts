/** Tables that scroll sideways on their own where the screen is too narrow. */
import { type Markup, type MarkupValue, markup } from "../markup.ts";

export interface Table {
  readonly caption: string;
  readonly head: readonly string[];
  /** The first cell of each row is its heading. */
  readonly rows: readonly (readonly MarkupValue[])[];
  /** Columns before this one hold text, the others numbers. */
  readonly numbersFrom: number;
}

export function tableMarkup({ caption, head, rows, numbersFrom }: Table): Markup {
  const kind = (column: number) => (column >= numbersFrom ? "number" : "");
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${head.map(
    (text, column) => markup`<th scope="col" class="${kind(column)}">${text}</th>`,
  )}</tr></thead><tbody>${rows.map(
    ([heading, ...cells]) =>
      markup`<tr><th scope="row">${heading ?? null}</th>${cells.map((cell, column) => markup`<td class="${kind(column + 1)}">${cell}</td>`)}</tr>\n`,
  )}</tbody></table></div>`;
}

export function disclosure(summary: string, content: MarkupValue, open = false): Markup {
  return markup`<details${open ? markup` open` : null}><summary>${summary}</summary>${content}</details>`;
}
