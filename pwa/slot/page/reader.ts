/**
 * The reader: the article of a page as text with its pictures, over the page, which stays where it is. Loads late, for the first
 * page that may have one. Mozilla's Readability looks at a copy; of that copy only text, plain elements and addresses get
 * into the reader, which stands in the page's own document, so that its pictures come by the page's worker and policy, and its
 * links lead the page.
 */
import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { READER_ELEMENT } from "../../messages/find-messages.ts";
import { type FindAnswer, type FindOrder, MESSAGE_TAG, type ReaderLook } from "../../messages/page-messages.ts";

/** The document that is read, and the way to the app. */
interface ReaderHost {
  readonly document: Document;
  readonly tell: (answer: FindAnswer) => void;
}

type ReadAct = FindOrder["act"] & { readonly kind: "read" };

/** Tells whether the page may have an article. `act.isShown`: shows the article, or takes away the one that is shown. */
export function read({ document, tell }: ReaderHost, id: number, act: ReadAct): void {
  const say = (told: FindAnswer["told"]) => tell({ tag: MESSAGE_TAG, type: "found", id, told });
  const open = document.querySelector(READER_ELEMENT);
  if (!act.isShown) return say({ kind: "article", isThere: open !== null || mayHaveArticle(document) });
  if (open !== null) return open.remove();
  const article = articleOf(document);
  if (article !== null) show(article, document, act, (look) => say({ kind: "look", look }));
  // Last: when the app hears of the article, it gives the page the focus, which the article must have taken by then.
  say({ kind: "article", isThere: article !== null });
}

interface Article {
  readonly title: string;
  /** The author's name, and the site's. */
  readonly by: string;
  readonly lang: string;
  readonly dir: string;
  readonly content: Element;
}

/** Elements of a page that is looked at: a copy is searched several times, and nothing else runs in the page meanwhile. */
const MOST_ELEMENTS = 30_000;

/** Elements in each other, deeper than anybody writes: the search goes from one element to all around it. */
const MOST_DEPTH = 100;
const TOO_DEEP = `:root${" > *".repeat(MOST_DEPTH)}`;

const isTooLarge = (document: Document): boolean => document.getElementsByTagName("*").length > MOST_ELEMENTS;

export function mayHaveArticle(document: Document): boolean {
  return !isTooLarge(document) && isProbablyReaderable(document);
}

function articleOf(document: Document): Article | null {
  if (isTooLarge(document)) return null;
  const copy = document.cloneNode(true) as Document;
  // A document that is no page has none.
  if (copy.body === null) return null;
  const base = copy.head?.querySelector("base") ?? copy.head?.appendChild(copy.createElement("base"));
  base?.setAttribute("href", document.baseURI);
  for (const each of copy.querySelectorAll(TOO_DEEP)) each.remove();
  const found = new Readability<Element>(copy, { serializer: (node) => node as Element }).parse();
  if (found?.content == null || (found.textContent ?? "").trim() === "") return null;
  return {
    title: found.title || document.title,
    by: [found.byline, found.siteName].filter(Boolean).join(" · "),
    lang: found.lang || document.documentElement.lang,
    dir: found.dir === "rtl" || found.dir === "ltr" ? found.dir : getComputedStyle(document.documentElement).direction,
    content: found.content,
  };
}

/** Elements that an article may have; of others their content is taken, or nothing. */
const KEPT = new Set(
  (
    "a abbr b blockquote br caption cite code col colgroup dd del dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li " +
    "mark ol p pre q rp rt ruby s samp section small span strong sub sup table tbody td tfoot th thead time tr u ul var wbr"
  ).split(" "),
);
const DROPPED = new Set(
  "audio button canvas embed form frame iframe input link math meta noscript object script select style svg template textarea title video".split(
    " ",
  ),
);
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  img: ["alt", "width", "height"],
  ol: ["start", "reversed"],
  td: ["colspan", "rowspan"],
  th: ["colspan", "rowspan", "scope"],
};

/** Makes the plain nodes of a copy anew. */
export function plain(from: Node, into: Node, document: Document): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) into.appendChild(document.createTextNode(node.nodeValue ?? ""));
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    const element = node as Element;
    const name = element.localName;
    if (DROPPED.has(name)) continue;
    const made = KEPT.has(name) ? plainElement(element, name, document) : into;
    plain(element, made, document);
    if (made !== into && !(name === "img" && !(made as Element).hasAttribute("src"))) into.appendChild(made);
  }
}

function plainElement(element: Element, name: string, document: Document): Element {
  const made = document.createElement(name);
  for (const attribute of ["lang", "dir", ...(ATTRIBUTES[name] ?? [])]) {
    const value = element.getAttribute(attribute);
    if (value !== null) made.setAttribute(attribute, value);
  }
  if (name === "a") setAddress(made, "href", element.getAttribute("href"), /^(?:https?|mailto|tel):$/);
  if (name === "img") {
    const first = element.getAttribute("srcset")?.trim().split(/\s/)[0] ?? null;
    setAddress(made, "src", element.getAttribute("src") ?? first, /^(?:https?|data|blob):$/);
    made.setAttribute("loading", "lazy");
  }
  return made;
}

function setAddress(element: Element, name: string, text: string | null, schemes: RegExp): void {
  const url = text === null ? null : URL.parse(text, element.ownerDocument.baseURI);
  if (url !== null && schemes.test(url.protocol)) element.setAttribute(name, url.href);
}

const STYLE = `
:host { all: initial !important }
dialog { box-sizing: border-box; position: fixed; inset: 0; width: 100%; height: 100%; max-width: none; max-height: none; margin: 0;
  padding: 0; border: 0; overflow: auto; overscroll-behavior: contain; color: var(--ink); background: var(--paper);
  font: calc(var(--size) * 1px)/1.6 Georgia, "Noto Serif", serif; overflow-wrap: break-word; outline: none;
  --paper: #fff; --ink: #14211e; --link: #0b6b62; --line: #dbe3df; color-scheme: light }
dialog[data-paper=sepia] { --paper: #f6ecd9; --ink: #3b2f20; --link: #7a4a12; --line: #decfb2 }
dialog[data-paper=dark] { --paper: #1a2321; --ink: #e4ece9; --link: #6fd6c8; --line: #35433f; color-scheme: dark }
[role=toolbar] { position: sticky; top: 0; display: flex; gap: 4px; align-items: center; padding: 4px; background: var(--paper);
  border-block-end: 1px solid var(--line) }
button { all: unset; box-sizing: border-box; min-width: 44px; height: 44px; padding: 0 8px; border-radius: 12px; text-align: center;
  cursor: pointer; font: 16px/44px system-ui, sans-serif; color: var(--ink) }
button:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: -2px }
button:disabled { opacity: .4 }
button[aria-pressed=true] { background: var(--line) }
.gap { flex: 1 }
article { max-width: 38em; margin: 0 auto; padding: 16px 20px 64px }
h1 { font-size: 1.6em; line-height: 1.25; margin: .6em 0 .3em }
.by { font-size: .85em; opacity: .8; margin: 0 0 1.5em }
a { color: var(--link) }
img { max-width: 100%; height: auto }
figure { margin: 1.2em 0 }
figcaption, caption { font-size: .85em; opacity: .85 }
pre { overflow: auto; font-size: .85em }
blockquote { margin-inline: 0; padding-inline-start: 1em; border-inline-start: 3px solid var(--line) }
table { display: block; overflow: auto; border-collapse: collapse }
td, th { border: 1px solid var(--line); padding: .2em .5em }
@media (forced-colors: active) { button[aria-pressed=true] { forced-color-adjust: none; background: Highlight; color: HighlightText } }
`;

/** CSS pixels of the text. */
const SIZES = [14, 16, 18, 20, 23, 27, 32, 40];

function show(
  article: Article,
  document: Document,
  { words, look }: ReadAct,
  onLook: (look: ReaderLook) => void,
): void {
  const host = document.createElement(READER_ELEMENT);
  // Not closed: the search in the page finds its text there.
  const root = host.attachShadow({ mode: "open" });
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (view === null) return;
  const style = new view.CSSStyleSheet();
  style.replaceSync(STYLE);
  root.adoptedStyleSheets = [style];
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", `${words.reader}: ${article.title}`);
  const draw = (next: ReaderLook) => {
    dialog.dataset.paper = next.paper;
    dialog.style.setProperty("--size", String(next.size));
  };
  draw(look);
  const change = (next: ReaderLook) => {
    draw(next);
    onLook(next);
  };
  dialog.append(
    toolbar(document, { words, look }, change, () => dialog.close()),
    bodyOf(article, document),
  );
  dialog.addEventListener("close", () => host.remove());
  root.append(dialog);
  document.documentElement.append(host);
  dialog.showModal();
  // A frame of another origin than the app's gets no focus by that (HTML section 4.11.4, "dialog focusing steps").
  dialog.tabIndex = -1;
  dialog.focus();
}

function bodyOf({ title, by, lang, dir, content }: Article, document: Document): Element {
  const made = document.createElement("article");
  if (lang !== "") made.lang = lang;
  made.dir = dir;
  const heading = document.createElement("h1");
  heading.textContent = title;
  made.append(heading);
  if (by !== "") {
    const line = document.createElement("p");
    line.className = "by";
    line.textContent = by;
    made.append(line);
  }
  plain(content, made, document);
  return made;
}

function toolbar(
  document: Document,
  { words, look }: Pick<ReadAct, "words" | "look">,
  onChange: (look: ReaderLook) => void,
  onClose: () => void,
): Element {
  const bar = document.createElement("div");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", words.reader);
  let current = look;
  const button = (sign: string, label: string, act: () => void) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = sign;
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const set = (next: Partial<ReaderLook>) => {
    current = { ...current, ...next };
    drawBar();
    onChange(current);
  };
  const step = (by: 1 | -1) => {
    const at = SIZES.indexOf(current.size);
    set({ size: SIZES[(at < 0 ? 2 : at) + by] ?? current.size });
  };
  const smaller = button("−", words.smaller, () => step(-1));
  const larger = button("+", words.larger, () => step(1));
  const papers = (["light", "sepia", "dark"] as const).map((paper) => {
    const made = button("◐", words[paper], () => set({ paper }));
    made.textContent = { light: "☀", sepia: "☕", dark: "☾" }[paper];
    return [paper, made] as const;
  });
  const drawBar = () => {
    smaller.disabled = current.size <= (SIZES[0] ?? 0);
    larger.disabled = current.size >= (SIZES.at(-1) ?? 0);
    for (const [paper, made] of papers) made.setAttribute("aria-pressed", String(paper === current.paper));
  };
  drawBar();
  const gap = document.createElement("span");
  gap.className = "gap";
  bar.append(button("✕", words.close, onClose), gap, smaller, larger, ...papers.map(([, made]) => made));
  return bar;
}
