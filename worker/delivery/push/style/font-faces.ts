/** Which files of `@font-face` rules a browser loads for text: CSS Fonts Level 4, sections 4 and 5. */
import { type CSSToken, TokenType } from "@csstools/css-tokenizer";
import type { Effort } from "./effort.ts";
import type { Declaration } from "./style-sheet.ts";
import { endOfFunction, familiesOf, listOf, textOf, trimmed } from "./values.ts";

export interface FontFace {
  /** In lower case. */
  readonly family: string;
  /** Of the first source that a browser takes; null where it needs none of them from the network. */
  readonly url: string | null;
  readonly isItalic: boolean;
  /** Least and most. */
  readonly weights: readonly [number, number];
  /** Code points, first and last of each range; null for all. */
  readonly ranges: readonly (readonly [number, number])[] | null;
  /** URL of its style sheet. */
  readonly sheet: string;
}

/** Text that is shown in one style. */
export interface FontUse {
  /** In lower case, the first that has a character shows it. */
  readonly families: readonly string[];
  readonly weight: number;
  readonly isItalic: boolean;
  /** Code points. */
  readonly characters: ReadonlySet<number>;
}

/** Count: faces, or ranges for a character, that are compared in the time of a step. */
const COMPARED = 8;

const FORMATS = /^(?:woff2?|truetype|opentype|collection)(?:-variations)?$/i;
/** Names that phones have a font for, be it another one (fonts.xml of Android; Apple's). */
const ON_PHONES =
  /^(?:-apple-system|blinkmacsystemfont|system-ui|ui-.*|serif|sans-serif|monospace|cursive|fantasy|math|emoji|arial|helvetica|helvetica neue|tahoma|verdana|times|times new roman|georgia|palatino|baskerville|courier|courier new|monaco|roboto|noto .*|droid .*)$/;

/** Null for what is no font. */
export function toFontFace(declarations: readonly Declaration[], sheet: string): FontFace | null {
  const value = (name: string): readonly CSSToken[] =>
    declarations.findLast((declaration) => declaration.name === name)?.value ?? [];
  const [family] = familiesOf(value("font-family"));
  const sources = value("src");
  if (family === undefined || sources.length === 0) return null;
  return {
    family,
    url: chosenSource(sources),
    isItalic: /^(?:italic|oblique)/i.test(textOf(value("font-style"))),
    weights: weightsOf(textOf(value("font-weight"))),
    ranges: rangesOf(textOf(value("unicode-range"))),
    sheet,
  };
}

/** In the order of their use, as far as the effort goes. */
export function facesFor(uses: Iterable<FontUse>, faces: readonly FontFace[], effort: Effort): FontFace[] {
  const families = Map.groupBy(faces, ({ family }) => family);
  const chosen = new Set<FontFace>();
  for (const use of uses) {
    let left = [...use.characters];
    for (const family of use.families) {
      const ofFamily = families.get(family);
      if (ofFamily === undefined && ON_PHONES.test(family)) break;
      // The last that has a character shows it.
      effort.left -= (ofFamily?.length ?? 0) / COMPARED;
      for (const face of closest(ofFamily ?? [], use).toReversed()) {
        effort.left -= (left.length * (face.ranges?.length ?? 1)) / COMPARED;
        if (effort.left <= 0) return [...chosen];
        const others = left.filter((character) => !isIn(face.ranges, character));
        if (others.length < left.length) chosen.add(face);
        left = others;
      }
      if (left.length === 0) break;
    }
  }
  return [...chosen];
}

/** Section 5.2: by style, then by weight. */
function closest(faces: readonly FontFace[], { isItalic, weight }: FontUse): FontFace[] {
  const ofStyle = faces.filter((face) => face.isItalic === isItalic);
  const among = ofStyle.length > 0 ? ofStyle : faces;
  const distances = among.map((face) => distance(face.weights, weight));
  const least = distances.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  return among.filter((_, index) => distances[index] === least);
}

/** In the order in which weights are tried. */
function distance([least, most]: FontFace["weights"], weight: number): number {
  if (weight >= least && weight <= most) return 0;
  const isBelow = most < weight;
  const away = isBelow ? weight - most : least - weight;
  if (weight >= 400 && weight <= 500) {
    if (!isBelow && least <= 500) return away;
    return isBelow ? 1_000 + away : 2_000 + away;
  }
  return isBelow === weight < 400 ? away : 1_000 + away;
}

function isIn(ranges: FontFace["ranges"], character: number): boolean {
  return ranges === null || ranges.some(([first, last]) => character >= first && character <= last);
}

function chosenSource(sources: readonly CSSToken[]): string | null {
  for (const source of listOf(sources)) {
    const tokens = trimmed(source);
    const [first] = tokens;
    const name = first?.[0] === TokenType.Function ? first[4].value.toLowerCase() : "";
    if (name === "local") {
      if (ON_PHONES.test(familiesOf(tokens.slice(1, endOfFunction(tokens, 0)))[0] ?? "")) return null;
      continue;
    }
    const inside = tokens.slice(1).find(([type]) => type !== TokenType.Whitespace);
    const address = first?.[0] === TokenType.URL ? first : name === "url" ? inside : undefined;
    if (address?.[0] !== TokenType.URL && address?.[0] !== TokenType.String) continue;
    const url = address[4].value;
    if (isTaken(url, textOf(tokens))) return /^\s*data:/i.test(url) ? null : url;
  }
  return null;
}

function isTaken(url: string, source: string): boolean {
  const format = /\bformat\(\s*["']?([a-z0-9-]+)["']?\s*\)/i.exec(source)?.[1];
  return format === undefined ? !/\.(?:eot|svgz?)(?:[?#]|$)/i.test(url) : FORMATS.test(format);
}

function weightsOf(text: string): readonly [number, number] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .map((word) => (word === "bold" ? 700 : Number(word) || 400));
  const [first = 400, second = first] = words;
  return [Math.min(first, second), Math.max(first, second)];
}

function rangesOf(text: string): FontFace["ranges"] {
  const ranges = [...text.matchAll(/u\+([0-9a-f]{0,6})(\?{0,6})(?:-([0-9a-f]{1,6}))?/gi)].map(
    ([, start = "", wild = "", end]) =>
      [
        Number.parseInt(start + "0".repeat(wild.length), 16),
        Number.parseInt(end ?? start + "f".repeat(wild.length), 16),
      ] as const,
  );
  return ranges.length === 0 ? null : ranges;
}
