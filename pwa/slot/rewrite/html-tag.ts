/** One start tag's text: its attributes, and edits that leave every other byte as it is. */
import { type Attribute, decodeReferences, nameEnd, tagEnd } from "../../../shared/web/html-tokens.ts";

/** Stands for the `&` of a reference that was not decoded; a noncharacter, so no text has it. */
const KEPT_AMPERSAND = "\ufdd0";

/** For attribute values in double quotes. */
export function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}

/** For text, too. */
export function escapeHtml(text: string): string {
  return escapeAttribute(text).replaceAll("<", "&lt;");
}

/** Maps markup inside an attribute value, leaving references that `decodeReferences` does not know as written. */
export function mapMarkupValue(value: string, map: (markup: string) => string): string {
  return escapeAttribute(map(decodeReferences(value, KEPT_AMPERSAND))).replaceAll(KEPT_AMPERSAND, "&");
}

/** The attributes of an element, in a tag's text or in the DOM. Names are lower case. */
export interface AttributeAccess {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
  /** Maps the markup that an attribute holds (`srcdoc`). */
  mapMarkup(name: string, map: (markup: string) => string): void;
}

/** Edits the attributes of one start tag, given as its whole text. The first of a repeated name counts. */
export class TagEditor implements AttributeAccess {
  readonly #tag: string;
  readonly #attributes: Attribute[] = [];
  /** New values as they are to be written, escaped; null: removed. */
  readonly #edits = new Map<string, string | null>();

  constructor(tag: string) {
    this.#tag = tag;
    tagEnd(tag, nameEnd(tag, 1), this.#attributes);
  }

  #written(name: string): string | null {
    const edit = this.#edits.get(name);
    return edit !== undefined ? edit : (this.#attributes.find((attribute) => attribute.name === name)?.value ?? null);
  }

  get(name: string): string | null {
    const value = this.#written(name);
    return value === null ? null : decodeReferences(value);
  }

  set(name: string, value: string): void {
    this.#edits.set(name, escapeAttribute(value));
  }

  remove(name: string): void {
    this.#edits.set(name, null);
  }

  mapMarkup(name: string, map: (markup: string) => string): void {
    const value = this.#written(name);
    if (value === null) return;
    const mapped = mapMarkupValue(value, map);
    if (decodeReferences(mapped) !== decodeReferences(value)) this.#edits.set(name, mapped);
  }

  /** An attribute that was not there goes first, where no stray `/` or unquoted value can touch it. */
  toString(): string {
    let at = nameEnd(this.#tag, 1);
    let text = this.#tag.slice(0, at);
    const written = new Set<string>();
    for (const [name, value] of this.#edits)
      if (value !== null && !this.#attributes.some((attribute) => attribute.name === name))
        text += ` ${name}="${value}"`;
    for (const { name, start, end } of this.#attributes) {
      const value = this.#edits.get(name);
      if (value === undefined) continue;
      text += this.#tag.slice(at, start);
      if (value !== null && !written.has(name)) text += `${name}="${value}"`;
      written.add(name);
      at = end;
    }
    return text + this.#tag.slice(at);
  }
}
