/** The computed font of an element, as far as it decides which file shows its text. */
import { type CSSToken, TokenType } from "@csstools/css-tokenizer";
import { familiesOf, keywordOf, listOf } from "./values.ts";

export interface FontStyle {
  /** In lower case. */
  readonly families: readonly string[];
  readonly weight: number;
  readonly isItalic: boolean;
}

export const INITIAL_STYLE: FontStyle = { families: [], weight: 400, isItalic: false };

const SYSTEM_FONTS: ReadonlySet<string> = new Set("caption icon menu message-box small-caption status-bar".split(" "));
const SIZES = /^(?:xx?-small|small|medium|large|x{1,3}-large|smaller|larger|math)$/;
/** Functions of lengths. */
const CALCULATIONS = /^(?:calc|clamp|min|max)$/i;

/** @param value null for what could not be made out: as if it were unset. */
export function withDeclaration(
  style: FontStyle,
  parent: FontStyle,
  name: string,
  value: readonly CSSToken[] | null,
): FontStyle {
  const keyword = value === null ? "unset" : keywordOf(value);
  const isOther = /^(?:inherit|initial|unset|revert|revert-layer)$/.test(keyword);
  const meant = isOther ? (keyword === "initial" ? INITIAL_STYLE : parent) : null;
  switch (name) {
    case "font-family":
      return { ...style, families: meant?.families ?? familiesOf(value ?? []) };
    case "font-weight":
      return { ...style, weight: meant?.weight ?? weightOf(value ?? [], parent.weight) ?? style.weight };
    case "font-style":
      return { ...style, isItalic: meant?.isItalic ?? isSlanted(keyword) };
    case "font":
      return meant ? { ...style, ...fontOf(meant) } : (shorthand(value ?? [], keyword, parent) ?? style);
    default:
      return style;
  }
}

function fontOf({ families, weight, isItalic }: FontStyle): FontStyle {
  return { families, weight, isItalic };
}

/** Null where it is no font. */
function shorthand(value: readonly CSSToken[], keyword: string, parent: FontStyle): FontStyle | null {
  if (SYSTEM_FONTS.has(keyword)) return { ...INITIAL_STYLE, families: ["system-ui"] };
  const size = value.findIndex(isSize);
  if (size < 0) return null;
  const before = value.slice(0, size);
  const words = before.map((token) => keywordOf([token]));
  const weights = before.flatMap((token) => weightOf([token], parent.weight) ?? []);
  return {
    families: familiesOf(afterSize(value.slice(size))),
    weight: weights.find((each) => each !== 400) ?? 400,
    isItalic: words.some(isSlanted),
  };
}

function isSize(token: CSSToken): boolean {
  if (token[0] === TokenType.Dimension || token[0] === TokenType.Percentage) return true;
  if (token[0] === TokenType.Function) return CALCULATIONS.test(token[4].value);
  if (token[0] === TokenType.Number) return token[4].value === 0;
  return SIZES.test(keywordOf([token]));
}

/** What follows the size, and the line height after a slash. */
function afterSize(tokens: readonly CSSToken[]): readonly CSSToken[] {
  const [first = [], ...others] = listOf(tokens);
  let depth = 0;
  let isHeight = true;
  const names = first.filter((token, index) => {
    if (token[0] === TokenType.Function || token[0] === TokenType.OpenParen) depth += 1;
    const isInside = depth > 0;
    if (token[0] === TokenType.CloseParen) depth -= 1;
    const isSlash = token[0] === TokenType.Delim && token[4].value === "/";
    if (isSlash) isHeight = true;
    if (isInside || isSlash || token[0] === TokenType.Whitespace) return false;
    const isPart = isHeight && (index === 0 || isSize(token) || token[0] === TokenType.Number || isNormal(token));
    isHeight = false;
    return !isPart;
  });
  const comma = tokens.find(([type]) => type === TokenType.Comma) as CSSToken;
  return [...names, ...others.flatMap((part) => [comma, ...part])];
}

function isNormal(token: CSSToken): boolean {
  return keywordOf([token]) === "normal";
}

/** Null for what is no weight. */
function weightOf(value: readonly CSSToken[], inherited: number): number | null {
  const [only] = value;
  if (only?.[0] === TokenType.Number && value.length === 1) return only[4].value;
  switch (keywordOf(value)) {
    case "bold":
      return 700;
    case "normal":
      return 400;
    case "bolder":
      return inherited < 350 ? 400 : inherited < 550 ? 700 : 900;
    case "lighter":
      return inherited < 550 ? 100 : inherited < 750 ? 400 : 700;
    default:
      return null;
  }
}

function isSlanted(keyword: string): boolean {
  return keyword === "italic" || keyword === "oblique";
}
