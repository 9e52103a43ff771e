/** XML that nothing says how to show, as a tree of its elements. */
import { element, type Row, type Rows } from "./tree.ts";

/** Characters of a text that stands beside its element's tags. */
const SHORT_TEXT = 120;

/** Nodes that are looked at between two looks at the clock. */
const NODES = 100;

export function xmlRows(nodes: Iterable<Node>): Rows {
  return function* () {
    let count = 0;
    for (const node of nodes) {
      count += 1;
      const row = rowOf(node);
      if (row !== null) yield row;
      else if (count % NODES === 0) yield;
    }
    return undefined;
  };
}

/** Null for nodes that nobody sees. */
function rowOf(node: Node): Row | null {
  const text = node.nodeValue?.trim() ?? "";
  switch (node.nodeType) {
    case Node.ELEMENT_NODE:
      return elementRow(node as Element);
    case Node.TEXT_NODE:
      return text === "" ? null : { content: [element("span", "text", text)] };
    case Node.CDATA_SECTION_NODE:
      return { content: [element("span", "note", `<![CDATA[${node.nodeValue ?? ""}]]>`)] };
    case Node.COMMENT_NODE:
      return { content: [element("span", "note", `<!--${node.nodeValue ?? ""}-->`)] };
    case Node.PROCESSING_INSTRUCTION_NODE:
      return { content: [element("span", "note", `<?${node.nodeName} ${node.nodeValue ?? ""}?>`)] };
    default:
      return null;
  }
}

function elementRow(node: Element): Row {
  const attributes = Array.from(node.attributes, ({ name, value }) => [
    element("span", "key", ` ${name}`),
    "=",
    element("bdi", "string", `"${value}"`),
  ]).flat();
  const tag = (end: string) => [
    element("span", "tag", `<${node.nodeName}`),
    ...attributes,
    element("span", "tag", end),
  ];
  const { firstChild } = node;
  if (firstChild === null) return { content: tag("/>") };
  const end = `</${node.nodeName}>`;
  const text = firstChild.nextSibling === null && firstChild.nodeType === Node.TEXT_NODE ? firstChild.nodeValue : null;
  if (text !== null && text.length <= SHORT_TEXT)
    return { content: [...tag(">"), element("bdi", "text", text.trim()), element("span", "tag", end)] };
  return { content: tag(">"), preview: `…${end}`, end, children: xmlRows(siblings(firstChild)) };
}

function* siblings(first: Node): Generator<Node> {
  for (let each: Node | null = first; each !== null; each = each.nextSibling) yield each;
}
