/** Values of CSS properties, as tokens. */
import { type CSSToken, TokenType } from "@csstools/css-tokenizer";
import type { Effort } from "./effort.ts";

/** Count: of `var()` in `var()`. */
const DEPTH = 8;
/** Count: a value may grow to so much by what its `var()` stand for. */
const TOKENS = 500;
/** Count. */
const FAMILIES = 20;
/** Characters of the name of one. */
const FAMILY = 100;

export type CustomProperties = ReadonlyMap<string, readonly CSSToken[]>;

export function trimmed(tokens: readonly CSSToken[]): readonly CSSToken[] {
  const start = tokens.findIndex(([type]) => type !== TokenType.Whitespace);
  const end = tokens.findLastIndex(([type]) => type !== TokenType.Whitespace);
  return start < 0 ? [] : tokens.slice(start, end + 1);
}

export function textOf(tokens: readonly CSSToken[]): string {
  return tokens.map(([, text]) => text).join("");
}

/** The parts between commas that are in no brackets. */
export function listOf(tokens: readonly CSSToken[]): CSSToken[][] {
  const parts: CSSToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    const [type] = token;
    if (type === TokenType.Function || type === TokenType.OpenParen) depth += 1;
    if (type === TokenType.CloseParen) depth -= 1;
    if (type === TokenType.Comma && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** Index of the bracket that closes the function at `start`, or of the end. */
export function endOfFunction(tokens: readonly CSSToken[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    const type = tokens[at]?.[0];
    if (type === TokenType.Function || type === TokenType.OpenParen) depth += 1;
    if (type === TokenType.CloseParen && --depth === 0) return at;
  }
  return tokens.length;
}

/** With what each `var()` stands for. Null where that is not known, or the effort is spent. */
export function withoutVariables(
  tokens: readonly CSSToken[],
  custom: CustomProperties,
  effort: Effort,
  depth = 0,
): readonly CSSToken[] | null {
  const isVariable = (token: CSSToken): boolean =>
    token[0] === TokenType.Function && token[4].value.toLowerCase() === "var";
  if (!tokens.some(isVariable)) return tokens;
  // Empty ones, of many empty ones each, never get too long.
  effort.left -= tokens.length;
  if (depth >= DEPTH || effort.left <= 0) return null;
  const whole: CSSToken[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as CSSToken;
    if (!isVariable(token)) {
      whole.push(token);
      continue;
    }
    const end = endOfFunction(tokens, at);
    const [name = [], ...otherwise] = listOf(tokens.slice(at + 1, end));
    const key = trimmed(name)[0]?.[1] ?? "";
    const comma = tokens.slice(at, end).find(([type]) => type === TokenType.Comma) as CSSToken;
    const instead = otherwise.flatMap((part, index) => (index === 0 ? part : [comma, ...part]));
    const meant = custom.get(key) ?? (otherwise.length > 0 ? instead : null);
    const value = meant && withoutVariables(meant, custom, effort, depth + 1);
    if (value === null || whole.length + value.length > TOKENS) return null;
    whole.push(...value);
    at = end;
  }
  return whole;
}

/** Of one alone: in lower case; "" for any other value. */
export function keywordOf(tokens: readonly CSSToken[]): string {
  const [only, ...more] = tokens;
  return only?.[0] === TokenType.Ident && more.length === 0 ? only[4].value.toLowerCase() : "";
}

/** Addresses of all `url()`, as written. Null where the screen decides between several. */
export function urlsOf(tokens: readonly CSSToken[]): string[] | null {
  const urls: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token[0] === TokenType.URL) urls.push(token[4].value);
    if (token[0] !== TokenType.Function) continue;
    const name = token[4].value.toLowerCase();
    if (name.endsWith("image-set")) return null;
    if (name !== "url" && name !== "src") continue;
    const inside = tokens.slice(index + 1, index + 3).find(([type]) => type !== TokenType.Whitespace);
    if (inside?.[0] === TokenType.String) urls.push(inside[4].value);
  }
  return urls;
}

/** Names of `font-family`, in lower case: the first ones. */
export function familiesOf(tokens: readonly CSSToken[]): string[] {
  const parts = listOf(tokens).slice(0, FAMILIES);
  return parts.flatMap((part) => {
    const words = part.flatMap((token) =>
      token[0] === TokenType.Ident || token[0] === TokenType.String ? token[4].value : [],
    );
    return words.length === 0 ? [] : words.join(" ").slice(0, FAMILY).toLowerCase();
  });
}
