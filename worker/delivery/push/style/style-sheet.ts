/** What a style sheet says of fonts and backgrounds, and what it imports: CSS Syntax Level 3, by a tokenizer. */
import { type CSSToken, TokenType, tokenizer } from "@csstools/css-tokenizer";
import type { Viewport } from "../../../../shared/http/viewport.ts";
import { matchesMedia } from "../media-query.ts";
import { readSelectors, type Selector } from "./selector.ts";
import { textOf, trimmed } from "./values.ts";

/** Tokens that are kept of a sheet: more than frameworks have that are of interest. */
const SIZE = 40_000;
/** Count: `@media` in `@supports` in `@layer`. */
const DEPTH = 6;
/** Count: a longer prelude or value is not looked at. */
const TOKENS = 2_000;

/** Besides custom properties. */
const OF_INTEREST: ReadonlySet<string> = new Set(
  "background background-image content display font font-family font-style font-weight".split(" "),
);
const OF_FACES: ReadonlySet<string> = new Set("font-family font-style font-weight src unicode-range".split(" "));

export interface Declaration {
  /** In lower case, unless it is a custom property. */
  readonly name: string;
  readonly value: readonly CSSToken[];
  readonly isImportant: boolean;
}

export interface StyleRule {
  readonly selectors: readonly Selector[];
  readonly declarations: readonly Declaration[];
  /** In an `@layer`: gives way to what is in none. */
  readonly isLayered: boolean;
}

export interface StyleSheet {
  /** Addresses as written. */
  readonly imports: readonly string[];
  /** Whether something follows that ends the imports. */
  readonly isPastImports: boolean;
  readonly rules: readonly StyleRule[];
  /** Declarations of each `@font-face`. */
  readonly faces: readonly (readonly Declaration[])[];
  /** Tokens of what is kept, some 150 bytes of memory each. */
  readonly size: number;
}

/** @param text may break off: what is not ended is left out of the imports. */
export function readStyleSheet(text: string, viewport: Viewport | undefined): StyleSheet {
  const reader = new SheetReader(text, viewport);
  reader.readRules();
  return reader;
}

/** Of a `style` attribute. */
export function readDeclarations(text: string): readonly Declaration[] {
  return new SheetReader(text, undefined).readDeclarations(OF_INTEREST);
}

class SheetReader implements StyleSheet {
  readonly imports: string[] = [];
  isPastImports = false;
  readonly rules: StyleRule[] = [];
  readonly faces: (readonly Declaration[])[] = [];
  size = 0;
  readonly #viewport: Viewport | undefined;
  readonly #next: () => CSSToken;
  #token: CSSToken;
  #layers = 0;

  constructor(text: string, viewport: Viewport | undefined) {
    this.#viewport = viewport;
    const { nextToken } = tokenizer({ css: text });
    this.#next = () => {
      let token = nextToken();
      while (token[0] === TokenType.Comment) token = nextToken();
      return token;
    };
    this.#token = this.#next();
  }

  /** Until the block ends that it is in, or the text. */
  readRules(depth = 0): void {
    while (this.#token[0] !== TokenType.EOF && this.size < SIZE) {
      switch (this.#token[0]) {
        case TokenType.CloseCurly:
          this.#advance();
          if (depth > 0) return;
          break;
        case TokenType.Whitespace:
        case TokenType.Semicolon:
        case TokenType.CDO:
        case TokenType.CDC:
          this.#advance();
          break;
        case TokenType.AtKeyword:
          this.#readAtRule(this.#token[4].value.toLowerCase(), depth);
          break;
        default:
          this.#readRule();
      }
    }
  }

  /** Until the block ends that it is in, or the text. */
  readDeclarations(wanted: ReadonlySet<string>): Declaration[] {
    const declarations: Declaration[] = [];
    for (let size = 0; ; ) {
      const tokens = this.#until(TokenType.Semicolon, TokenType.OpenCurly, TokenType.CloseCurly);
      const end = this.#token[0];
      this.#advance();
      // What has a block is a rule in the rule.
      if (end === TokenType.OpenCurly) this.#skipBlock();
      else {
        const declaration = declarationOf(tokens, wanted);
        if (declaration !== null && size < SIZE) {
          declarations.push(declaration);
          size += sizeOf([declaration]);
        }
      }
      if (end === TokenType.CloseCurly || end === TokenType.EOF) return declarations;
    }
  }

  #readAtRule(name: string, depth: number): void {
    this.#advance();
    const prelude = trimmed(this.#until(TokenType.Semicolon, TokenType.OpenCurly, TokenType.CloseCurly));
    const end = this.#token[0];
    if (name === "import" && end === TokenType.Semicolon && !this.isPastImports) this.#readImport(prelude);
    else if (end !== TokenType.EOF && name !== "charset" && name !== "layer") this.isPastImports = true;
    if (end !== TokenType.CloseCurly) this.#advance();
    if (end !== TokenType.OpenCurly) return;
    this.isPastImports = true;
    if (name === "font-face") {
      const face = this.readDeclarations(OF_FACES);
      this.size += sizeOf(face);
      this.faces.push(face);
    } else if (depth >= DEPTH || !this.#holds(name, textOf(prelude))) this.#skipBlock();
    else {
      this.#layers += Number(name === "layer");
      this.readRules(depth + 1);
      this.#layers -= Number(name === "layer");
    }
  }

  #holds(name: string, prelude: string): boolean {
    if (name === "media") return this.#isForScreen(prelude);
    return name === "layer" || (name === "supports" && !/^not\b/i.test(prelude));
  }

  #isForScreen(query: string): boolean {
    if (/^(?:all|screen)?$/i.test(query)) return true;
    return this.#viewport !== undefined && matchesMedia(query, this.#viewport) === true;
  }

  #readImport([first, ...rest]: readonly CSSToken[]): void {
    let url = first?.[0] === TokenType.String || first?.[0] === TokenType.URL ? first[4].value : "";
    let condition = rest;
    if (first?.[0] === TokenType.Function && first[4].value.toLowerCase() === "url") {
      const close = rest.findIndex(([type]) => type === TokenType.CloseParen);
      const inside = rest.slice(0, close).find(([type]) => type !== TokenType.Whitespace);
      if (inside?.[0] !== TokenType.String) return;
      url = inside[4].value;
      condition = rest.slice(close + 1);
    }
    const query = textOf(condition)
      .replace(/^\s*layer(?:\([^)]*\))?/i, "")
      .trim();
    if (url !== "" && this.#isForScreen(query)) this.imports.push(url);
  }

  #readRule(): void {
    this.isPastImports = true;
    const prelude = this.#until(TokenType.OpenCurly, TokenType.CloseCurly);
    const isRule = this.#token[0] === TokenType.OpenCurly;
    if (!isRule) return;
    this.#advance();
    const declarations = this.readDeclarations(OF_INTEREST);
    if (declarations.length === 0) return;
    const selectors = readSelectors(prelude);
    if (selectors.length === 0) return;
    this.size += prelude.length + sizeOf(declarations);
    this.rules.push({ selectors, declarations, isLayered: this.#layers > 0 });
  }

  /** What stands before the first of these that is in no brackets; empty where that is too much. */
  #until(...ends: readonly TokenType[]): CSSToken[] {
    const tokens: CSSToken[] = [];
    for (let depth = 0; this.#token[0] !== TokenType.EOF; this.#advance()) {
      const [type] = this.#token;
      if (depth === 0 && ends.includes(type)) break;
      if (OPENING.has(type)) depth += 1;
      else if (type === TokenType.CloseParen || type === TokenType.CloseSquare) depth = Math.max(0, depth - 1);
      // What is never closed ends with its block.
      else if (type === TokenType.CloseCurly) break;
      if (tokens.length <= TOKENS) tokens.push(this.#token);
    }
    return tokens.length > TOKENS ? [] : tokens;
  }

  /** Until the end of the block whose beginning was read. */
  #skipBlock(): void {
    for (let depth = 1; depth > 0 && this.#token[0] !== TokenType.EOF; this.#advance()) {
      if (this.#token[0] === TokenType.OpenCurly) depth += 1;
      if (this.#token[0] === TokenType.CloseCurly) depth -= 1;
    }
  }

  #advance(): void {
    if (this.#token[0] !== TokenType.EOF) this.#token = this.#next();
  }
}

const OPENING: ReadonlySet<TokenType> = new Set([TokenType.Function, TokenType.OpenParen, TokenType.OpenSquare]);

function sizeOf(declarations: readonly Declaration[]): number {
  return declarations.reduce((size, { value }) => size + value.length + 1, 0);
}

function declarationOf(tokens: readonly CSSToken[], wanted: ReadonlySet<string>): Declaration | null {
  const [property, ...rest] = trimmed(tokens);
  if (property?.[0] !== TokenType.Ident) return null;
  const colon = rest.findIndex(([type]) => type !== TokenType.Whitespace);
  const isCustom = property[4].value.startsWith("--");
  const name = isCustom ? property[4].value : property[4].value.toLowerCase();
  if (rest[colon]?.[0] !== TokenType.Colon || (!isCustom && !wanted.has(name))) return null;
  const value = trimmed(rest.slice(colon + 1));
  const mark = value.findLastIndex((token) => token[0] === TokenType.Delim && token[4].value === "!");
  const isImportant = mark >= 0 && /^!\s*important$/i.test(textOf(value.slice(mark)));
  return { name, value: isImportant ? trimmed(value.slice(0, mark)) : value, isImportant };
}
