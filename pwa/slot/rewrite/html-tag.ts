/** One tag's text: where it ends, its attributes, and edits that leave every other byte as it is. HTML section 13.2.5. */

export interface Attribute {
  /** Lower case. */
  readonly name: string;
  readonly start: number;
  /** As written, quotes excluded. */
  readonly value: string;
  readonly end: number;
}

const GREATER = 0x3e;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}

/** Index after the tag name that starts at `from`. */
export function nameEnd(html: string, from: number): number {
  let at = from;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (isSpace(code) || code === GREATER || code === SLASH) break;
  }
  return at;
}

function skipSpaces(html: string, from: number): number {
  let at = from;
  while (isSpace(html.charCodeAt(at))) at++;
  return at;
}

/** From the end of a tag name or attribute to the next attribute or the tag's `>`. */
function skipToAttribute(html: string, from: number): number {
  let at = from;
  for (let code = html.charCodeAt(at); isSpace(code) || code === SLASH; code = html.charCodeAt(++at));
  return at;
}

/** The first character of an attribute name may be `=`. */
function attributeNameEnd(html: string, from: number): number {
  let at = from + 1;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (isSpace(code) || code === SLASH || code === GREATER || code === EQUALS) break;
  }
  return at;
}

function unquotedEnd(html: string, from: number): number {
  let at = from;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (isSpace(code) || code === GREATER) break;
  }
  return at;
}

/** Index after the tag's `>`, where `from` is the end of its name; -1 if the text ends first. */
export function tagEnd(html: string, from: number, attributes?: Attribute[]): number {
  let at = from;
  for (;;) {
    const start = skipToAttribute(html, at);
    if (start >= html.length) return -1;
    if (html.charCodeAt(start) === GREATER) return start + 1;
    const endOfName = attributeNameEnd(html, start);
    let valueStart = skipSpaces(html, endOfName);
    let valueEnd = endOfName;
    at = endOfName;
    if (html.charCodeAt(valueStart) === EQUALS) {
      valueStart = skipSpaces(html, valueStart + 1);
      const quote = html.charCodeAt(valueStart);
      if (quote === QUOTE || quote === APOSTROPHE) {
        valueStart++;
        valueEnd = html.indexOf(quote === QUOTE ? '"' : "'", valueStart);
        if (valueEnd === -1) return -1;
        at = valueEnd + 1;
      } else {
        valueEnd = unquotedEnd(html, valueStart);
        at = valueEnd;
      }
    }
    if (attributes === undefined) continue;
    const name = html.slice(start, endOfName).toLowerCase();
    attributes.push({ name, start, value: html.slice(valueStart, Math.max(valueStart, valueEnd)), end: at });
  }
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  AMP: "&",
  lt: "<",
  LT: "<",
  gt: ">",
  GT: ">",
  quot: '"',
  QUOT: '"',
  apos: "'",
  colon: ":",
  sol: "/",
  bsol: "\\",
  period: ".",
  quest: "?",
  num: "#",
  equals: "=",
  commat: "@",
  semi: ";",
  Tab: "\t",
  NewLine: "\n",
};

const REFERENCE = /&(?:#x([0-9a-f]+);?|#(\d+);?|([a-z][a-z0-9]*)(;?)(?=([\s\S]?)))/gi;

/** Stands for the `&` of a reference that was not decoded; a noncharacter, so no text has it. */
const KEPT_AMPERSAND = "\ufdd0";

/** Decodes references as in attribute values: numeric ones, and the named ones that matter in URLs and markup. */
export function decodeReferences(text: string, keptAmpersand = "&"): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (match, hex, dec, name, end, next) => {
    if (name === undefined) {
      const code = hex === undefined ? Number(dec) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    }
    const character = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
    const legacy = /^(?:amp|lt|gt|quot)$/i.test(name) && next !== "=";
    return character !== undefined && (end === ";" || legacy) ? character : keptAmpersand + match.slice(1);
  });
}

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
