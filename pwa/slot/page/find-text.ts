/**
 * Finds text in a document: of its elements, open shadow trees, and frames that have no page script of their own. Loads late,
 * for the first search. The page may have put functions of its own in the place of the browser's: none of them gets to see
 * the text that is searched for, which is only read by its places, and compared.
 */
import { foldCharacter, MOST_MATCHES, READER_ELEMENT } from "../../messages/find-messages.ts";
import { type FindAnswer, type FindOrder, MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { View } from "../view/view.ts";

/** The document that is searched, and the way to the app. */
export interface FindHost {
  readonly document: Document;
  readonly tell: (answer: FindAnswer) => void;
  /** The element that had the focus when the person asked for it. */
  readonly from: Element | null;
  readonly view: View | null;
}

let viewRoot: ShadowRoot | null = null;
let current: Search | null = null;

/** Carries out the app's orders. */
export function find(host: FindHost, { id, act }: FindOrder): void {
  if (act.kind === "end" && host.from instanceof HTMLElement) host.from.focus({ preventScroll: true });
  if (act.kind === "search") {
    const from = current?.end() ?? 0;
    const search = new Search(host, id);
    current = search;
    viewRoot = host.view?.root ?? null;
    void Promise.resolve(host.view?.complete?.()).then(() => {
      if (search === current) return search.run(act.text, from);
    });
  } else if (current?.id !== id) return;
  else if (act.kind === "show") current.show(act.index);
  else if (act.kind === "end") {
    current.select();
    current.end();
    current = null;
  }
}

/** Milliseconds of a turn: what the person does must not wait. */
const TURN = 8;
/** Steps between two looks at the clock. */
const STEPS = 256;

/** A match, by the texts that it is in. */
type Match = readonly Range[];

/** One search in one document, and its marks. */
class Search {
  readonly id: number;
  readonly #host: FindHost;
  readonly #matches: Match[] = [];
  readonly #marks = new Map<Document, Marks>();
  #shown: Match | null = null;
  #isOver = false;
  /** Pixels below the top of the view, from where the first match is taken. */
  #from = 0;
  #until = 0;
  #steps = 0;

  constructor(host: FindHost, id: number) {
    this.#host = host;
    this.id = id;
  }

  /** @param from as `end` has given it, of the search before. */
  async run(text: string, from: number): Promise<void> {
    this.#from = from;
    this.#until = performance.now() + TURN;
    const matcher = new Matcher(text);
    const askFrame = (frame: Element) => this.#askFrame(frame);
    for (const piece of shownTexts(this.#host.document, askFrame)) {
      if (piece === "edge") matcher.break();
      else if (typeof piece === "object" && !(await this.#searchText(piece, matcher))) break;
      if (this.#matches.length >= MOST_MATCHES || (this.#isLate() && !(await this.#goOn()))) break;
    }
    if (!this.#isOver) this.#tell(true);
  }

  /** @returns whether to go on. */
  async #searchText(node: Text, matcher: Matcher): Promise<boolean> {
    const data = textOf(node);
    for (let at = 0; at < data.length; ) {
      const character = data[at + 1] !== undefined && isPair(data, at) ? data.slice(at, at + 2) : (data[at] ?? "");
      const found = matcher.add(character, node, at);
      at += character.length;
      if (found !== null) this.#add(found, at);
      if (this.#matches.length >= MOST_MATCHES) return true;
      if (this.#isLate() && !(await this.#goOn())) return false;
    }
    return true;
  }

  #add(places: readonly Place[], end: number): void {
    const match: Range[] = [];
    for (const [index, { node, at }] of places.entries()) {
      if (places[index - 1]?.node === node) continue;
      const isLast = places.at(-1)?.node === node;
      const range = new Range();
      try {
        range.setStart(node, at);
        range.setEnd(node, isLast ? end : textOf(node).length);
      } catch {
        // The page has changed the text meanwhile.
        return;
      }
      match.push(range);
    }
    this.#matches.push(match);
    for (const range of match) this.#marksOf(range)?.add(range);
  }

  #isLate(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS === 0 && performance.now() > this.#until;
  }

  /** In another turn. @returns false where nobody wants it any more. */
  async #goOn(): Promise<boolean> {
    this.#tell(false);
    await new Promise((resolve) => setTimeout(resolve));
    this.#until = performance.now() + TURN;
    return !this.#isOver;
  }

  #tell(isDone: boolean): void {
    const near = isDone ? this.#near() : 0;
    this.#say({ kind: "matches", count: this.#matches.length, near, isDone });
  }

  #say(told: FindAnswer["told"]): void {
    this.#host.tell({ tag: MESSAGE_TAG, type: "found", id: this.id, told });
  }

  /** The first match that is at or below where the person is. */
  #near(): number {
    const near = this.#matches.findIndex(([range]) => {
      const { bottom, width } = range?.getBoundingClientRect() ?? new DOMRect();
      return width > 0 && bottom > this.#from;
    });
    return Math.max(near, 0);
  }

  show(index: number): void {
    const match = this.#matches[index] ?? null;
    for (const marks of this.#marks.values()) marks.showCurrent([]);
    this.#shown = match;
    const [first] = match ?? [];
    if (match === null || first === undefined) return;
    reveal(first);
    for (const range of match) this.#marksOf(range)?.showCurrent(match);
    bringIntoView(first);
  }

  /** As browsers do when their own search ends; what the person types into keeps its place. */
  select(): void {
    const [range] = this.#shown ?? [];
    if (range === undefined) return;
    const document = documentOf(range.startContainer);
    const focused = activeElementOf(document);
    if (focused === null || localNameOf(focused) === "body") selectRange(range);
  }

  /** Takes the marks away. @returns pixels below the top of the view at which the person was. */
  end(): number {
    this.#isOver = true;
    for (const marks of this.#marks.values()) marks.clear();
    return this.#shown?.[0]?.getBoundingClientRect().top ?? 0;
  }

  /** Null where the browser has no highlights. */
  #marksOf(range: Range): Marks | null {
    const document = documentOf(range.startContainer);
    const window = windowOf(document);
    if (window === null || window.CSS.highlights === undefined) return null;
    const marks = this.#marks.get(document) ?? new Marks(window);
    this.#marks.set(document, marks);
    return marks;
  }

  /** The app finds frames by their windows: those in shadow trees are in no list. */
  #askFrame(frame: Element): void {
    const order: FindOrder = { tag: MESSAGE_TAG, type: "find", id: this.id, act: { kind: "join" } };
    contentWindowOf(frame)?.postMessage(order, "*");
  }
}

interface Place {
  readonly node: Text;
  /** In UTF-16 units. */
  readonly at: number;
}

/**
 * Takes a text character by character, and says where the one searched for ends: in steps that are linear in both (Knuth,
 * Morris and Pratt), and without matches that overlap.
 */
export class Matcher {
  readonly #text: string;
  /** For each place in the text: how much of its start has come again before it. */
  readonly #again: number[] = [0];
  /** How much of the text has come. */
  #come = 0;
  /** Where its characters have come last, in a ring. */
  readonly #places: Place[] = [];
  #count = 0;
  #wasSpace = true;

  constructor(text: string) {
    this.#text = text;
    for (let at = 1, come = 0; at < text.length; at += 1) {
      while (come > 0 && text[at] !== text[come]) come = this.#again[come - 1] ?? 0;
      if (text[at] === text[come]) come += 1;
      this.#again[at] = come;
    }
  }

  /** Nothing goes across here. */
  break(): void {
    this.#come = 0;
    this.#wasSpace = true;
  }

  /** @returns the places of the match that ends with the character. */
  add(character: string, node: Text, at: number): readonly Place[] | null {
    const folded = foldCharacter(character);
    // Browsers show one space for several.
    if (folded === " " && this.#wasSpace) return null;
    if (folded !== "") this.#wasSpace = folded === " ";
    let found: readonly Place[] | null = null;
    for (let index = 0; index < folded.length; index += 1)
      if (this.#step(folded[index] ?? "", { node, at })) found = this.#matched();
    return found;
  }

  #step(unit: string, place: Place): boolean {
    const text = this.#text;
    if (text.length === 0) return false;
    this.#places[this.#count % text.length] = place;
    this.#count += 1;
    while (this.#come > 0 && unit !== text[this.#come]) this.#come = this.#again[this.#come - 1] ?? 0;
    if (unit === text[this.#come]) this.#come += 1;
    return this.#come === text.length;
  }

  #matched(): readonly Place[] {
    const length = this.#text.length;
    this.#come = 0;
    return Array.from({ length }, (_, index) => this.#places[(this.#count + index) % length]).filter(
      (place) => place !== undefined,
    );
  }
}

function isPair(data: string, at: number): boolean {
  const [high, low] = [data.charCodeAt(at), data.charCodeAt(at + 1)];
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

// Elements of a page stand in the way of whatever has their name: with `<input name=firstChild>` a form's `firstChild` is
// that field (DOM clobbering). So the platform's own accessors are called.

function reader<Value>(owner: object, name: string): (self: object) => Value {
  const get = Object.getOwnPropertyDescriptor(owner, name)?.get;
  return (self) => (get === undefined ? undefined : Reflect.apply(get, self, [])) as Value;
}

const firstChildOf = reader<ChildNode | null>(Node.prototype, "firstChild");
const nextSiblingOf = reader<ChildNode | null>(Node.prototype, "nextSibling");
const parentOf = reader<ParentNode | null>(Node.prototype, "parentNode");
const nodeTypeOf = reader<number>(Node.prototype, "nodeType");
const ownerOf = reader<Document | null>(Node.prototype, "ownerDocument");
const isConnected = reader<boolean>(Node.prototype, "isConnected");
const textOf = reader<string>(CharacterData.prototype, "data");
const localNameOf = reader<string>(Element.prototype, "localName");
const openRootOf = reader<ShadowRoot | null>(Element.prototype, "shadowRoot");
const assignedSlotOf = reader<Element | null>(Element.prototype, "assignedSlot");
const rootElementOf = reader<Element | null>(Document.prototype, "documentElement");
const windowOf = reader<(Window & typeof globalThis) | null>(Document.prototype, "defaultView");
const activeElementOf = reader<Element | null>(Document.prototype, "activeElement");
const addressOf = reader<string>(Document.prototype, "URL");
const { getAttribute, hasAttribute, removeAttribute, setAttribute } = Element.prototype;
const { getRootNode } = Node.prototype;

const documentOf = (node: Node): Document => ownerOf(node) ?? (node as Document);

const isFrame = (element: Element): boolean => /^i?frame$/.test(localNameOf(element));

function ofFrame<Value>(frame: Element, name: "contentWindow" | "contentDocument"): Value | null {
  const { prototype } = localNameOf(frame) === "frame" ? HTMLFrameElement : HTMLIFrameElement;
  try {
    return reader<Value | null>(prototype, name)(frame);
  } catch {
    // An element of another namespace.
    return null;
  }
}

const contentWindowOf = (frame: Element) => ofFrame<Window>(frame, "contentWindow");

/** Its text is not shown, or only as a whole that is no text of the page. */
const SILENT = new Set(
  "audio canvas datalist defs desc embed head iframe frame img input meta metadata object option script select style symbol template textarea title video".split(
    " ",
  ),
);
const INLINE = /^(?:inline|contents|ruby(?:-base|-text)?)$/;

/** A text, an edge that no text goes across, or nothing that counts. */
type Piece = Text | "edge" | "nothing";

/**
 * The texts that are shown, in the order of the flat tree; those in what the person can open (`details`, `until-found`), too.
 *
 * @param askFrame is given the frames in shadow trees that look after themselves.
 */
function* shownTexts(document: Document, askFrame: (frame: Element) => void): Generator<Piece> {
  const root = document.querySelector(READER_ELEMENT) ?? rootElementOf(document);
  const waiting: (Element | Text | "edge")[] = root === null ? [] : [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === "edge" || TEXTUAL.has(nodeTypeOf(next))) {
      yield next as Text | "edge";
      continue;
    }
    const element = next as Element;
    const name = localNameOf(element);
    yield isFrame(element) ? "edge" : "nothing";
    if (isFrame(element)) yield* textsInFrame(element, askFrame);
    if (SILENT.has(name) || hasAttribute.call(element, "inert")) {
      if (!/^(?:script|style|template|meta)$/.test(name)) yield "edge";
      continue;
    }
    const style = getComputedStyle(element);
    if (style.display === "none" || style.display === "" || isSkipped(element, style)) continue;
    const isBlock = name === "br" || !INLINE.test(style.display);
    if (isBlock) {
      yield "edge";
      waiting.push("edge");
    }
    const isSeen = style.visibility === "visible";
    const children = shownChildren(element).filter((child) => isSeen || !TEXTUAL.has(nodeTypeOf(child)));
    for (const child of children.reverse()) waiting.push(child);
  }
}

/** Whether the browser leaves out what is in it, for good. */
function isSkipped(element: Element, style: CSSStyleDeclaration): boolean {
  return style.contentVisibility === "hidden" && !isUntilFound(element);
}

function isUntilFound(element: Element): boolean {
  return getAttribute.call(element, "hidden")?.toLowerCase() === "until-found";
}

/** A CDATA section is a text, too (DOM section 4.12). */
const TEXTUAL: ReadonlySet<number> = new Set([Node.TEXT_NODE, Node.CDATA_SECTION_NODE]);

function shownChildren(element: Element): (Element | Text)[] {
  const assigned = localNameOf(element) === "slot" ? (element as HTMLSlotElement).assignedNodes() : [];
  const children: Node[] = [...assigned];
  if (children.length === 0)
    for (let child = firstChildOf(shadowRootOf(element) ?? element); child !== null; child = nextSiblingOf(child))
      children.push(child);
  return children.filter((node): node is Element | Text => TEXTUAL.has(nodeTypeOf(node)) || nodeTypeOf(node) === 1);
}

/** A blank or `srcdoc` document is searched with the one around it. */
function* textsInFrame(frame: Element, askFrame: (frame: Element) => void): Generator<Piece> {
  const inside = ofFrame<Document>(frame, "contentDocument");
  if (inside !== null && addressOf(inside).startsWith("about:")) yield* shownTexts(inside, askFrame);
  else if (nodeTypeOf(getRootNode.call(frame)) === Node.DOCUMENT_FRAGMENT_NODE) askFrame(frame);
}

const ALL = "ropeway-found";
const CURRENT = "ropeway-found-here";
const STYLE = `::highlight(${ALL}){background-color:#ffd84d;color:#000}::highlight(${CURRENT}){background-color:#ff8f3f;color:#000}`;

type Styled = Document | ShadowRoot;

/** The highlights of a document. They change nothing in it. */
class Marks {
  readonly #window: Window & typeof globalThis;
  readonly #all: Highlight;
  readonly #current: Highlight;
  readonly #sheet: CSSStyleSheet;
  readonly #styled = new Set<Styled>();

  constructor(window: Window & typeof globalThis) {
    this.#window = window;
    this.#all = new window.Highlight();
    this.#current = new window.Highlight();
    this.#current.priority = 1;
    this.#sheet = new window.CSSStyleSheet();
    this.#sheet.replaceSync(STYLE);
    window.CSS.highlights.set(ALL, this.#all);
    window.CSS.highlights.set(CURRENT, this.#current);
  }

  add(range: Range): void {
    this.#all.add(range);
    const root = getRootNode.call(range.startContainer) as Styled;
    if (this.#styled.has(root)) return;
    this.#styled.add(root);
    changeSheets(root, (sheets) => [...sheets, this.#sheet]);
  }

  showCurrent(match: Match): void {
    this.#current.clear();
    for (const range of match) this.#current.add(range);
  }

  clear(): void {
    const { highlights } = this.#window.CSS;
    if (highlights.get(ALL) === this.#all) for (const name of [ALL, CURRENT]) highlights.delete(name);
    for (const root of this.#styled) changeSheets(root, (sheets) => sheets.filter((sheet) => sheet !== this.#sheet));
  }
}

function changeSheets(root: Styled, change: (sheets: readonly CSSStyleSheet[]) => CSSStyleSheet[]): void {
  const { prototype } = nodeTypeOf(root) === Node.DOCUMENT_NODE ? Document : ShadowRoot;
  const { get, set } = Object.getOwnPropertyDescriptor(prototype, "adoptedStyleSheets") ?? {};
  if (get && set) Reflect.apply(set, root, [change(Reflect.apply(get, root, []) as CSSStyleSheet[])]);
}

/** The elements around the node in the flat tree, the nearest first. */
function* around(node: Node): Generator<Element> {
  for (let each: Node | null = node; each !== null; ) {
    const slot: Element | null = nodeTypeOf(each) === Node.ELEMENT_NODE ? assignedSlotOf(each) : null;
    each = slot ?? parentOf(each) ?? hostOf(each);
    if (each !== null && nodeTypeOf(each) === Node.ELEMENT_NODE) yield each as Element;
  }
}

const hostOfShadow = reader<Element>(ShadowRoot.prototype, "host");

function shadowRootOf(element: Element): ShadowRoot | null {
  return viewRoot !== null && hostOfShadow(viewRoot) === element ? viewRoot : openRootOf(element);
}

/** Of a shadow root. */
function hostOf(node: Node): Element | null {
  return nodeTypeOf(node) === Node.DOCUMENT_FRAGMENT_NODE ? hostOfShadow(node) : null;
}

/** Opens what the person could open (HTML section 6.6.2, "ancestor revealing algorithm"). */
function reveal(range: Range): void {
  for (const element of [...around(range.startContainer)]) {
    if (isUntilFound(element)) {
      element.dispatchEvent(new Event("beforematch", { bubbles: true }));
      removeAttribute.call(element, "hidden");
    }
    if (localNameOf(element) === "details" && !isInSummary(range, element)) setAttribute.call(element, "open", "");
  }
}

function isInSummary(range: Range, details: Element): boolean {
  const elements = [...around(range.startContainer)];
  const inside = elements[elements.indexOf(details) - 1];
  return inside !== undefined && localNameOf(inside) === "summary";
}

function selectRange(range: Range): void {
  const selection = windowOf(documentOf(range.startContainer))?.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

/** Without highlights it is selected. */
function bringIntoView(range: Range): void {
  if (!isConnected(range.startContainer)) return;
  const document = documentOf(range.startContainer);
  const window = windowOf(document);
  const [parent] = around(range.startContainer);
  if (window === null || parent === undefined) return;
  if (window.CSS.highlights === undefined) selectRange(range);
  const boxes = [...around(range.startContainer)].filter(isScrolled);
  const isSeen = boxes.every((box) => isWithin(range, box.getBoundingClientRect()));
  const view = new DOMRect(0, 0, window.innerWidth, window.innerHeight);
  // Whether a frame is in view, the documents around it know.
  const isPage = [window, window.top].includes(window.parent);
  if (isSeen && isWithin(range, view) && isPage) return;
  parent.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  // The parent may be larger than the view.
  for (const box of boxes) scrollTo(box, range, box.getBoundingClientRect());
  scrollTo(window, range, view);
}

function isScrolled(element: Element): boolean {
  const { scrollHeight, clientHeight, scrollWidth, clientWidth } = element;
  if (scrollHeight <= clientHeight && scrollWidth <= clientWidth) return false;
  const { overflowX, overflowY } = getComputedStyle(element);
  return /auto|scroll/.test(`${overflowX} ${overflowY}`) && parentOf(element) !== documentOf(element);
}

function isWithin(range: Range, { left, right, top, bottom }: DOMRect): boolean {
  const box = range.getBoundingClientRect();
  return box.top >= top && box.bottom <= bottom && box.left >= left && box.right <= right;
}

/** @param view of it, in the window's own pixels. */
function scrollTo(scrolled: Element | Window, range: Range, view: DOMRect): void {
  if (isWithin(range, view)) return;
  const box = range.getBoundingClientRect();
  const top = box.top < view.top || box.bottom > view.bottom ? box.top - (view.top + view.height / 2) : 0;
  const left = box.left < view.left || box.right > view.right ? box.left - (view.left + view.width / 3) : 0;
  scrolled.scrollBy({ left, top, behavior: "instant" });
}
