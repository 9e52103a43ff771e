/**
 * Selectors (Selectors Level 4), as far as markup alone can tell what they match. What depends on what a person does
 * (`:hover`), or on what is not read yet (`:last-child`), matches nothing.
 */
import { type CSSToken, HashType, TokenType } from "@csstools/css-tokenizer";
import type { Effort } from "./effort.ts";
import type { PageElement } from "./page-elements.ts";
import { listOf, trimmed } from "./values.ts";

/** Count: of one selector; each may make the search start again. */
const COMPOUNDS = 12;
/** Count: `:not(:is(…))`. */
const DEPTH = 3;

type Test = (element: PageElement, effort: Effort) => boolean;
type Combinator = " " | ">" | "+" | "~";

interface Compound {
  name: string | null;
  id: string | null;
  readonly classes: string[];
  readonly tests: Test[];
  /** How the compound before it is to be found. */
  combinator: Combinator | null;
}

export interface Selector {
  /** The last first. */
  readonly compounds: readonly Compound[];
  readonly pseudo: "before" | "after" | null;
  /** Ids, classes and names, a thousand of each to one of the one before. */
  readonly specificity: number;
}

const [OF_ID, OF_CLASS, OF_NAME] = [1_000_000, 1_000, 1];

/** Those of a list that may match. */
export function readSelectors(tokens: readonly CSSToken[], depth = 0): Selector[] {
  return listOf(tokens).flatMap((part) => new SelectorReader(part, depth).read() ?? []);
}

/** By what elements can be sorted out that it does not match: the rightmost compound's `#id`, `.class`, `name` or `*`. */
export function keyOf({ compounds: [last] }: Selector): string {
  if (last?.id) return `#${last.id}`;
  const [name] = last?.classes ?? [];
  return name === undefined ? (last?.name ?? "*") : `.${name}`;
}

/** @returns false, too, where the effort is spent. */
export function matches({ compounds }: Selector, element: PageElement, effort: Effort): boolean {
  return matchesFrom(compounds, 0, element, effort);
}

function matchesFrom(compounds: readonly Compound[], at: number, element: PageElement, effort: Effort): boolean {
  const compound = compounds[at];
  if (compound === undefined || !matchesCompound(compound, element, effort)) return false;
  const { combinator } = compound;
  if (combinator === null) return true;
  const step = combinator === " " || combinator === ">" ? "parent" : "previous";
  const isNearest = combinator === ">" || combinator === "+";
  for (let other = element[step]; other !== null; other = other[step]) {
    if (matchesFrom(compounds, at + 1, other, effort)) return true;
    if (isNearest || effort.left <= 0) return false;
  }
  return false;
}

function matchesCompound({ name, id, classes, tests }: Compound, element: PageElement, effort: Effort): boolean {
  effort.left -= 1 + (classes.length + tests.length) / 4;
  if (effort.left <= 0) return false;
  return (
    (name === null || name === element.name) &&
    (id === null || id === element.attributes.id) &&
    classes.every((each) => element.classes.has(each)) &&
    tests.every((test) => test(element, effort))
  );
}

class SelectorReader {
  readonly #tokens: readonly CSSToken[];
  readonly #depth: number;
  #at = 0;
  #compounds: Compound[] = [];
  #pseudo: Selector["pseudo"] = null;
  #specificity = 0;
  /** Nothing stands in the compound that is being read. */
  #isBare = true;

  constructor(tokens: readonly CSSToken[], depth: number) {
    this.#tokens = trimmed(tokens);
    this.#depth = depth;
  }

  /** Null for what matches nothing that markup shows. */
  read(): Selector | null {
    this.#compounds = [compoundAfter(null)];
    while (this.#at < this.#tokens.length) {
      if (this.#pseudo !== null || !this.#readPart() || this.#compounds.length > COMPOUNDS) return null;
    }
    if (this.#isBare && this.#pseudo === null) return null;
    return { compounds: this.#compounds, pseudo: this.#pseudo, specificity: this.#specificity };
  }

  get #compound(): Compound {
    return this.#compounds[0] as Compound;
  }

  #readPart(): boolean {
    const token = this.#tokens[this.#at];
    const isCombinator = token?.[0] === TokenType.Delim && token[4].value !== "." && token[4].value !== "*";
    if (token?.[0] === TokenType.Whitespace || isCombinator) return this.#readCombinator();
    this.#at += 1;
    this.#isBare = false;
    switch (token?.[0]) {
      case TokenType.Delim:
        return token[4].value === "*" || this.#readClass();
      case TokenType.Ident:
        this.#compound.name = token[4].value.toLowerCase();
        this.#specificity += OF_NAME;
        return true;
      case TokenType.Hash:
        if (token[4].type !== HashType.ID) return false;
        this.#compound.id = token[4].value;
        this.#specificity += OF_ID;
        return true;
      case TokenType.OpenSquare:
        return this.#readAttribute();
      case TokenType.Colon:
        return this.#readPseudo();
      default:
        return false;
    }
  }

  #readClass(): boolean {
    const token = this.#tokens[this.#at++];
    if (token?.[0] !== TokenType.Ident) return false;
    this.#compound.classes.push(token[4].value);
    this.#specificity += OF_CLASS;
    return true;
  }

  #readCombinator(): boolean {
    let combinator: Combinator = " ";
    for (; this.#at < this.#tokens.length; this.#at++) {
      const token = this.#tokens[this.#at];
      if (token?.[0] === TokenType.Whitespace) continue;
      const delim = token?.[0] === TokenType.Delim ? token[4].value : "";
      if (delim !== ">" && delim !== "+" && delim !== "~") break;
      combinator = delim;
    }
    if (this.#isBare) return false;
    this.#isBare = true;
    this.#compounds.unshift(compoundAfter(combinator));
    return true;
  }

  #readAttribute(): boolean {
    const start = this.#at;
    while (this.#at < this.#tokens.length && this.#tokens[this.#at]?.[0] !== TokenType.CloseSquare) this.#at += 1;
    const inside = this.#tokens.slice(start, this.#at++);
    const test = attributeTest(inside);
    if (test === null) return false;
    this.#compound.tests.push(test);
    this.#specificity += OF_CLASS;
    return true;
  }

  #readPseudo(): boolean {
    let token = this.#tokens[this.#at++];
    const isElement = token?.[0] === TokenType.Colon;
    if (isElement) token = this.#tokens[this.#at++];
    if (token?.[0] === TokenType.Function) return !isElement && this.#readFunction(token[4].value.toLowerCase());
    if (token?.[0] !== TokenType.Ident) return false;
    const name = token[4].value.toLowerCase();
    if (name === "before" || name === "after") {
      this.#pseudo = name;
      this.#specificity += OF_NAME;
      return true;
    }
    const test = isElement ? undefined : PSEUDO_CLASSES[name];
    if (test === undefined) return false;
    this.#compound.tests.push(test);
    this.#specificity += OF_CLASS;
    return true;
  }

  #readFunction(name: string): boolean {
    const start = this.#at;
    for (let depth = 1; this.#at < this.#tokens.length; this.#at++) {
      const type = this.#tokens[this.#at]?.[0];
      if (type === TokenType.Function || type === TokenType.OpenParen) depth += 1;
      if (type === TokenType.CloseParen) depth -= 1;
      if (depth === 0) break;
    }
    const inside = this.#tokens.slice(start, this.#at++);
    if (this.#depth >= DEPTH) return false;
    const list = readSelectors(inside, this.#depth + 1);
    const matchesOne: Test = (element, effort) => list.some((each) => matches(each, element, effort));
    if (name === "not") this.#compound.tests.push((element, effort) => !matchesOne(element, effort));
    else if (name === "is" || name === "where" || name === "matches") this.#compound.tests.push(matchesOne);
    else return false;
    if (name !== "where") this.#specificity += Math.max(0, ...list.map(({ specificity }) => specificity));
    return true;
  }
}

const PSEUDO_CLASSES: Readonly<Record<string, Test>> = {
  root: ({ parent }) => parent === null,
  "first-child": ({ previous }) => previous === null,
  link: ({ name, attributes }) => name === "a" && attributes.href !== undefined,
  "any-link": ({ name, attributes }) => name === "a" && attributes.href !== undefined,
};

function attributeTest(tokens: readonly CSSToken[]): Test | null {
  const [first, ...rest] = tokens.filter(([type]) => type !== TokenType.Whitespace);
  if (first?.[0] !== TokenType.Ident) return null;
  const name = first[4].value.toLowerCase();
  // Browsers hide it from style sheets, which could send it away (HTML section 3.2.6.8).
  if (name === "nonce") return null;
  if (rest.length === 0) return ({ attributes }) => attributes[name] !== undefined;
  const value = rest.findLast(([type]) => type === TokenType.String || type === TokenType.Ident);
  if (value?.[0] !== TokenType.String && value?.[0] !== TokenType.Ident) return null;
  const compare = COMPARISONS[rest[0]?.[1] ?? ""];
  const wanted = value[4].value;
  if (compare === undefined) return null;
  return ({ attributes }, effort) => {
    const actual = attributes[name];
    if (actual === undefined) return false;
    // The slowest makes words of it.
    effort.left -= actual.length / 4;
    return effort.left > 0 && compare(actual, wanted);
  };
}

const COMPARISONS: Readonly<Record<string, (actual: string, wanted: string) => boolean>> = {
  "=": (actual, wanted) => actual === wanted,
  "^": (actual, wanted) => wanted !== "" && actual.startsWith(wanted),
  $: (actual, wanted) => wanted !== "" && actual.endsWith(wanted),
  "*": (actual, wanted) => wanted !== "" && actual.includes(wanted),
  "~": (actual, wanted) => actual.split(/\s+/).includes(wanted),
  "|": (actual, wanted) => actual === wanted || actual.startsWith(`${wanted}-`),
};

function compoundAfter(combinator: Combinator | null): Compound {
  return { name: null, id: null, classes: [], tests: [], combinator };
}
