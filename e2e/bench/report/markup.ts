/** HTML and SVG as text in which everything put in is escaped, unless it is markup itself. */

/** Text that is markup already: only `markup` makes it from literals, and `trusted` from style sheets. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in a template's holes; null and false leave nothing. */
export type MarkupValue = string | number | Markup | null | false | readonly MarkupValue[];

/** Template tag: `markup\`<p title="${text}">${[first, second]}</p>\``; attributes need their quotes. */
export function markup(literals: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(literals.map((literal, index) => literal + render(values[index] ?? null)).join(""));
}

/** Takes text as markup as it stands: for what the report's own files hold, never for what a result holds. */
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
