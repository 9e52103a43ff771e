/**
 * Rewrites a document as it streams in: the page script's element right after `<head>`, in XML right after the first tag,
 * and the attributes of elements that would load past the service worker. Everything else passes byte for byte.
 */
import type { MarkupValues } from "../../../shared/web/documents.ts";
import {
  type Attribute,
  type CutOff,
  decodeReferences,
  HtmlTokens,
  type MarkupLanguage,
  nameEnd,
  type Tag,
  type TokenHandler,
  tagEnd,
} from "../../../shared/web/html-tokens.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { isSlotUrl, ropewayPath, ropewayUrl, type SlotIdentity, toReal, toSlot } from "../slot-url.ts";

/** Rules by which markup is rewritten. */
export interface MarkupRules {
  /** Lower-case names. */
  readonly elements: ReadonlySet<string>;
  /** Without any of this in its tag, a link (`a`, `area`) is left alone. */
  readonly inLinks: RegExp;
  /** With any of this in its tag, another element is changed, too. */
  readonly inOthers?: RegExp;
  readonly rewrite: (name: string, element: AttributeAccess, context: ElementContext) => void;
  readonly language: MarkupLanguage;
  /** Rewrites documents in `srcdoc`, for elements of a document of this context. */
  readonly inner: (context: MarkupContext) => ElementContext["rewriteInner"];
  readonly texts?: TextRules;
}

/** For texts of elements, by the elements' names. `element`: the one whose tag was rewritten last. */
export type TextRules = Readonly<
  Partial<Record<string, (context: ElementContext, element: AttributeAccess | undefined) => TextEditor | undefined>>
>;

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

/** Ends of a construct that the document's end cut off, for the snippet not to be part of it. */
const CLOSES: Readonly<Record<CutOff, string>> = { nothing: "", tag: "", declaration: ">", comment: "-->" };

/** Characters: each link is resolved by the whole of its base, and comes out as long, however short it was. */
export const LONGEST_BASE = 2_048;

/** Of a longer base what most links take of it: the path, where that is not what is long, and the origin. */
function shortened(base: string): string {
  if (base.length <= LONGEST_BASE) return base;
  const { origin, pathname } = new URL(base);
  return origin + (pathname.length <= LONGEST_BASE ? pathname : "/");
}

/** Characters before the root of XML. */
const LONGEST_PROLOG = 65_536;

export class HtmlRewriter implements TokenHandler {
  readonly #context: MarkupContext;
  readonly #rules: MarkupRules;
  readonly #tokens: HtmlTokens;
  #snippet: string | null;
  /** Real base URL after the first `<base href>`, null before. */
  #base: string | null = null;
  #elementContext: ElementContext;
  #element: AttributeAccess | undefined;
  /** Of the element that is open. */
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
    this.#tokens = new HtmlTokens(this, rules.language);
  }

  write(chunk: string): string {
    this.#tokens.write(chunk);
    const isProlog = this.#rules.language === "xml" && this.#snippet !== null;
    return isProlog && this.#out.length < LONGEST_PROLOG ? "" : this.#taken();
  }

  end(): string {
    const cutOff = this.#tokens.end();
    const text = this.#taken();
    if (this.#snippet === null || this.#rules.language === "xml") return text;
    const snippet = this.#snippet;
    this.#snippet = null;
    return text + CLOSES[cutOff] + snippet;
  }

  onText(html: string, start: number, end: number): void {
    if (this.#snippet === null || this.#rules.language === "xml") return;
    NOT_SPACE.lastIndex = start;
    const text = NOT_SPACE.exec(html)?.index ?? html.length;
    if (text < end) this.#insertSnippet(html, text);
  }

  onTag(html: string, tag: Tag): void {
    const { name, isEnd, start, nameStop, end } = tag;
    const { elements, inOthers, language } = this.#rules;
    if (this.#snippet !== null && language !== "xml") {
      if (!isEnd && name === "head") this.#insertSnippet(html, end);
      else if (isEnd ? ENDS_BEFORE_HEAD.has(name) : name !== "html") this.#insertSnippet(html, start);
    }
    if (!isEnd && (elements.has(name) || inOthers?.test(html.slice(nameStop, end)))) {
      this.#rewriteTag(name, html, start, end);
    }
    if (language === "xml") this.#insertInRoot(html, tag);
  }

  #insertInRoot(html: string, { start, nameStop, end, closesItself }: Tag): void {
    if (this.#snippet === null) return;
    this.#emit(html, end);
    // XSLT makes another document, without the page script: the app would wait for that for ever. An attribute that is there
    // twice switches the instruction off.
    this.#out = this.#out.replace(/<\?xml-stylesheet[^>]*/g, (each) =>
      each.replace(/^.{16}(?=[^>]*\stype\s*=\s*["'](?!text\/css))/, "$& type=''"),
    );
    if (closesItself) this.#out = `${this.#out.slice(0, -2)}>${this.#snippet}</${html.slice(start + 1, nameStop)}>`;
    else this.#out += this.#snippet;
    this.#snippet = null;
  }

  onRawText(name: string, html: string, start: number, end: number, isLast: boolean): void {
    this.#editor ??= this.#rules.texts?.[name]?.(this.#elementContext, this.#element);
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
    const editor = new TagEditor(tag, this.#context.values);
    this.#element = editor;
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

  #contextAt(url: string): ElementContext {
    const base = shortened(url);
    const depth = (this.#context.depth ?? 0) + 1;
    // Documents in attributes are text of characters.
    const { values: _, ...outer } = this.#context;
    return { ...this.#context, base, rewriteInner: this.#rules.inner({ ...outer, documentUrl: base, depth }) };
  }
}

/** For documents of slots. @param snippet as of HtmlRewriter. */
export function pageRewriter(
  context: MarkupContext,
  snippet: string | null,
  language: MarkupLanguage = "html",
): HtmlRewriter {
  return new HtmlRewriter(context, snippet, {
    elements: AFFECTED_ELEMENTS,
    inLinks: /ping|url\(/i,
    inOthers: /url\(|href/i,
    rewrite: rewriteElement,
    language,
    inner: rewriteSrcdoc,
    ...(context.texts && { texts: context.texts }),
  });
}

/** Styles refer to elements (`url(…#id)`) of the document's own origin only, and of the document itself by its own address. */
function ownReferences(text: string, { realOrigin, slotOrigin }: ElementContext): string {
  // The path is taken along with or without a part: none of it is looked at again.
  const own = new RegExp(`${realOrigin.replace(/[.[\]]/g, "\\$&")}(/[^"')\\s#]*(#?))`, "gi");
  return text.replace(own, (written, rest, mark) => (mark ? slotOrigin + rest : written));
}

/** For own addresses in styles and in maps of imports of a document as it comes. @param mayChange now. */
export function ownTexts(mayChange: () => boolean): TextRules {
  const edited = (edit: typeof ownReferences, context: ElementContext): TextEditor => {
    let text = "";
    return {
      write(piece) {
        text += piece;
        return "";
      },
      end: () => (mayChange() ? edit(text, context) : text),
    };
  };
  return {
    style: (context) => edited(ownReferences, context),
    script: (context, element) =>
      element?.get("type")?.trim().toLowerCase() === "importmap" ? edited(ownImports, context) : undefined,
  };
}

/** A map of imports that gives own addresses as the slot has them, whichever way scripts write them. */
function ownImports(text: string, context: ElementContext): string {
  // Deeper objects mean nothing, and each step would double their number.
  const mapped = (map: object, depth = 0): object =>
    Object.fromEntries(
      Object.entries(map).flatMap(([key, value]) => {
        const { real } = (/^\.{0,2}\/|:/.test(key) && resolve(key, context)) || {};
        const isMap = depth < 2 && Object(value) === value;
        const to: unknown = isMap ? mapped(value, depth + 1) : onSlot(value, context);
        const keys = real?.origin === context.realOrigin ? [real.href, toSlot(real.href, context)] : [key];
        return keys.map((each) => [each, to]);
      }),
    );
  try {
    return JSON.stringify(mapped(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** In XML an element says what language it is of. */
export function inXml(script: string): string {
  return script.replace("<script ", '<script xmlns="http://www.w3.org/1999/xhtml" ');
}

const AFFECTED_MARKUP =
  /<(?:iframe|frame|link|base|object|embed|meta|script|svg|track|use|textpath|\w*gradient)\b|\bping\b|url\(/i;

/** Rewrites markup that is no whole document (innerHTML and its like); nothing is inserted. */
export function rewriteMarkup(html: string, context: MarkupContext, language: MarkupLanguage = "html"): string {
  if (!AFFECTED_MARKUP.test(html)) return html;
  const rewriter = pageRewriter(context, null, language);
  return rewriter.write(html) + rewriter.end();
}

/** `ElementContext.rewriteInner`. The page script, which is like any other document's, has it adopted by the page around. */
export function rewriteSrcdoc(context: MarkupContext): ElementContext["rewriteInner"] {
  return (markup, hasPageScript) => {
    // A document nested so deep would be gone through as often.
    if ((context.depth ?? 0) > SRCDOC_DEPTH) return "";
    const snippet = pageScript(context.slotOrigin, context.nonce, "");
    if (!hasPageScript || markup.includes(snippet)) return rewriteMarkup(markup, context);
    const rewriter = pageRewriter(context, snippet);
    return rewriter.write(markup) + rewriter.end();
  };
}

/** The page script's element, in ASCII. @param origin "" for the document's own. */
export function pageScript(origin: string, nonce: string, data: string): string {
  return `<script src="${origin}${ropewayPath.pageScript}" nonce="${escapeHtml(nonce)}"${data}></script>`;
}

export interface MarkupContext extends SlotIdentity {
  /** Real URL of the document, base of relative URLs until a `<base href>` comes. */
  readonly documentUrl: string;
  /** Where the markup is no text of characters. */
  readonly values?: MarkupValues;
  /** Documents that hold it in an attribute, `srcdoc`. */
  readonly depth?: number;
  /** Of the page script's element. */
  readonly nonce: string;
  /** Where the markup is a document as it comes. */
  readonly texts?: TextRules;
  /** Transforms the `content` of a policy's `<meta>`. */
  readonly transformPolicy: (content: string) => string;
}

export interface ElementContext extends MarkupContext {
  /** Real URL that relative URLs resolve against. */
  readonly base: string;
  /** Rewrites the markup of a srcdoc document. `hasPageScript`: it is one whose scripts may load. */
  readonly rewriteInner: (markup: string, hasPageScript: boolean) => string;
}

export const AFFECTED_ELEMENTS: ReadonlySet<string> = new Set([
  "a",
  "area",
  "base",
  "embed",
  "frame",
  "iframe",
  "link",
  "meta",
  "object",
  "script",
  "track",
  "use",
]);

const CLOSED_PREFIX_START = `<meta http-equiv="Content-Security-Policy" content="default-src data: blob: 'unsafe-inline' 'unsafe-eval'`;
/** First in a srcdoc document whose origin is opaque: no service worker sees its requests, so there may be none. */
const CLOSED_PREFIX = `${CLOSED_PREFIX_START}">`;
/**
 * First in all other srcdoc documents. Firefox (153) lets none below a sandboxed frame, as the shell's is, have its
 * parent's service worker: requests would go out past it. Navigations do reach a worker. Its name for an error of its own
 * tells Firefox in pages and workers alike.
 */
const SRCDOC_PREFIX = "InternalError" in globalThis ? `${CLOSED_PREFIX_START}; frame-src *">` : "";

/** Tells the frame placeholder that it may not load its URL. */
export const CLOSED_SUFFIX = "&closed=1";

/** Where the browser would go, in slot terms, and really. Null for what is neither http: nor https:. */
function resolve(url: string, context: ElementContext): { native: URL; real: URL } | null {
  const real = parseUrl(url, context.base);
  const native = parseUrl(url, toSlot(context.base, context));
  if (real === null || native === null || !/^https?:$/.test(real.protocol)) return null;
  return { native, real };
}

/** A navigation target as it reads in markup; null: leave it. `path` answers for other origins. */
function targetUrl(url: string, path: string, context: ElementContext): string | null {
  const target = resolve(url, context);
  if (target === null || isSlotUrl(target.native, context)) return null;
  if (target.real.origin === context.realOrigin) return toSlot(target.real.href, context);
  return ownUrl(path, target.real.href, context);
}

/** An address of the slot, whatever the document's base is. */
function ownUrl(path: string, realUrl: string, { base, realOrigin, slotOrigin }: ElementContext): string {
  return (parseUrl(base)?.origin === realOrigin ? "" : slotOrigin) + ropewayUrl(path, realUrl);
}

const PLACEHOLDER = new RegExp(`^(?:https?://[^/]+)?${ropewayPath.frame.replace(".", "\\.")}\\?`);

/** The URL that a frame's `src` becomes, or null to leave it. */
export function frameUrl(src: string, context: ElementContext): string | null {
  // The policy has none of these in frames. The placeholder says so, and is loaded: Firefox has no `load` for what a
  // policy blocks.
  if (/^\s*(?:blob|data):/i.test(src)) return ownUrl(ropewayPath.frame, src, context);
  return targetUrl(src, ropewayPath.frame, context);
}

/** The address as the page wrote it goes along where the placeholder's `url` does not tell it. */
function withWritten(url: string, written: string): string {
  const isTold = !PLACEHOLDER.test(url) || url.endsWith(`?url=${encodeURIComponent(written)}`);
  return isTold ? url : `${url}&written=${encodeURIComponent(written)}`;
}

/** The `src` of a frame as the page wrote it. `value`: as it is now. */
export function writtenFrameUrl(value: string, slot: SlotIdentity): string {
  if (!PLACEHOLDER.test(value)) return toReal(value, slot);
  const parameters = new URLSearchParams(value.slice(value.indexOf("?")));
  return parameters.get("written") ?? parameters.get("url") ?? value;
}

function isOwnPage(src: string, context: ElementContext): boolean {
  const target = resolve(src, context);
  if (target === null || target.native.pathname.startsWith("/.ropeway/")) return false;
  return target.real.origin === context.realOrigin || isSlotUrl(target.native, context);
}

/** Whether the frame's document is of no origin, and may run scripts. */
function isOpaque(element: AttributeAccess): boolean {
  const tokens = element.get("sandbox")?.toLowerCase().split(/\s+/) ?? ["allow-same-origin"];
  return !tokens.includes("allow-same-origin") && tokens.includes("allow-scripts");
}

/**
 * A sandbox without allow-same-origin makes an opaque origin, which no service worker controls. Without scripts the
 * token is added, since nothing can use it; frames of other origins have slots of their own and get it too. The rest is
 * the site's own markup that it does not trust: it stays sandboxed, without network.
 */
function openSandbox(element: AttributeAccess, context: ElementContext): void {
  const sandbox = element.get("sandbox");
  const tokens = sandbox?.toLowerCase().split(/\s+/) ?? [];
  if (sandbox === null || tokens.includes("allow-same-origin")) return;
  const withScripts = tokens.includes("allow-scripts");
  if (withScripts && element.get("srcdoc") !== null) {
    element.mapMarkup("srcdoc", (markup) => (markup.startsWith(CLOSED_PREFIX) ? markup : CLOSED_PREFIX + markup));
    return;
  }
  const src = element.get("src") ?? "";
  if (src.includes(CLOSED_SUFFIX)) return;
  const isBlob = /^\s*blob:|^[^?]*\?url=blob%3a/i.test(src);
  if (withScripts && (isBlob || isOwnPage(src, context))) {
    const real = parseUrl(src, context.base)?.href ?? src;
    const isPlaced = PLACEHOLDER.test(src);
    element.set("src", (isPlaced ? src : withWritten(ownUrl(ropewayPath.frame, real, context), src)) + CLOSED_SUFFIX);
    return;
  }
  if (src !== "" || !withScripts) element.set("sandbox", `${sandbox} allow-same-origin`.trim());
}

function rewriteFrame(element: AttributeAccess, context: ElementContext): void {
  // A credentialless frame is in a storage partition of its own, without our service worker.
  if (element.get("credentialless") !== null) element.remove("credentialless");
  // Embedded enforcement wants an answer that our placeholder does not give.
  if (element.get("csp") !== null) element.remove("csp");
  element.mapMarkup("srcdoc", (markup) => {
    const isClosed = markup.startsWith(CLOSED_PREFIX);
    const prefix = isClosed ? CLOSED_PREFIX : SRCDOC_PREFIX;
    const inner = markup.startsWith(prefix) ? markup.slice(prefix.length) : markup;
    return prefix + context.rewriteInner(inner, prefix === "" && !isOpaque(element));
  });
  openSandbox(element, context);
  const written = element.get("src") ?? "";
  const src = frameUrl(written, context);
  if (src !== null) element.set("src", withWritten(src, written));
}

/** `<object data>` and `<embed src>` skip service workers; frames show what they name (`view/embedded.ts`). */
function moveAway(element: AttributeAccess, name: string): void {
  const value = element.get(name);
  if (value === null) return;
  element.remove(name);
  element.set(`data-ropeway-${name}`, value);
}

function rewriteMeta(element: AttributeAccess, context: ElementContext): void {
  const content = element.get("content");
  if (content === null) return;
  let rewritten: string | null = null;
  switch (element.get("http-equiv")?.trim().toLowerCase()) {
    case "content-security-policy":
      rewritten = context.transformPolicy(content);
      break;
    case "refresh":
      rewritten = rewriteRefresh(content, (url) => targetUrl(url, ropewayPath.go, context));
      break;
    case "x-dns-prefetch-control":
      rewritten = "off";
      break;
  }
  if (rewritten !== null && rewritten !== content) element.set("content", rewritten);
}

/**
 * Changes the attributes of an element so that it loads through the service worker or not at all. These rules are for
 * markup that streams in and for elements that scripts make.
 *
 * @param name lower-case name of the tag.
 */
export function rewriteElement(name: string, element: AttributeAccess, context: ElementContext): void {
  switch (name) {
    case "a":
    case "area":
      if (element.get("ping") !== null) element.remove("ping");
      break;
    case "base": {
      const href = element.get("href");
      const target = href === null ? null : parseUrl(href, context.documentUrl);
      if (target?.origin === context.realOrigin && parseUrl(href ?? "") !== null)
        element.set("href", toSlot(target.href, context));
      break;
    }
    case "frame":
    case "iframe":
      rewriteFrame(element, context);
      break;
    case "link":
      rewriteLink(element);
      if (/\bmodulepreload\b/i.test(element.get("rel") ?? "")) nameOwn(element, ["href"], context);
      break;
    case "meta":
      rewriteMeta(element, context);
      break;
    case "object":
      moveAway(element, "data");
      break;
    case "embed":
      moveAway(element, "src");
      break;
    case "track":
      nameOwn(element, ["src"], context);
      break;
    case "script": {
      const type = element.get("type")?.trim().toLowerCase() ?? "";
      if (/^(?:speculationrules|webbundle)$/.test(type)) element.set("type", PREFIX + type);
      if (type === "module") nameOwn(element, ["src"], context);
    }
  }
  // Of shapes: they refer to others.
  if (!LINKS.has(name)) nameOwn(element, ["href", "xlink:href"], context);
  for (const each of SVG_ATTRIBUTES) {
    const value = element.get(each);
    if (value?.includes("url(")) element.set(each, ownReferences(value, context));
  }
}

const LINKS: ReadonlySet<string> = new Set(["a", "area", "base", "link"]);

/** Attributes that refer to elements by `url()`. */
export const SVG_ATTRIBUTES: readonly string[] =
  "style filter mask clip-path fill stroke marker-start marker-mid marker-end".split(" ");

/** Addresses that the browser takes of the document's own origin only, or in one form only: a module by each runs anew. */
function nameOwn(element: AttributeAccess, names: readonly string[], context: ElementContext): void {
  for (const name of names) {
    const url = element.get(name);
    const own = onSlot(url, context);
    if (own !== url) element.set(name, String(own));
  }
}

/** An address in full of the page's own origin as the slot has it; any other value as it is. */
function onSlot(url: unknown, context: ElementContext): unknown {
  const own = typeof url === "string" ? resolve(url, context) : null;
  const isOwn = own?.real.origin === context.realOrigin && !isSlotUrl(own.native, context);
  return isOwn ? toSlot(own.real.href, context) : url;
}

/**
 * `rel` values of links that the browser acts on past the service worker: it opens connections, asks resolvers, or
 * fetches by itself. Preload, modulepreload and prefetch do ask the service worker (Chromium 156) and stay.
 */
export const NEUTRALISED_RELATIONS: ReadonlySet<string> = new Set([
  "compression-dictionary",
  "dns-prefetch",
  "manifest",
  "preconnect",
  "prerender",
]);

const PREFIX = "ropeway-";

/** A `<link>` without relations by which the browser would fetch past the worker. */
export function rewriteLink(element: AttributeAccess): void {
  const rel = neutraliseRelations(element.get("rel") ?? "");
  if (rel !== null) element.set("rel", rel);
}

/** The `rel` value with those relations renamed, or null where there is none. */
export function neutraliseRelations(rel: string): string | null {
  const tokens = rel.split(/([\t\n\f\r ]+)/);
  const renamed = tokens
    .map((token) => (NEUTRALISED_RELATIONS.has(token.toLowerCase()) ? PREFIX + token : token))
    .join("");
  return renamed === rel ? null : renamed;
}

/** Of `Refresh` fields and `<meta http-equiv=refresh>`: HTML section 4.2.5.3, shared declarative refresh steps. */
export interface Refresh {
  /** As written, for example `5` or `0.5`. */
  readonly delay: string;
  /** As written, "" for the document itself. */
  readonly url: string;
}

export function parseRefresh(value: string): Refresh | null {
  const text = value.trim();
  const [delay = ""] = /^\d*(?:\.[\d.]*)?/.exec(text) ?? [];
  const rest = text.slice(delay.length);
  if (delay === "" || (rest !== "" && !/^[;,\s]/.test(rest))) return null;
  let url = rest
    .trimStart()
    .replace(/^[;,]/, "")
    .trimStart()
    .replace(/^url\s*=/i, "")
    .trimStart();
  const quote = url[0];
  if (quote === '"' || quote === "'") {
    const end = url.indexOf(quote, 1);
    url = url.slice(1, end === -1 ? undefined : end);
  }
  return { delay, url };
}

/** The value with its URL mapped; null where nothing is to be changed. `map` gives null for "leave it". */
export function rewriteRefresh(value: string, map: (url: string) => string | null): string | null {
  const refresh = parseRefresh(value);
  if (refresh === null || refresh.url === "") return null;
  const url = map(refresh.url);
  return url === null ? null : `${refresh.delay}; url=${url}`;
}

/** Stands for the `&` of a reference that was not decoded; a noncharacter, so no text has it. */
const KEPT_AMPERSAND = "\ufdd0";

/** For text, and for attribute values in double quotes, of HTML and of XML. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** Maps markup inside an attribute value, leaving references that `decodeReferences` does not know as written. */
export function mapMarkupValue(value: string, map: (markup: string) => string): string {
  return escapeHtml(map(decodeReferences(value, KEPT_AMPERSAND))).replaceAll(KEPT_AMPERSAND, "&");
}

/** The attributes of an element, in a tag's text or in the DOM. Names are lower case. */
export interface AttributeAccess {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
  /** Maps the markup that an attribute holds (`srcdoc`). */
  mapMarkup(name: string, map: (markup: string) => string): void;
}

/** Edits the attributes of one start tag, given as its whole text; every other byte stays as it is. The first of a repeated name counts. */
export class TagEditor implements AttributeAccess {
  readonly #tag: string;
  readonly #attributes: Attribute[] = [];
  /** New values as they are to be written, escaped; null: removed. */
  readonly #edits = new Map<string, string | null>();
  readonly #values: MarkupValues | undefined;

  /** @param values where the tag is no text of characters. */
  constructor(tag: string, values?: MarkupValues) {
    this.#tag = tag;
    this.#values = values;
    tagEnd(tag, nameEnd(tag, 1), this.#attributes);
  }

  #written(name: string): string | null {
    const edit = this.#edits.get(name);
    return edit !== undefined ? edit : (this.#attributes.find((attribute) => attribute.name === name)?.value ?? null);
  }

  get(name: string): string | null {
    const value = this.#written(name);
    return value === null ? null : decodeReferences(this.#values?.decodeAddress(value) ?? value);
  }

  set(name: string, value: string): void {
    this.#edit(name, escapeHtml(value));
  }

  #edit(name: string, written: string): void {
    this.#edits.set(name, this.#values?.encode(written) ?? written);
  }

  remove(name: string): void {
    this.#edits.set(name, null);
  }

  mapMarkup(name: string, map: (markup: string) => string): void {
    const written = this.#written(name);
    if (written === null) return;
    const value = this.#values?.decode(written) ?? written;
    const mapped = mapMarkupValue(value, map);
    if (decodeReferences(mapped) !== decodeReferences(value)) this.#edit(name, mapped);
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
