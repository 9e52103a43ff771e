/**
 * Tags of an HTML document as it streams in. Their boundaries follow the tokenizer of HTML section 13.2.5, those of an XML
 * document XML 1.0 section 2. No character is looked at more than a few times, however the text is cut: sites write it, and
 * choose how it is cut.
 */

export interface Attribute {
  /** Lower case. */
  readonly name: string;
  readonly start: number;
  /** As written, quotes excluded. */
  readonly value: string;
  readonly end: number;
}

/** Indices are of the text that comes with it. */
export interface Tag {
  /** Lower case; in XML as written, without its prefix. */
  readonly name: string;
  readonly isEnd: boolean;
  readonly start: number;
  readonly nameStop: number;
  /** Index after its `>`. */
  readonly end: number;
  /** In foreign content and in XML `/>` ends the element. */
  readonly closesItself: boolean;
}

export interface TokenHandler {
  onTag(html: string, tag: Tag): void;
  /** A part of the text between tags, references as written. */
  onText?(html: string, start: number, end: number): void;
  /** A part of the text of an element such as `<style>`, and whether that is the last. */
  onRawText?(name: string, html: string, start: number, end: number, isLast: boolean): void;
  /** All before `end` was told of; what is behind it comes again. */
  onDecided?(html: string, end: number): void;
}

const GREATER = 0x3e;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
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

/** Where an attribute's name and value end, and itself. */
interface Bounds {
  nameEnd: number;
  valueStart: number;
  valueEnd: number;
  end: number;
}

/**
 * Reads the attribute that begins at `start`.
 *
 * @param seen up to here a value in quotes has no closing one.
 * @returns a character without which it is not whole; "" where it is.
 */
function readAttribute(html: string, start: number, seen: number, bounds: Bounds): string {
  const nameEnd = attributeNameEnd(html, start);
  let valueStart = skipSpaces(html, nameEnd);
  bounds.nameEnd = nameEnd;
  bounds.valueStart = bounds.valueEnd = bounds.end = nameEnd;
  // More of the name may come, or of the value.
  if (valueStart >= html.length) return ">";
  if (html.charCodeAt(valueStart) !== EQUALS) return "";
  valueStart = skipSpaces(html, valueStart + 1);
  const code = html.charCodeAt(valueStart);
  if (code === QUOTE || code === APOSTROPHE) {
    const quote = code === QUOTE ? '"' : "'";
    bounds.valueStart = valueStart + 1;
    bounds.valueEnd = html.indexOf(quote, Math.max(valueStart + 1, seen));
    bounds.end = bounds.valueEnd + 1;
    return bounds.valueEnd === -1 ? quote : "";
  }
  bounds.valueStart = valueStart;
  bounds.valueEnd = bounds.end = unquotedEnd(html, valueStart);
  return bounds.end >= html.length ? ">" : "";
}

/** How far a tag was read whose text ended first. */
export interface TagProgress {
  /** End of the last attribute that is whole. */
  at: number;
  /** Up to here a quoted value has no closing quote. */
  seen: number;
  /** Without this character more text does not make it whole. */
  need: string;
}

/**
 * Index after the tag's `>`, where `from` is the end of its name; -1 if the text ends first.
 *
 * @param attributes gets them.
 * @param progress is kept up to date; reading goes on where it says.
 */
export function tagEnd(html: string, from: number, attributes?: Attribute[], progress?: TagProgress): number {
  const bounds: Bounds = { nameEnd: 0, valueStart: 0, valueEnd: 0, end: progress?.at ?? from };
  for (;;) {
    const at = bounds.end;
    const start = skipToAttribute(html, at);
    if (html.charCodeAt(start) === GREATER) return start + 1;
    const need = start >= html.length ? ">" : readAttribute(html, start, progress?.seen ?? 0, bounds);
    if (need !== "") {
      if (progress !== undefined) {
        const isQuote = need !== ">";
        Object.assign(progress, { at, need, seen: isQuote ? html.length : progress.seen });
      }
      return -1;
    }
    if (attributes === undefined) continue;
    const name = html.slice(start, bounds.nameEnd).toLowerCase();
    attributes.push({ name, start, value: html.slice(bounds.valueStart, bounds.valueEnd), end: bounds.end });
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

/** Elements whose content is text up to their end tag. */
const RAW_TEXT: ReadonlySet<string> = new Set([
  "iframe",
  "noembed",
  "noframes",
  "noscript",
  "plaintext",
  "script",
  "style",
  "textarea",
  "title",
  "xmp",
]);

/** Script data: plain, escaped (`<!--`), double escaped (`<!--<script>`). */
type ScriptState = "plain" | "escaped" | "double";

type Mode =
  | { readonly kind: "data" }
  | { readonly kind: "comment" }
  | { readonly kind: "cdata" }
  | { readonly kind: "raw"; readonly name: string; readonly tokens: RegExp; script: ScriptState };

const DATA: Mode = { kind: "data" };

const SCRIPT_TOKENS = /<!--|-->|<\/?script(?=[\t\n\f\r />])/gi;
const rawTokens = new Map<string, RegExp>([["script", SCRIPT_TOKENS]]);

function tokensFor(name: string): RegExp {
  let tokens = rawTokens.get(name);
  if (tokens === undefined) {
    tokens = name === "plaintext" ? /(?!)/g : new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
    rawTokens.set(name, tokens);
  }
  return tokens;
}

/** A document's last construct, where its end cuts it off. */
export type CutOff = "nothing" | "tag" | "declaration" | "comment";

/** HTML is read in another way where scripting is on: `noscript` has text then. */
export type MarkupLanguage = "html" | "html without scripts" | "xml";

/** So often a construct that is not whole is looked at with each piece of text that could end it. */
const LOOKS = 64;
/** Then it has to be longer by such a part. */
const GROWTH = 1 / 4;

export class HtmlTokens {
  readonly #handler: TokenHandler;
  readonly #language: MarkupLanguage;
  /** Begins with what is not decided. */
  #text = "";
  #mode: Mode = DATA;
  #foreignDepth = 0;
  #decided = 0;
  #cutOff: CutOff = "nothing";
  /** Of the tag that the text begins with. */
  #tag: TagProgress | null = null;
  /** What the construct lacks that the text begins with; "" where any text may do. */
  #need = "";
  #looks = 0;
  /** Came since, and is not looked at yet. */
  readonly #parked: string[] = [];
  #parkedLength = 0;
  #isStopped = false;

  constructor(handler: TokenHandler, language: MarkupLanguage) {
    this.#handler = handler;
    this.#language = language;
  }

  write(chunk: string): void {
    if (this.#need === "" && this.#parked.length === 0) {
      this.#text += chunk;
      return this.#scan(false);
    }
    this.#parked.push(chunk);
    this.#parkedLength += chunk.length;
    // Text grows by copies of it.
    const isDue = this.#looks < LOOKS || this.#parkedLength > this.#text.length * GROWTH;
    if (!isDue || !chunk.includes(this.#need)) return;
    this.#looks++;
    this.#unpark();
    this.#scan(false);
  }

  /** Nothing more is told of. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Characters of a construct that is not whole: sites choose how many. */
  get waiting(): number {
    return this.#text.length + this.#parkedLength;
  }

  /** As `stop`. @returns what was not decided. */
  giveUp(): string {
    this.stop();
    this.#unpark();
    const text = this.#text;
    this.#text = "";
    return text;
  }

  end(): CutOff {
    this.#unpark();
    this.#scan(true);
    return this.#mode.kind === "comment" ? "comment" : this.#cutOff;
  }

  #unpark(): void {
    this.#text += this.#parked.join("");
    this.#parked.length = 0;
    this.#parkedLength = 0;
  }

  /** From the index that the passes return on, the text waits for more. */
  #scan(final: boolean): void {
    this.#need = "";
    let at = 0;
    for (let next: number | null = 0; next !== null && !this.#isStopped; ) {
      at = next;
      next = this.#mode.kind === "data" ? this.#scanData(at, final) : this.#scanText(at, final);
      if (next !== null) this.#tag = null;
    }
    if (this.#decided > 0) this.#looks = 0;
    this.#handler.onDecided?.(this.#text, this.#decided);
    this.#text = this.#text.slice(this.#decided);
    this.#decided = 0;
  }

  #decide(end: number): null {
    this.#decided = end;
    return null;
  }

  /** From markup to the next construct. Null: the text is used up or has to wait. */
  #scanData(from: number, final: boolean): number | null {
    const html = this.#text;
    const start = html.indexOf("<", from);
    const end = start === -1 ? html.length : start;
    if (end > from) this.#handler.onText?.(html, from, end);
    return start === -1 ? this.#decide(end) : this.#scanConstruct(start, final);
  }

  /** At a `<`, which may be text after all. */
  #scanConstruct(start: number, final: boolean): number | null {
    const html = this.#text;
    const code = html.charCodeAt(start + 1);
    const isEnd = code === SLASH && isLetter(html.charCodeAt(start + 2));
    if (isEnd || isLetter(code))
      return this.#scanTag(start, start + (isEnd ? 2 : 1)) ?? this.#unfinished(start, final, "tag");
    if (code === 0x21) return this.#scanDeclaration(start, final) ?? this.#unfinished(start, final, "declaration");
    if (!final && start + (code === SLASH ? 2 : 1) >= html.length) return this.#decide(start);
    if (code === 0x3f || (code === SLASH && start + 2 < html.length)) {
      const mark = code === 0x3f && this.#language === "xml" ? "?>" : ">";
      const close = html.indexOf(mark, start + 2);
      if (close !== -1) return close + mark.length;
      this.#need = ">";
      return this.#unfinished(start, final, "declaration");
    }
    this.#handler.onText?.(html, start, start + 1);
    return start + 1;
  }

  /** A construct that waits for more, or that the end of the document cuts off. */
  #unfinished(start: number, final: boolean, kind: CutOff): null {
    if (!final) {
      if (this.#tag !== null) {
        this.#tag.at -= start;
        this.#tag.seen = Math.max(0, this.#tag.seen - start);
      }
      return this.#decide(start);
    }
    this.#cutOff = kind;
    // A tag that is cut off is none.
    if (kind === "tag") this.#handler.onText?.(this.#text, start, start + 1);
    return this.#decide(this.#text.length);
  }

  /**
   * `<!…`: comment, CDATA section of foreign content, or what ends at the next `>` (doctype, bogus comment). Declarations in
   * an XML document's type are read as if they stood in it: markup in them is markup where they are referred to.
   */
  #scanDeclaration(start: number, final: boolean): number | null {
    const html = this.#text;
    if (!final && html.length < start + 9) return null;
    if (html.startsWith("--", start + 2)) {
      this.#mode = { kind: "comment" };
      if (this.#language === "xml") return start + 4;
      // `<!-->` and `<!--->` are closed already; `<!--!>` and `<!---!>` are not.
      if (html.startsWith("!>", start + 4)) return start + 5;
      return html.startsWith("-!>", start + 4) ? start + 6 : start + 2;
    }
    if ((this.#foreignDepth > 0 || this.#language === "xml") && html.startsWith("[CDATA[", start + 2)) {
      this.#mode = { kind: "cdata" };
      return start + 9;
    }
    const close = html.indexOf(">", start + 2);
    if (close === -1) this.#need = ">";
    return close === -1 ? null : close + 1;
  }

  #scanTag(start: number, nameStart: number): number | null {
    const html = this.#text;
    const nameStop = this.#tag === null ? nameEnd(html, nameStart) : -1;
    this.#tag ??= { at: nameStop, seen: 0, need: ">" };
    const end = tagEnd(html, nameStop, undefined, this.#tag);
    if (end === -1) {
      this.#need = this.#tag.need;
      // Its name may go on.
      if (nameStop === html.length) this.#tag = null;
      return null;
    }
    return this.#tell(start, nameStart, end);
  }

  #tell(start: number, nameStart: number, end: number): number {
    const html = this.#text;
    const nameStop = nameEnd(html, nameStart);
    const isXml = this.#language === "xml";
    const written = html.slice(nameStart, nameStop);
    const name = isXml ? written.slice(written.lastIndexOf(":") + 1) : written.toLowerCase();
    const isEnd = nameStart - start === 2;
    const hasSlash = html.charCodeAt(end - 2) === SLASH;
    if (!isXml && (name === "svg" || name === "math")) this.#countForeign(isEnd, hasSlash);
    const closesItself = (isXml || this.#foreignDepth > 0) && hasSlash;
    const isText = !isXml && RAW_TEXT.has(name) && (this.#language === "html" || name !== "noscript");
    if (isText && !isEnd && !closesItself) this.#mode = { kind: "raw", name, tokens: tokensFor(name), script: "plain" };
    this.#handler.onTag(html, { name, isEnd, start, nameStop, end, closesItself });
    return end;
  }

  #countForeign(isEnd: boolean, closesItself: boolean): void {
    if (isEnd) this.#foreignDepth = Math.max(0, this.#foreignDepth - 1);
    else if (!closesItself) this.#foreignDepth++;
  }

  /** Inside a comment, CDATA section or raw text. The tail that may be the start of the closing token waits. */
  #scanText(from: number, final: boolean): number | null {
    const mode = this.#mode;
    if (mode.kind === "raw") return this.#scanRaw(mode, from, final);
    const html = this.#text;
    const closing = mode.kind === "cdata" ? /\]\]>/g : this.#language === "xml" ? /-->/g : /--!?>/g;
    closing.lastIndex = from;
    const match = closing.exec(html);
    if (match === null) return this.#decide(final ? html.length : Math.max(from, html.length - 3));
    this.#mode = DATA;
    return closing.lastIndex;
  }

  #scanRaw(mode: Mode & { kind: "raw" }, from: number, final: boolean): number | null {
    const html = this.#text;
    const limit = final ? html.length : Math.max(from, html.length - mode.name.length - 3);
    const { tokens } = mode;
    tokens.lastIndex = from;
    let at = limit;
    for (let match = tokens.exec(html); match !== null && match.index < limit; match = tokens.exec(html)) {
      const token = match[0].toLowerCase();
      if (token === "<!--") {
        if (mode.script === "plain") mode.script = "escaped";
        tokens.lastIndex -= 2;
      } else if (token === "-->") mode.script = "plain";
      else if (token === "<script") {
        if (mode.script === "escaped") mode.script = "double";
      } else if (mode.script === "double") mode.script = "escaped";
      else {
        this.#mode = DATA;
        this.#handler.onRawText?.(mode.name, html, from, match.index, true);
        return match.index;
      }
      at = Math.max(limit, tokens.lastIndex);
    }
    this.#handler.onRawText?.(mode.name, html, from, at, final);
    return this.#decide(at);
  }
}
