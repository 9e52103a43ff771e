/**
 * Rewrites an HTML document as it streams in: the page script's element right after `<head>`, and the attributes of
 * elements that would load past the service worker. Everything else passes byte for byte.
 */

import { type CutOff, HtmlTokens, type Tag, type TokenHandler } from "../../../shared/web/html-tokens.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { ropewayPath, toReal } from "../slot-url.ts";
import { AFFECTED_ELEMENTS, type ElementContext, type MarkupContext, rewriteElement } from "./element-rules.ts";
import { type AttributeAccess, escapeAttribute, TagEditor } from "./html-tag.ts";

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
  /** Rewrites documents in `srcdoc`, for elements of a document of this context. */
  readonly inner: (context: MarkupContext) => ElementContext["rewriteInner"];
  /** For the text of a `style` element. */
  readonly styles?: (context: ElementContext) => TextEditor;
}

/** Changes a text that comes in pieces. */
export interface TextEditor {
  write(text: string): string;
  end(): string;
}

/** The first character that makes the parser open a head and body; a byte order mark was stripped or never counts. */
const NOT_SPACE = /[^\t\n\f\r \ufeff]/g;
const ENDS_BEFORE_HEAD: ReadonlySet<string> = new Set(["head", "body", "html", "br"]);

/** Documents in attributes of documents in attributes. */
const SRCDOC_DEPTH = 8;

/** What closes a construct that the document's end cut off, for the snippet not to be part of it. */
const CLOSES: Readonly<Record<CutOff, string>> = { nothing: "", tag: "", declaration: ">", comment: "-->" };

export class HtmlRewriter implements TokenHandler {
  readonly #context: MarkupContext;
  readonly #rules: MarkupRules;
  readonly #tokens: HtmlTokens;
  #snippet: string | null;
  /** Real base URL after the first `<base href>`, null before. */
  #base: string | null = null;
  #elementContext: ElementContext;
  /** Of the `style` element that is open. */
  #editor: TextEditor | undefined;
  #out = "";
  /** Up to here the text that comes with tags is in `#out`. */
  #copied = 0;

  /** `snippet`: inserted once; null for markup that is no document. */
  constructor(context: MarkupContext, snippet: string | null, rules: MarkupRules) {
    this.#context = context;
    this.#rules = rules;
    this.#snippet = snippet;
    this.#elementContext = this.#contextAt(context.documentUrl);
    this.#tokens = new HtmlTokens(this, rules.hasScripts);
  }

  write(chunk: string): string {
    this.#tokens.write(chunk);
    return this.#taken();
  }

  end(): string {
    const cutOff = this.#tokens.end();
    const text = this.#taken();
    if (this.#snippet === null) return text;
    const snippet = this.#snippet;
    this.#snippet = null;
    return text + CLOSES[cutOff] + snippet;
  }

  onText(html: string, start: number, end: number): void {
    if (this.#snippet === null) return;
    NOT_SPACE.lastIndex = start;
    const text = NOT_SPACE.exec(html)?.index ?? html.length;
    if (text < end) this.#insertSnippet(html, text);
  }

  onTag(html: string, { name, isEnd, start, nameStop, end }: Tag): void {
    if (this.#snippet !== null) {
      if (!isEnd && name === "head") this.#insertSnippet(html, end);
      else if (isEnd ? ENDS_BEFORE_HEAD.has(name) : name !== "html") this.#insertSnippet(html, start);
    }
    const { elements, inOthers } = this.#rules;
    if (isEnd || !(elements.has(name) || inOthers?.test(html.slice(nameStop, end)))) return;
    this.#rewriteTag(name, html, start, end);
  }

  onRawText(name: string, html: string, start: number, end: number, isLast: boolean): void {
    if (name !== "style") return;
    this.#editor ??= this.#rules.styles?.(this.#elementContext);
    if (this.#editor === undefined) return;
    this.#emit(html, start);
    this.#out += this.#editor.write(html.slice(start, end));
    this.#copied = end;
    if (!isLast) return;
    this.#out += this.#editor.end();
    this.#editor = undefined;
  }

  onDecided(html: string, end: number): void {
    this.#emit(html, end);
    this.#copied = 0;
  }

  #taken(): string {
    const text = this.#out;
    this.#out = "";
    return text;
  }

  #emit(html: string, end: number): void {
    this.#out += html.slice(this.#copied, end);
    this.#copied = end;
  }

  #insertSnippet(html: string, at: number): void {
    if (this.#snippet === null) return;
    this.#emit(html, at);
    this.#out += this.#snippet;
    this.#snippet = null;
  }

  #rewriteTag(name: string, html: string, start: number, end: number): void {
    const tag = html.slice(start, end);
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
    this.#emit(html, start);
    this.#out += rewritten;
    this.#copied = end;
  }

  #contextAt(base: string): ElementContext {
    const depth = (this.#context.depth ?? 0) + 1;
    return { ...this.#context, base, rewriteInner: this.#rules.inner({ ...this.#context, documentUrl: base, depth }) };
  }
}

/** For documents of slots. @param snippet as of HtmlRewriter. */
export function pageRewriter(context: MarkupContext, snippet: string | null): HtmlRewriter {
  return new HtmlRewriter(context, snippet, {
    elements: AFFECTED_ELEMENTS,
    inLinks: /ping/i,
    rewrite: rewriteElement,
    hasScripts: true,
    inner: rewriteSrcdoc,
  });
}

const AFFECTED_MARKUP = /<(?:iframe|frame|link|base|object|embed|meta|script|use|a(?:rea)?\s[^>]*\bping)\b/i;

/** Rewrites markup that is no whole document (innerHTML and its like); nothing is inserted. */
export function rewriteMarkup(html: string, context: MarkupContext): string {
  if (!AFFECTED_MARKUP.test(html)) return html;
  const rewriter = pageRewriter(context, null);
  return rewriter.write(html) + rewriter.end();
}

/** `ElementContext.rewriteInner`. The page script, which is like any other document's, has it adopted by the page around. */
export function rewriteSrcdoc(context: MarkupContext): ElementContext["rewriteInner"] {
  return (markup, hasPageScript) => {
    // What is nested so deep would be gone through as often.
    if ((context.depth ?? 0) > SRCDOC_DEPTH) return "";
    const snippet = pageScript(context.slotOrigin, context.nonce, "");
    if (!hasPageScript || markup.includes(snippet)) return rewriteMarkup(markup, context);
    const rewriter = pageRewriter(context, snippet);
    return rewriter.write(markup) + rewriter.end();
  };
}

/** The page script's element. @param origin "" for the document's own. */
export function pageScript(origin: string, nonce: string, data: string): string {
  return `<script src="${origin}${ropewayPath.pageScript}" nonce="${escapeAttribute(nonce)}"${data}></script>`;
}
