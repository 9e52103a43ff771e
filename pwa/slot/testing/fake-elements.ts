/** Nodes of a document, as far as the views of feeds and XML and the reader read and make them. Node has none of its own. */

const XML = "http://www.w3.org/XML/1998/namespace";

export class FakeNode {
  static readonly ELEMENT_NODE = 1;
  static readonly TEXT_NODE = 3;
  static readonly CDATA_SECTION_NODE = 4;
  static readonly COMMENT_NODE = 8;
  static readonly PROCESSING_INSTRUCTION_NODE = 7;

  readonly nodeType: number = FakeNode.TEXT_NODE;
  readonly nodeValue: string | null;
  parentElement: FakeElement | null = null;
  nextSibling: FakeNode | null = null;

  constructor(nodeValue: string | null) {
    this.nodeValue = nodeValue;
  }

  get textContent(): string {
    return this.nodeValue ?? "";
  }
}

type Attributes = Readonly<Record<string, string>>;

export class FakeElement extends FakeNode {
  override readonly nodeType = FakeNode.ELEMENT_NODE;
  readonly namespaceURI: string | null = null;
  readonly ownerDocument = { baseURI: "https://a.example/" };
  readonly localName: string;
  readonly childNodes: FakeNode[] = [];
  readonly #attributes: Map<string, string>;

  constructor(localName: string, attributes: Attributes = {}, children: readonly (FakeNode | string)[] = []) {
    super(null);
    this.localName = localName;
    this.#attributes = new Map(Object.entries(attributes));
    this.append(...children);
  }

  get nodeName(): string {
    return this.localName;
  }

  get attributes(): readonly { readonly name: string; readonly value: string }[] {
    return Array.from(this.#attributes, ([name, value]) => ({ name, value }));
  }

  get children(): readonly FakeElement[] {
    return this.childNodes.filter((node) => node instanceof FakeElement);
  }

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  override get textContent(): string {
    return this.childNodes.map((node) => node.textContent).join("");
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  getAttributeNS(namespace: string, name: string): string | null {
    return this.getAttribute(namespace === XML ? `xml:${name}` : name);
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }

  setAttribute(name: string, value: string): void {
    this.#attributes.set(name, value);
  }

  hasChildNodes(): boolean {
    return this.childNodes.length > 0;
  }

  addEventListener(): void {}

  append(...children: readonly (FakeNode | string)[]): void {
    for (const child of children) this.appendChild(typeof child === "string" ? new FakeNode(child) : child);
  }

  appendChild(node: FakeNode): void {
    const last = this.childNodes.at(-1);
    if (last !== undefined) last.nextSibling = node;
    node.parentElement = this;
    this.childNodes.push(node);
  }

  replaceChildren(): void {
    this.childNodes.length = 0;
  }
}

/** What makes them. */
export const fakeDocument = {
  createElement: (name: string) => new FakeElement(name),
  createElementNS: (_: string, name: string) => new FakeElement(name),
  createTextNode: (text: string) => new FakeNode(text),
};
