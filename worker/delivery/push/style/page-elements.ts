/** The elements that a document's markup has, as far as style sheets ask about them. Read as it streams by. */

/** Count: later ones are seldom unlike those before. */
const ELEMENTS = 4_000;
/** Characters of one element's own text: what follows is in the same fonts. */
const TEXT = 2_000;

/** What may stand in a head. The first other element begins the body. */
export const OF_HEAD: ReadonlySet<string> = new Set(
  "base head html link meta noscript script style template title".split(" "),
);

/** Types of `<input>` whose values nobody sees. By the fonts that they ask for, style sheets would learn of them. */
const UNREADABLE = /^(?:checkbox|color|file|hidden|image|password|radio|range)$/i;
/** Their text is no text of the page. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set("canvas iframe object script style title video".split(" "));

export interface PageElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly classes: ReadonlySet<string>;
  readonly parent: PageElement | null;
  /** The element before it, of the same parent. */
  readonly previous: PageElement | null;
  /** Of its own, not of elements in it. */
  readonly text: string;
}

/** One that is being read. */
interface OpenElement extends PageElement {
  text: string;
  last: PageElement | null;
}

export class PageElements {
  readonly #all: OpenElement[] = [];
  readonly #open: OpenElement[] = [];
  #root: OpenElement | null = null;
  #body: OpenElement | null = null;

  /** In the order of the document: parents before what is in them. */
  get all(): readonly PageElement[] {
    return this.#all;
  }

  open(name: string, attributes: PageElement["attributes"]): void {
    if (name === "html") this.#open.push(this.#rootWith(attributes));
    else if (name === "body") this.#open.push(this.#bodyWith(attributes));
    else this.#open.push(this.#add(name, attributes, this.#parentFor(name)));
    const { value, placeholder, type = "" } = attributes;
    if (name === "input" && !UNREADABLE.test(type)) this.text(value || placeholder || "");
  }

  text(text: string): void {
    if (text.trim() === "") return;
    const element = this.#parentFor("");
    if (WITHOUT_TEXT.has(element.name) || element.text.length > TEXT) return;
    element.text += text.slice(0, TEXT);
  }

  close(): void {
    this.#open.pop();
  }

  #parentFor(name: string): OpenElement {
    const parent = this.#open.at(-1);
    if (parent !== undefined && parent !== this.#root) return parent;
    return OF_HEAD.has(name) ? this.#rootWith({}) : this.#bodyWith({});
  }

  #rootWith(attributes: PageElement["attributes"]): OpenElement {
    this.#root ??= this.#add("html", attributes, null);
    return this.#root;
  }

  #bodyWith(attributes: PageElement["attributes"]): OpenElement {
    this.#body ??= this.#add("body", attributes, this.#rootWith({}));
    return this.#body;
  }

  #add(name: string, attributes: PageElement["attributes"], parent: OpenElement | null): OpenElement {
    const classes = new Set(attributes.class?.split(/[\t\n\f\r ]+/).filter(Boolean));
    const element = { name, attributes, classes, parent, previous: parent?.last ?? null, text: "", last: null };
    // No element remembers a later one: it goes as soon as it is closed.
    if (this.#all.length >= ELEMENTS) return element;
    if (parent !== null) parent.last = element;
    this.#all.push(element);
    return element;
  }
}
