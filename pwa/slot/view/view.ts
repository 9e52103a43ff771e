/**
 * Documents that are the page and no HTML, as people read them: JSON and XML as a tree, feeds as a list, a picture in the
 * middle, PDFs as pages. Loads late. Scripts of other windows see the document as it was: the view is in a closed shadow
 * tree. In frames browsers show such documents as text, and so does the app.
 */
import { isJson } from "../../../shared/web/documents.ts";
import { learnWords, marked, t } from "../words.ts";
import { jsonFeed, showFeed, textFeed, xmlFeed } from "./feed.ts";
import { jsonRows } from "./json-tree.ts";
import { pdfPage } from "./pdf-page.ts";
import { showPicture } from "./picture.ts";
import { button, element, type Rows, showRows } from "./tree.ts";
import { xmlRows } from "./xml-tree.ts";

export { showEmbedded } from "./embedded.ts";

/** A closed shadow tree of the app's own, in which a document is shown. */
export interface View {
  readonly root: ShadowRoot;
  /** Makes what a search has to look at, and is not there until somebody looks at it. */
  readonly complete?: () => Promise<void>;
}

/** @param url of the document. @returns null where the document is shown as it is. */
export async function show(url: string): Promise<View | null> {
  await learnWords();
  if (document.contentType === "application/pdf") return showPdf();
  const root = document instanceof HTMLDocument ? await showHtml(url) : showXml(url);
  return root && { root };
}

function showPdf(): View {
  const root = viewRoot();
  return { root, complete: pdfPage(root) };
}

async function showHtml(url: string): Promise<ShadowRoot | null> {
  const [picture] = document.images;
  const text = document.querySelector("pre");
  if (picture !== undefined) showPicture(picture);
  return text === null ? null : showText(text.textContent ?? "", url);
}

async function showText(text: string, url: string): Promise<ShadowRoot | null> {
  const source = document.createElement("slot");
  if (!isJson(document.contentType)) {
    const feed = textFeed(text, url);
    return feed && showBoth(t("Feed"), showFeed(feed), source);
  }
  const rows = await jsonRows(text);
  if (rows === null) return null;
  const feed = jsonFeed(text, url);
  return feed === null ? showBoth(t("Tree"), treeOf(rows), source) : showBoth(t("Feed"), showFeed(feed), source);
}

/** Elements whose looks the browser knows: such a document is shown as it says (XHTML, SVG, MathML). */
const LOOKS = /^http:\/\/www\.w3\.org\/(?:1999\/xhtml|2000\/svg|1998\/Math\/MathML)$/;

function hasLooks(): boolean {
  for (const each of document.getElementsByTagName("*")) if (LOOKS.test(each.namespaceURI ?? "")) return true;
  return false;
}

/** XSLT, which many feeds name: the worker switches it off (`html-rewriter.ts`). */
const TRANSFORM = /\btype\s*=\s*["'](?:text|application)\/xs/;

function showXml(url: string): ShadowRoot | null {
  const root = document.documentElement;
  const sheets = [...document.childNodes].filter((node) => node.nodeName === "xml-stylesheet");
  const feed = sheets.every(({ nodeValue }) => TRANSFORM.test(nodeValue ?? "")) ? xmlFeed(root, url) : null;
  if (feed === null && (sheets.length > 0 || hasLooks())) return null;
  const before = [...document.childNodes].filter((node) => node !== root && node !== document.doctype);
  const source = new XMLSerializer().serializeToString(document);
  // As Chromium does it in a tab.
  const kept = element("div", "");
  kept.id = "webkit-xml-viewer-source-xml";
  kept.hidden = true;
  const body = element("body", "", kept);
  root.replaceWith(element("html", "", element("head", ""), body));
  kept.append(root);
  const asText = () => element("pre", "", source);
  return feed === null
    ? showBoth(t("Tree"), treeOf(xmlRows([...before, root])), asText)
    : showBoth(t("Feed"), showFeed(feed), asText);
}

function treeOf(rows: Rows): HTMLElement {
  const tree = element("ul", "tree");
  void showRows(tree, rows);
  return tree;
}

/** Characters: the browser takes part of a second to lay out so many. */
const MOST_LAID_OUT = 500_000;

/** The view, and the source beside it, behind two buttons. */
function showBoth(name: string, shown: HTMLElement, text: HTMLElement | (() => HTMLElement)): ShadowRoot {
  const isLarge = (document.body.textContent ?? "").length > MOST_LAID_OUT;
  const root = viewRoot();
  // The document's own text is laid out out of sight: scripts may ask for what is shown of it (`innerText`).
  const source = element("div", isLarge ? "source large" : "source", ...(typeof text === "function" ? [] : [text]));
  const choose = (isSource: boolean) => {
    if (isSource && typeof text === "function" && !source.hasChildNodes()) source.append(text());
    shown.hidden = isSource;
    source.classList.toggle("away", !isSource);
    source.inert = !isSource;
    ofView.ariaPressed = String(!isSource);
    ofSource.ariaPressed = String(isSource);
  };
  const ofView = button(name, () => choose(false));
  const ofSource = button(t("Source"), () => choose(true));
  const bar = marked(element("div", "bar", ofView, ofSource));
  bar.role = "group";
  bar.ariaLabel = t("How it is shown");
  root.append(element("main", "", bar, shown, source));
  choose(false);
  return root;
}

function viewRoot(): ShadowRoot {
  const root = document.body.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  return root;
}

const STYLE = `
:host { display: block; margin: 0 !important; color-scheme: light dark; color: CanvasText; background: Canvas; }
[hidden] { display: none !important; }
.bar { position: sticky; top: 0; z-index: 1; display: flex; gap: 4px; padding: 8px 12px; background: Canvas;
  border-bottom: 1px solid color-mix(in srgb, CanvasText 18%, Canvas); font: 15px/1.4 system-ui, sans-serif; }
button { min-height: 44px; padding: 0 16px; border: 0; border-radius: 22px; background: none; color: inherit; font: inherit; cursor: pointer; }
button[aria-pressed=true] { background: color-mix(in srgb, LinkText 16%, Canvas); font-weight: 600; }
:focus-visible { outline: 2px solid LinkText; outline-offset: -2px; }
main { padding: 0 12px 12px; }
main > .bar { margin: 0 -12px 12px; }
.source { white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace; }
.source pre { margin: 0; white-space: inherit; font: inherit; }
.away { position: absolute; inset-inline: 0; top: 0; height: 0; overflow: clip; }
.away.large { content-visibility: hidden; }
.tree, .tree ul { margin: 0; padding: 0; list-style: none; font: 13px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
.tree ul { padding-inline-start: 18px; border-inline-start: 1px solid color-mix(in srgb, CanvasText 14%, Canvas); }
.tree li { padding-inline-start: 16px; }
.tree li:has(> details) { padding-inline-start: 0; }
.tree .end { padding-inline-start: 16px; }
.tree details:not([open]) + .end, .tree details[open] > summary .closed { display: none; }
.tree button { min-height: 32px; color: LinkText; }
summary { cursor: pointer; padding-inline-start: 16px; list-style: none; position: relative; }
summary::before { content: "▸"; position: absolute; inset-inline-start: 0; width: 16px; opacity: 0.7; }
details[open] > summary::before { content: "▾"; }
.closed, .index, .note { opacity: 0.7; }
.key, .tag { color: light-dark(#8a1f6b, #f2a1d8); }
.string { color: light-dark(#0b5e2b, #8fdca5); }
.value { color: light-dark(#0a4fa8, #9cc7ff); }
.note { white-space: pre-wrap; }
.feed { max-width: 42em; margin: 0 auto; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.feed h1 { margin: 8px 0; font-size: 24px; line-height: 1.25; }
.feed h2 { margin: 0; font-size: 18px; line-height: 1.35; }
.feed p { margin: 4px 0 0; }
.about, .byline { color: color-mix(in srgb, CanvasText 70%, Canvas); }
.byline { font-size: 14px; }
.entries { margin: 0; padding: 0; list-style: none; }
.entries li { padding: 16px 0; border-top: 1px solid color-mix(in srgb, CanvasText 14%, Canvas); }
.entries li:first-child { border: 0; }
.pdf { min-height: 100vh; padding: 0; background: color-mix(in srgb, CanvasText 12%, Canvas); font: 15px/1.4 system-ui, sans-serif; }
.pdf > .bar { margin: 0; flex-wrap: wrap; align-items: center; position: sticky; left: 0; width: 100vw; box-sizing: border-box; padding: 4px 8px; }
.pdf button, .save { min-width: 44px; padding: 0 8px; text-align: center; }
.save { display: inline-block; line-height: 44px; color: LinkText; }
.number { flex: 1; text-align: center; white-space: nowrap; }
.pdf input { box-sizing: border-box; width: 3.5em; min-height: 36px; font: inherit; text-align: end; color: inherit; background: Field; border: 1px solid GrayText; border-radius: 6px; }
.notice { max-width: 26em; margin: 0 auto; padding: 25vh 16px; text-align: center; }
.notice input { display: block; width: 100%; margin: 8px 0; text-align: start; }
.notice button { color: LinkText; }
.notice progress { width: 100%; margin-bottom: 16px; }
.pages { width: max-content; min-width: 100%; touch-action: pan-x pan-y; }
.page { position: relative; margin: 8px auto; background: #fff; scroll-margin-top: 60px; color-scheme: only light;
  width: calc(var(--width) * var(--total-scale-factor) * 1px); height: calc(var(--height) * var(--total-scale-factor) * 1px); }
.page canvas { display: block; width: 100%; height: 100%; }
.page .link { position: absolute; z-index: 2; }
.page .link:focus-visible { outline: 2px solid LinkText; }
.textLayer { position: absolute; inset: 0; overflow: clip; line-height: 1; text-align: initial; text-size-adjust: none; forced-color-adjust: none;
  transform-origin: 0 0; --min-font-size: 1; --text-scale-factor: calc(var(--total-scale-factor) * var(--min-font-size)); --min-font-size-inv: calc(1 / var(--min-font-size)); }
.textLayer :is(span, br) { color: transparent; position: absolute; white-space: pre; cursor: text; transform-origin: 0% 0%; }
.textLayer > :not(.markedContent), .textLayer .markedContent span:not(.markedContent) { z-index: 1; --font-height: 0; --scale-x: 1; --rotate: 0deg;
  font-size: calc(var(--text-scale-factor) * var(--font-height));
  transform: rotate(var(--rotate)) scaleX(var(--scale-x)) scale(var(--min-font-size-inv)); }
.textLayer .markedContent { display: contents; }
@media print { .pdf .bar, .page .link { display: none; } .pdf { background: none; } .page { margin: 0; break-after: page; } }
`;
