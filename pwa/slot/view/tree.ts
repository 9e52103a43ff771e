/** Trees that may be large: a node's children are made when it is opened, some at a time, and no turn takes long. */

import { t } from "../words.ts";

/** Milliseconds of a turn: a finger that scrolls is not felt to stop. */
const TURN = 12;

/** Does work to its end that stops now and then, in turns between which the page lives on. */
export async function inTurns<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let until = performance.now() + TURN;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => setTimeout(resolve));
    until = performance.now() + TURN;
  }
}

/** Children that are made at once. A tap on "Show more" makes as many again. */
const AT_ONCE = 100;

/** Rows that are there without a tap: some screens full. */
const ROWS_AT_FIRST = 200;

type Content = string | Node;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  // An XML document makes elements of no namespace.
  const made = document.createElementNS("http://www.w3.org/1999/xhtml", name) as HTMLElementTagNameMap[Name];
  if (className !== "") made.className = className;
  made.append(...content);
  return made;
}

export function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = element("button", "", text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

interface Leaf {
  readonly content: readonly Content[];
}

/** A row that opens. */
interface Branch extends Leaf {
  /** Shown while it is closed. */
  readonly preview: string;
  /** Stands below its children. */
  readonly end: string;
  readonly children: Rows;
}

export type Row = Leaf | Branch;

/** Rows one after another, each made when it is needed. */
export type Rows = () => Generator<Row | undefined, undefined>;

/** A list that shows `rows`, and more of them when asked to. */
export async function showRows(list: HTMLElement, rows: Rows): Promise<void> {
  const budget = { left: ROWS_AT_FIRST };
  await addRows(list, rows(), budget);
}

interface Budget {
  left: number;
}

async function addRows(list: HTMLElement, rows: Generator<Row | undefined, undefined>, budget: Budget): Promise<void> {
  const made = await inTurns(take(rows));
  for (const row of made) {
    budget.left -= 1;
    const item = element("li", "");
    list.append(item);
    if ("children" in row) await addNode(item, row, budget);
    else item.append(...row.content);
  }
  if (made.length < AT_ONCE) return;
  const more = element("li", "");
  more.append(
    button(t("Show more"), () => {
      more.remove();
      void addRows(list, rows, { left: 0 });
    }),
  );
  list.append(more);
}

function* take(rows: Generator<Row | undefined, undefined>): Generator<undefined, Row[]> {
  const taken: Row[] = [];
  while (taken.length < AT_ONCE) {
    const { value, done } = rows.next();
    if (done === true) break;
    if (value !== undefined) taken.push(value);
    yield;
  }
  return taken;
}

async function addNode(item: HTMLElement, row: Branch, budget: Budget): Promise<void> {
  const list = element("ul", "");
  const node = element(
    "details",
    "",
    element("summary", "", ...row.content, element("span", "closed", row.preview)),
    list,
  );
  item.append(node, element("span", "end", row.end));
  if (budget.left > 0) {
    node.open = true;
    await addRows(list, row.children(), budget);
    return;
  }
  const fill = () => void addRows(list, row.children(), { left: 0 });
  node.addEventListener("toggle", fill, { once: true });
}
