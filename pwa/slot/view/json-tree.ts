/**
 * JSON as it is written: numbers with all their digits, keys in their order and as often as they come. Nothing of the
 * text is kept but the places of what is shown.
 */
import { createScanner, type JSONScanner, type SyntaxKind } from "jsonc-parser";
import { t } from "../words.ts";
import { element, inTurns, type Row, type Rows } from "./tree.ts";

/** Characters: the memory of a small phone holds a text a few times. */
const LONGEST_JSON = 32 * 1024 * 1024;

/** Deeper is none that people read. */
const DEEPEST = 2_000;

/** Tokens between two looks at the clock. */
const TOKENS = 500;

/** Characters of a string that are shown without a tap. */
const LONGEST_STRING = 2_000;

/** Characters of a closed row. */
const PREVIEW = 80;

/** Null: it is no JSON, or too large. */
export async function jsonRows(text: string): Promise<Rows | null> {
  if (text.length > LONGEST_JSON || !(await inTurns(isJsonText(text)))) return null;
  return function* () {
    const scanner = createScanner(text, true);
    scanner.scan();
    yield rowOf(text, scanner, []);
    return undefined;
  };
}

/** As `jsonc-parser` has them, in an enumeration that only its own compiler can read. */
const Token = {
  OpenBrace: 1,
  CloseBrace: 2,
  OpenBracket: 3,
  CloseBracket: 4,
  Comma: 5,
  Colon: 6,
  Null: 7,
  True: 8,
  False: 9,
  String: 10,
  Number: 11,
  LineBreak: 14,
  Space: 15,
  End: 17,
} as const;

const VALUES: ReadonlySet<SyntaxKind> = new Set([Token.String, Token.Number, Token.True, Token.False, Token.Null]);

type Kind = "object" | "array";

/** The token that may come next. */
type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end";

/** Whether it keeps to the grammar (RFC 8259): `jsonc-parser` goes on where it does not, and takes comments. */
export function* isJsonText(text: string): Generator<undefined, boolean> {
  const scanner = createScanner(text, false);
  const within: Kind[] = [];
  let expected: Expected = "value";
  for (let count = 1; ; count += 1) {
    if (count % TOKENS === 0) yield;
    const token = scanner.scan();
    if (token === Token.Space || token === Token.LineBreak) continue;
    if (token === Token.End) return within.length === 0 && expected === "comma or end";
    if (scanner.getTokenError() !== 0 || within.length > DEEPEST) return false;
    const next = after(token, expected, within);
    if (next === null) return false;
    expected = next;
  }
}

/** @param within is changed with the token. Null: it may not stand here. */
function after(token: SyntaxKind, expected: Expected, within: Kind[]): Expected | null {
  const around = within.at(-1);
  const isValue = expected === "value" || expected === "value or end";
  if (isValue && VALUES.has(token)) return "comma or end";
  switch (token) {
    case Token.String:
      return expected === "key" || expected === "key or end" ? "colon" : null;
    case Token.Colon:
      return expected === "colon" ? "value" : null;
    case Token.Comma:
      if (expected !== "comma or end" || around === undefined) return null;
      return around === "object" ? "key" : "value";
    case Token.OpenBrace:
      within.push("object");
      return isValue ? "key or end" : null;
    case Token.OpenBracket:
      within.push("array");
      return isValue ? "value or end" : null;
    default:
      return afterEnd(token, expected, within.pop());
  }
}

function afterEnd(token: SyntaxKind, expected: Expected, kind: Kind | undefined): Expected | null {
  const isEnd = token === (kind === "object" ? Token.CloseBrace : Token.CloseBracket);
  const mayEnd = expected === "comma or end" || expected === (kind === "object" ? "key or end" : "value or end");
  return kind !== undefined && isEnd && mayEnd ? "comma or end" : null;
}

/** @param scanner at the first token of a value. @param key as it is shown before it. */
function rowOf(text: string, scanner: JSONScanner, key: readonly Node[]): Row {
  const token = scanner.getToken();
  const start = scanner.getTokenOffset();
  const isObject = token === Token.OpenBrace;
  if (!isObject && token !== Token.OpenBracket) {
    const written = text.slice(start, start + scanner.getTokenLength());
    return { content: [...key, ...shownValue(token, written)] };
  }
  const [open, end] = isObject ? ["{", "}"] : ["[", "]"];
  const preview = text.slice(start + 1, start + 1 + PREVIEW).replace(/\s+/g, " ");
  if (preview.trimStart().startsWith(end)) return { content: [...key, `${open}${end}`] };
  return { content: [...key, open], preview: `${preview}…`, end, children: () => members(text, start) };
}

function shownValue(token: SyntaxKind, written: string): Node[] {
  if (token !== Token.String) return [element("span", "value", written)];
  const value = JSON.parse(written) as string;
  const shown = readable(written);
  const string = element("bdi", "string", shown.slice(0, LONGEST_STRING));
  if (/^https?:\/\/\S+$/.test(value) && value.length < LONGEST_STRING) {
    const link = element("a", "", string);
    link.href = value;
    return [link];
  }
  if (shown.length <= LONGEST_STRING) return [string];
  const all = element("button", "", t("… Show all {count} characters", { count: shown.length }));
  all.type = "button";
  all.addEventListener("click", () => {
    string.textContent = shown;
    all.remove();
  });
  return [string, all];
}

/** Characters in the place of their numbers, where they are letters and the like. */
function readable(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|[^u])/gi, (written, code?: string) => {
    const character = code === undefined ? "" : String.fromCharCode(Number.parseInt(code, 16));
    return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) && !/["\\]/.test(character) ? character : written;
  });
}

/** @param start of an object or array. */
function* members(text: string, start: number): Generator<Row | undefined, undefined> {
  const scanner = createScanner(text, true);
  scanner.setPosition(start);
  const isObject = scanner.scan() === Token.OpenBrace;
  for (let index = 0; ; index += 1) {
    const token = scanner.scan();
    if (token === Token.CloseBrace || token === Token.CloseBracket) return undefined;
    let key = element("span", "index", `${index}: `);
    if (isObject) {
      const name = text.slice(scanner.getTokenOffset(), scanner.getTokenOffset() + scanner.getTokenLength());
      key = element("span", "key", element("bdi", "", readable(name)), ": ");
      scanner.scan();
      scanner.scan();
    }
    const row = rowOf(text, scanner, [key]);
    yield* toEnd(scanner);
    yield row;
    if (scanner.scan() !== Token.Comma) return undefined;
  }
}

/** Goes to the last token of the value that it is at the first of. */
function* toEnd(scanner: JSONScanner): Generator<undefined, void> {
  let depth = 0;
  for (let count = 1; ; count += 1) {
    const token = scanner.getToken();
    if (token === Token.OpenBrace || token === Token.OpenBracket) depth += 1;
    if (token === Token.CloseBrace || token === Token.CloseBracket) depth -= 1;
    if (depth === 0) return;
    if (count % TOKENS === 0) yield;
    scanner.scan();
  }
}
