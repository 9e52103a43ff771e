/**
 * Rewrites an HTML document as it streams in: the page script's element right after `<head>`, and the attributes of
 * elements that would load past the service worker. Everything else passes byte for byte. Tag boundaries follow the
 * tokenizer of HTML section 13.2.5.
 */

import { parseUrl } from "../../../shared/web/origin.ts";
import { toReal } from "../slot-url.ts";
import { AFFECTED_ELEMENTS, type ElementContext, type MarkupContext, rewriteElement } from "./element-rules.ts";
import { type AttributeAccess, nameEnd, TagEditor, tagEnd } from "./html-tag.ts";

/** What is rewritten, and how. */
export interface MarkupRules {
  /** Lower-case names. */
  readonly elements: ReadonlySet<string>;
  /** Without any of this in its tag, a link (`a`, `area`) is left alone. */
  readonly inLinks: RegExp;
  /** With any of this in its tag, another element is changed, too. */
  readonly inOthers?: RegExp;
  readonly rewrite: (name: string, element: AttributeAccess, context: ElementContext) => void;
  /** Whether `noscript` has text, as where scripting is on. */
  readonly hasScripts: boolean;
  /** For the text of a `style` element. */
  readonly styles?: (context: ElementContext) => TextEditor;
}

/** Changes a text that comes in pieces. */
export interface TextEditor {
  write(text: string): string;
  end(): string;
}

const SLOT_RULES: MarkupRules = {
  elements: AFFECTED_ELEMENTS,
  inLinks: /ping/i,
  rewrite: rewriteElement,
  hasScripts: true,
};

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

/** The first character that makes the parser open a head and body; a byte order mark was stripped or never counts. */
const NOT_SPACE = /[^\t\n\f\r \ufeff]/g;
const ENDS_BEFORE_HEAD: ReadonlySet<string> = new Set(["head", "body", "html", "br"]);

/** Script data: plain, escaped (`<!--`), double escaped (`<!--<script>`). */
type ScriptState = "plain" | "escaped" | "double";

type Mode =
  | { readonly kind: "data" }
  | { readonly kind: "comment" }
  | { readonly kind: "cdata" }
  | {
      readonly kind: "raw";
      readonly name: string;
      readonly tokens: RegExp;
      script: ScriptState;
      readonly editor: TextEditor | undefined;
    };

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

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

export class HtmlRewriter {
  readonly #context: MarkupContext;
  readonly #rules: MarkupRules;
  #snippet: string | null;
  #pending = "";
  #mode: Mode = DATA;
  /** Real base URL after the first `<base href>`, null before. */
  #base: string | null = null;
  #elementContext: ElementContext;
  #foreignDepth = 0;
  /** What ends a declaration that the document's end cut off, so that the snippet is not part of it. */
  #close = "";
  #out = "";
  /** Up to here `#pending` is in `#out`. */
  #copied = 0;

  /** `snippet`: inserted once; null for markup that is no document. */
  constructor(context: MarkupContext, snippet: string | null, rules = SLOT_RULES) {
    this.#context = context;
    this.#rules = rules;
    this.#snippet = snippet;
    this.#elementContext = this.#contextAt(context.documentUrl);
  }

  write(chunk: string): string {
    this.#pending += chunk;
    return this.#scan(false);
  }

  end(): string {
    const text = this.#scan(true);
    if (this.#snippet === null) return text;
    const close = this.#mode.kind === "comment" ? "-->" : this.#close;
    const snippet = this.#snippet;
    this.#snippet = null;
    return text + close + snippet;
  }

  /** Emits all that is decided; from the index that the passes return on, the text waits for more. */
  #scan(final: boolean): string {
    this.#copied = 0;
    let at = 0;
    for (;;) {
      const next = this.#mode.kind === "data" ? this.#scanData(at, final) : this.#scanText(at, final);
      if (next === null) break;
      at = next;
    }
    const text = this.#out;
    this.#out = "";
    this.#pending = this.#pending.slice(this.#copied);
    return text;
  }

  #emit(end: number): null {
    this.#out += this.#pending.slice(this.#copied, end);
    this.#copied = end;
    return null;
  }

  #insertSnippet(at: number): void {
    if (this.#snippet === null) return;
    this.#emit(at);
    this.#out += this.#snippet;
    this.#snippet = null;
  }

  /** From markup to the next construct. Null: the text is used up or has to wait. */
  #scanData(from: number, final: boolean): number | null {
    const html = this.#pending;
    const start = html.indexOf("<", from);
    if (this.#snippet !== null) {
      NOT_SPACE.lastIndex = from;
      const text = NOT_SPACE.exec(html)?.index ?? html.length;
      if (text < (start === -1 ? html.length : start)) this.#insertSnippet(text);
    }
    return start === -1 ? this.#emit(html.length) : this.#scanConstruct(start, final);
  }

  /** At a `<`, which may be text after all. */
  #scanConstruct(start: number, final: boolean): number | null {
    const html = this.#pending;
    const code = html.charCodeAt(start + 1);
    const isEnd = code === 0x2f && isLetter(html.charCodeAt(start + 2));
    if (isEnd || isLetter(code)) return this.#scanTag(start, start + (isEnd ? 2 : 1)) ?? this.#unfinished(start, final);
    if (code === 0x21) return this.#scanDeclaration(start, final) ?? this.#unfinished(start, final, ">");
    if (!final && start + (code === 0x2f ? 2 : 1) >= html.length) return this.#emit(start);
    if (code === 0x3f || (code === 0x2f && start + 2 < html.length)) {
      const close = html.indexOf(">", start + 2);
      return close === -1 ? this.#unfinished(start, final, ">") : close + 1;
    }
    this.#insertSnippet(start);
    return start + 1;
  }

  /**
   * A construct that waits for more, or that the end of the document cuts off. `close` ends one that keeps its text;
   * a tag cut off is dropped by the parser.
   */
  #unfinished(start: number, final: boolean, close?: string): null {
    if (!final) return this.#emit(start);
    if (close === undefined) this.#insertSnippet(start);
    else this.#close = close;
    return this.#emit(this.#pending.length);
  }

  /** `<!…`: comment, CDATA section of foreign content, or what ends at the next `>` (doctype, bogus comment). */
  #scanDeclaration(start: number, final: boolean): number | null {
    const html = this.#pending;
    if (!final && html.length < start + 9) return null;
    if (html.startsWith("--", start + 2)) {
      this.#mode = { kind: "comment" };
      // `<!-->` and `<!--->` are closed already; `<!--!>` and `<!---!>` are not.
      if (html.startsWith("!>", start + 4)) return start + 5;
      return html.startsWith("-!>", start + 4) ? start + 6 : start + 2;
    }
    if (this.#foreignDepth > 0 && html.startsWith("[CDATA[", start + 2)) {
      this.#mode = { kind: "cdata" };
      return start + 9;
    }
    const close = html.indexOf(">", start + 2);
    return close === -1 ? null : close + 1;
  }

  #scanTag(start: number, nameStart: number): number | null {
    const html = this.#pending;
    const nameStop = nameEnd(html, nameStart);
    const end = tagEnd(html, nameStop);
    if (end === -1) return null;
    const name = html.slice(nameStart, nameStop).toLowerCase();
    const isEnd = nameStart - start === 2;
    if (this.#snippet !== null) {
      if (!isEnd && name === "head") this.#insertSnippet(end);
      else if (isEnd ? ENDS_BEFORE_HEAD.has(name) : name !== "html") this.#insertSnippet(start);
    }
    if (name === "svg" || name === "math") this.#countForeign(isEnd, html.charCodeAt(end - 2) === 0x2f);
    if (isEnd) return end;
    const { elements, inOthers, hasScripts, styles } = this.#rules;
    if (elements.has(name) || inOthers?.test(html.slice(nameStop, end))) this.#rewriteTag(name, start, end);
    const closesItself = this.#foreignDepth > 0 && html.charCodeAt(end - 2) === 0x2f;
    const isText = RAW_TEXT.has(name) && (hasScripts || name !== "noscript");
    if (isText && !closesItself) {
      const editor = name === "style" ? styles?.(this.#elementContext) : undefined;
      if (editor !== undefined) this.#emit(end);
      this.#mode = { kind: "raw", name, tokens: tokensFor(name), script: "plain", editor };
    }
    return end;
  }

  #countForeign(isEnd: boolean, closesItself: boolean): void {
    if (isEnd) this.#foreignDepth = Math.max(0, this.#foreignDepth - 1);
    else if (!closesItself) this.#foreignDepth++;
  }

  #rewriteTag(name: string, start: number, end: number): void {
    const tag = this.#pending.slice(start, end);
    if (name.charCodeAt(0) === 0x61 && !this.#rules.inLinks.test(tag)) return;
    const editor = new TagEditor(tag);
    if (name === "base" && this.#base === null) {
      const href = editor.get("href");
      const url = href === null ? null : parseUrl(href, this.#context.documentUrl);
      if (url !== null) {
        this.#base = toReal(url.href, this.#context);
        this.#elementContext = this.#contextAt(this.#base);
      }
    }
    this.#rules.rewrite(name, editor, this.#elementContext);
    const rewritten = editor.toString();
    if (rewritten === tag) return;
    this.#emit(start);
    this.#out += rewritten;
    this.#copied = end;
  }

  #contextAt(base: string): ElementContext {
    const rewriteInner = (markup: string) => rewriteMarkup(markup, { ...this.#context, documentUrl: base });
    return { ...this.#context, base, rewriteInner };
  }

  /** Inside a comment, CDATA section or raw text. The tail that may be the start of the closing token waits. */
  #scanText(from: number, final: boolean): number | null {
    const mode = this.#mode;
    if (mode.kind === "raw") return this.#scanRaw(mode, from, final);
    const html = this.#pending;
    const closing = mode.kind === "comment" ? /--!?>/g : /\]\]>/g;
    closing.lastIndex = from;
    const match = closing.exec(html);
    if (match === null) return this.#emit(final ? html.length : Math.max(from, html.length - 3));
    this.#mode = DATA;
    return closing.lastIndex;
  }

  #scanRaw(mode: Mode & { kind: "raw" }, from: number, final: boolean): number | null {
    const html = this.#pending;
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
        this.#emitText(mode.editor, match.index, true);
        return match.index;
      }
      at = Math.max(limit, tokens.lastIndex);
    }
    this.#emitText(mode.editor, at, final);
    return this.#emit(at);
  }

  #emitText(editor: TextEditor | undefined, end: number, isLast: boolean): void {
    if (editor === undefined) return;
    this.#out += editor.write(this.#pending.slice(this.#copied, end)) + (isLast ? editor.end() : "");
    this.#copied = end;
  }
}

const AFFECTED_MARKUP = /<(?:iframe|frame|link|base|object|embed|meta|script|use|a(?:rea)?\s[^>]*\bping)\b/i;

/** Rewrites markup that is no whole document (innerHTML and its like); nothing is inserted. */
export function rewriteMarkup(html: string, context: MarkupContext): string {
  if (!AFFECTED_MARKUP.test(html)) return html;
  const rewriter = new HtmlRewriter(context, null);
  return rewriter.write(html) + rewriter.end();
}
