import { story } from "./text/news-text.ts";

/** The page with an icon that needs no request: whether a browser asks for icons depends on how it is started. */
export function withoutIconFiles(html: string): string {
  return html
    .replace(/\s*<link\b[^>]*\brel="[^"]*icon[^"]*"[^>]*>/g, "")
    .replace("</head>", '<link rel="icon" href="data:,">\n</head>');
}

/** The name of a file at a version of its site, in the manner of build tools: `main.css`, later `main.r1.css`. */
export function releasedName(name: string, version: number): string {
  return version === 0 ? name : name.replace(/(\.\w+)$/, `.r${version}$1`);
}

/** A style sheet as a later release has it: some colours a shade darker, some lengths longer, a rule more. */
export function releasedStyle(css: string, version: number): string {
  if (version === 0) return css;
  let colours = 0;
  let lengths = 0;
  const edited = css
    .replace(/#([0-9a-f])([0-9a-f]{5})\b/g, (colour, first: string, rest: string) =>
      colours++ % 9 === version % 9 && first > "0"
        ? `#${(Number.parseInt(first, 16) - 1).toString(16)}${rest}`
        : colour,
    )
    .replace(
      /\b(padding|margin):(\s*)(\d*\.?\d+)(px|rem|em)\b/g,
      (rule, name: string, space: string, size: string, unit: string) =>
        lengths++ % 12 === version % 12 ? `${name}:${space}${Number(size) + 1}${unit}` : rule,
    );
  return `${edited}\n.edition-${version} { border-left: ${version}px solid; padding-left: ${version + 4}px; }\n`;
}

/** What a page says more than the day before: a headline and a text, as HTML. Empty at version 0. */
export function addedText(site: string, version: number): string {
  if (version === 0) return "";
  const { headline, author, paragraphs } = story(`${site}/added/${version}`, 2);
  return `<div class="edition-${version}"><h3>${headline}</h3><p>${paragraphs.join("</p>\n<p>")}</p><p><small>${author}</small></p></div>\n`;
}

/** Replaces text that has to be there. */
export function replaced(text: string, part: string | RegExp, replacement: string): string {
  if (typeof part === "string" ? !text.includes(part) : !part.test(text)) {
    throw new Error(`Cannot replace ${String(part)}: the package does not have it (any more)`);
  }
  return text.replace(part, () => replacement);
}
