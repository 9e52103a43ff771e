/** What style sheets make of a page's elements: the fonts of its text, and its backgrounds (CSS Cascade Level 5). */
import { type CSSToken, TokenType } from "@csstools/css-tokenizer";
import { BROWSER_STYLE } from "./browser-style.ts";
import { CHARACTERS, type Effort } from "./effort.ts";
import { type FontFace, type FontUse, facesFor, toFontFace } from "./font-faces.ts";
import { type FontStyle, INITIAL_STYLE, withDeclaration } from "./font-style.ts";
import type { PageElement } from "./page-elements.ts";
import { keyOf, matches, type Selector } from "./selector.ts";
import { type Declaration, readDeclarations, readStyleSheet, type StyleRule, type StyleSheet } from "./style-sheet.ts";
import { keywordOf, textOf, urlsOf, withoutVariables } from "./values.ts";

/** Steps for one page, each time: large ones take two thirds. */
const EFFORT = 500_000;
/** Characters of what a pseudo-element shows. */
const CONTENT = 100;
/** Count: fonts in their styles. */
const USES = 100;
/** Characters: a longer `style` attribute is not looked at. */
const STYLE_LENGTH = 1_000;

/** A style sheet that a page has, and where it is from. */
export interface PageSheet {
  readonly url: string;
  readonly sheet: StyleSheet;
}

/** A file that a style sheet names. */
export interface StyleFile {
  readonly kind: "font" | "image";
  /** As written. */
  readonly url: string;
  /** URL of the style sheet. */
  readonly sheet: string;
}

interface RankedRule {
  readonly selector: Selector;
  readonly declarations: readonly Declaration[];
  readonly sheet: string;
  /** Later ones win. */
  readonly rank: number;
}

interface Computed extends FontStyle {
  readonly isShown: boolean;
  /** Files of its background. */
  readonly images: readonly StyleFile[];
  /** Of a pseudo-element: null where it is not there. */
  readonly content: string | null;
}

const browserSheet = readStyleSheet(BROWSER_STYLE, undefined);

/**
 * What the page asks for because of its style sheets, in the order of its elements.
 *
 * @param sheets as they win over each other: the last most.
 * @returns of a page that takes too long some are missing.
 */
export function filesOf(elements: readonly PageElement[], sheets: readonly PageSheet[]): StyleFile[] {
  if (!sheets.some(({ sheet }) => namesFiles(sheet))) return [];
  const faces = sheets.flatMap(({ url, sheet }) => sheet.faces.flatMap((each) => toFontFace(each, url) ?? []));
  const effort = { left: EFFORT };
  const cascade = new Cascade(sheets, effort);
  for (const element of elements) {
    if (effort.left <= 0) break;
    cascade.add(element);
  }
  return [...facesFor(cascade.uses, faces, effort).flatMap(fileOf), ...cascade.images];
}

function namesFiles({ rules, faces }: StyleSheet): boolean {
  const isNamed = ({ value }: Declaration): boolean => (urlsOf(value)?.length ?? 0) > 0;
  return faces.length > 0 || rules.some(({ declarations }) => declarations.some(isNamed));
}

function fileOf({ url, sheet }: FontFace): StyleFile[] {
  return url === null ? [] : [{ kind: "font", url, sheet }];
}

class Cascade {
  readonly images = new Set<StyleFile>();
  readonly #effort: Effort;
  readonly #rules = new Map<string, RankedRule[]>();
  readonly #custom = new Map<string, readonly CSSToken[]>();
  readonly #styles = new Map<PageElement, Computed>();
  readonly #uses = new Map<string, FontUse & { readonly characters: Set<number> }>();
  readonly #filesOfValues = new Map<readonly CSSToken[], readonly StyleFile[]>();
  #order = 0;

  constructor(sheets: readonly PageSheet[], effort: Effort) {
    this.#effort = effort;
    this.#addSheet(browserSheet, "", 0);
    for (const { url, sheet } of sheets) this.#addSheet(sheet, url, 1);
  }

  get uses(): Iterable<FontUse> {
    return this.#uses.values();
  }

  add(element: PageElement): void {
    const rules = this.#rulesFor(element);
    const parent = (element.parent && this.#styles.get(element.parent)) ?? ROOT;
    const attribute = element.attributes.style ?? "";
    const isRead = attribute !== "" && attribute.length <= STYLE_LENGTH;
    const own = isRead ? [{ declarations: readDeclarations(attribute), sheet: null }] : [];
    if (isRead) this.#effort.left -= attribute.length / 2;
    const style = this.#compute(parent, [...rules.filter(({ selector }) => selector.pseudo === null), ...own]);
    this.#styles.set(element, style);
    if (!style.isShown) return;
    this.#show(style, element.text);
    for (const pseudo of ["before", "after"] as const) {
      const ofPseudo = rules.filter(({ selector }) => selector.pseudo === pseudo);
      if (ofPseudo.length === 0) continue;
      const inside = this.#compute(style, ofPseudo);
      if (inside.isShown && inside.content !== null) this.#show(inside, inside.content);
    }
  }

  #show(style: Computed, text: string): void {
    for (const image of style.images) this.images.add(image);
    if (text === "" || style.families.length === 0) return;
    const key = [style.weight, style.isItalic, ...style.families].join();
    let use = this.#uses.get(key);
    if (use === undefined) {
      if (this.#uses.size >= USES) return;
      use = { ...style, characters: new Set() };
      this.#uses.set(key, use);
    }
    this.#effort.left -= text.length / CHARACTERS;
    for (const character of text) if (character > " ") use.characters.add(character.codePointAt(0) ?? 0);
  }

  #addSheet({ rules }: StyleSheet, sheet: string, origin: number): void {
    for (const { selectors, declarations, isLayered } of rules) {
      this.#order += 1;
      for (const selector of selectors) {
        const layer = origin + Number(origin > 0 && !isLayered);
        // Ranks are exact: specificity is below 2^24, the order below 2^20.
        const rank = (layer * 2 ** 24 + Math.min(selector.specificity, 2 ** 24 - 1)) * 2 ** 20 + this.#order;
        const key = keyOf(selector);
        const ranked = { selector, declarations, sheet, rank };
        const others = this.#rules.get(key);
        if (others === undefined) this.#rules.set(key, [ranked]);
        else others.push(ranked);
      }
      this.#addCustom({ selectors, declarations });
    }
  }

  /** Custom properties count where they are set for the whole page. */
  #addCustom({ selectors, declarations }: Pick<StyleRule, "selectors" | "declarations">): void {
    const isOfPage = selectors.some(({ compounds, specificity }) => {
      const [only] = compounds;
      return compounds.length === 1 && specificity <= 1_000 && only && isWholePage(only);
    });
    if (!isOfPage) return;
    for (const { name, value } of declarations) if (name.startsWith("--")) this.#custom.set(name, value);
  }

  #rulesFor(element: PageElement): RankedRule[] {
    const keys = ["*", element.name, ...Array.from(element.classes, (each) => `.${each}`)];
    if (element.attributes.id !== undefined) keys.push(`#${element.attributes.id}`);
    return keys
      .flatMap((key) => this.#rules.get(key) ?? [])
      .filter(({ selector }) => matches(selector, element, this.#effort))
      .sort((one, other) => one.rank - other.rank);
  }

  #compute(parent: Computed, rules: readonly Pick<StyleFrom, "declarations" | "sheet">[]): Computed {
    let style: Computed = { ...parent, images: [], content: null };
    for (const isImportant of [false, true]) {
      for (const { declarations, sheet } of rules) {
        this.#effort.left -= declarations.length;
        for (const declaration of declarations) {
          if (declaration.isImportant === isImportant) style = this.#apply(style, parent, declaration, sheet);
        }
      }
    }
    return style;
  }

  #apply(style: Computed, parent: Computed, { name, value }: Declaration, sheet: string | null): Computed {
    if (name.startsWith("--")) return style;
    if (name === "background" || name === "background-image") {
      return { ...style, images: sheet === null ? [] : this.#filesIn(value, sheet) };
    }
    this.#effort.left -= value.length / 2;
    if (this.#effort.left <= 0) return style;
    const meant = withoutVariables(value, this.#custom, this.#effort);
    if (name === "display") {
      return { ...style, isShown: parent.isShown && (meant === null || keywordOf(meant) !== "none") };
    }
    if (name === "content") return { ...style, content: meant === null ? null : contentOf(meant) };
    return { ...style, ...withDeclaration(style, parent, name, meant) };
  }

  /** The same of the same value, so that each is there once. */
  #filesIn(value: readonly CSSToken[], sheet: string): readonly StyleFile[] {
    const known = this.#filesOfValues.get(value);
    if (known !== undefined) return known;
    const urls = urlsOf(withoutVariables(value, this.#custom, this.#effort) ?? []) ?? [];
    const files = urls.filter(isAddress).map((url) => ({ kind: "image", url, sheet }) as const);
    this.#filesOfValues.set(value, files);
    return files;
  }
}

/** `sheet` is null for a `style` attribute, whose addresses are read elsewhere. */
interface StyleFrom {
  readonly declarations: readonly Declaration[];
  readonly sheet: string | null;
}

const ROOT: Computed = { ...INITIAL_STYLE, isShown: true, images: [], content: null };

function isAddress(url: string): boolean {
  return url.trim() !== "" && !/^\s*(?:data:|#)/i.test(url);
}

function isWholePage({ name, id, classes, tests }: Selector["compounds"][number]): boolean {
  const isBare = id === null && classes.length === 0;
  return isBare && (name === "html" || name === "body" || (name === null && tests.length === 1));
}

/** Null where nothing is put there. */
function contentOf(value: readonly CSSToken[]): string | null {
  const text = value
    .map((token) => (token[0] === TokenType.String ? token[4].value : ""))
    .join("")
    .slice(0, CONTENT);
  return text === "" && /^(?:none|normal|initial|unset|inherit)?$/i.test(textOf(value)) ? null : text;
}
