/**
 * A search in the page that is shown. The app knows all windows of the page, and asks each; it believes a document what that
 * says of its own matches, and nothing else. Matches follow each other frame by frame, as in browsers.
 */
import { foldText, MOST_MATCHES } from "../../../messages/find-messages.ts";
import { type FindAnswer, type FindOrder, MESSAGE_TAG } from "../../../messages/page-messages.ts";

/** Frames of a page that are searched. */
const MOST_FRAMES = 500;

/** Milliseconds after which a page that has not answered is taken for one that cannot. */
const ANSWER_TIME = 3_000;

export interface Found {
  /** Of all documents; `MOST_MATCHES` stands for that many or more. */
  readonly count: number;
  /** From 1; 0 for none. */
  readonly at: number;
  /** "silent": the page was loaded before the app could search it. */
  readonly phase: "idle" | "searching" | "done" | "silent";
}

interface SearchedDocument {
  count: number;
  near: number;
  isDone: boolean;
  readonly order: (act: FindOrder["act"]) => void;
}

export interface PageSearchOptions {
  /** Of the page. */
  readonly page: Window;
  /** The page's document, where it is of the app's own origin and has no page script. @param tell takes its answers. */
  readonly own: ((order: FindOrder, tell: (answer: FindAnswer) => void) => void) | null;
  /** Of the script with which documents search themselves. */
  readonly script: () => Promise<string>;
  readonly onChange: (found: Found) => void;
}

/** The part of a `MessageEvent` that counts. */
export type Told = Pick<MessageEvent, "data" | "origin" | "source">;

let lastId = 0;

export class PageSearch {
  readonly #options: PageSearchOptions;
  #id = 0;
  #text = "";
  #documents = new Map<Window, SearchedDocument>();
  /** Of the documents that have marks: how to end the last search that each was sent, which may be one before this. */
  readonly #marked = new Map<Window, SearchedDocument["order"]>();
  #at: { readonly window: Window; readonly index: number } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSilent = false;

  constructor(options: PageSearchOptions) {
    this.#options = options;
  }

  /** Begins anew; an empty text ends what is there. */
  search(text: string): void {
    const formerId = this.#id;
    this.#text = foldText(text);
    this.#id = lastId += 1;
    this.#documents = new Map();
    this.#at = null;
    this.#isSilent = false;
    clearTimeout(this.#timer);
    if (this.#text === "") {
      this.#takeMarks();
      return this.#change();
    }
    // Documents that are there still hear of the next search, and end this one by that.
    const { page, own } = this.#options;
    if (own !== null) this.#join(page, (order) => own(order, (answer) => this.#take(page, answer)));
    else for (const each of windowsIn(page)) each.postMessage(orderOf(this.#id, { kind: "join" }), "*");
    this.#timer = setTimeout(() => {
      this.#isSilent = !this.#documents.has(page);
      this.#change();
    }, ANSWER_TIME);
    if (formerId !== 0) return;
    this.#change();
  }

  /** To the next match, or the one before. */
  step(by: 1 | -1): void {
    const all = this.#inOrder();
    const counts = all.map(([, { count }]) => count);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return;
    let place = (this.#place() - 1 + by + total) % total;
    for (const [index, [window]] of all.entries()) {
      const count = counts[index] ?? 0;
      if (place < count) return this.#show(window, place);
      place -= count;
    }
  }

  /** Takes all marks away; the match that the person is at stays selected. */
  end(): void {
    clearTimeout(this.#timer);
    this.#takeMarks();
    this.#documents = new Map();
    this.#id = 0;
  }

  #takeMarks(): void {
    for (const order of this.#marked.values()) order({ kind: "end" });
    this.#marked.clear();
  }

  /** A message to the app. Windows of other pages, and documents that are no page's, have no part in this. */
  hear({ data, origin, source }: Told): void {
    const answer = data as FindAnswer | null;
    if (answer?.tag !== MESSAGE_TAG || answer.type !== "found" || answer.id !== this.#id) return;
    const speaker = source as Window | null;
    if (speaker === null || origin === "null" || this.#options.own !== null) return;
    if (answer.told.kind !== "there") return this.#take(speaker, answer);
    if (this.#documents.size >= MOST_FRAMES || this.#documents.has(speaker) || !isIn(speaker, this.#options.page))
      return;
    this.#join(speaker, (order) => speaker.postMessage(order, origin));
  }

  #join(window: Window, send: (order: FindOrder) => void): void {
    const [id, text] = [this.#id, this.#text];
    const order = (act: FindOrder["act"]) => send(orderOf(id, act));
    this.#documents.set(window, { count: 0, near: 0, isDone: false, order });
    void this.#options.script().then((script) => {
      if (id !== this.#id) return;
      order({ kind: "search", script, text });
      this.#marked.set(window, order);
    });
  }

  #take(window: Window, { id, told }: FindAnswer): void {
    const document = this.#documents.get(window);
    if (document === undefined || id !== this.#id || told.kind !== "matches") return;
    document.count = wholeUpTo(told.count, MOST_MATCHES);
    document.near = wholeUpTo(told.near, document.count - 1);
    document.isDone = told.isDone === true;
    if (this.#at === null) this.#showFirst();
    this.#change();
  }

  /** Once nothing before it can have any more. */
  #showFirst(): void {
    if (!this.#documents.has(this.#options.page)) return;
    for (const [window, { count, near, isDone }] of this.#inOrder()) {
      if (!isDone) return;
      if (count > 0) return this.#show(window, near);
    }
  }

  #show(window: Window, index: number): void {
    const former = this.#at?.window;
    if (former !== undefined && former !== window) this.#documents.get(former)?.order({ kind: "show", index: -1 });
    this.#at = { window, index };
    this.#documents.get(window)?.order({ kind: "show", index });
    this.#change();
  }

  /** As of the tree of frames. */
  #inOrder(): readonly (readonly [Window, SearchedDocument])[] {
    const inTree = windowsIn(this.#options.page);
    const others = [...this.#documents.keys()].filter((each) => !inTree.includes(each));
    return [...inTree, ...others].flatMap((window) => {
      const document = this.#documents.get(window);
      return document === undefined ? [] : [[window, document] as const];
    });
  }

  /** From 1, of the match that the person is at; 0 for none. */
  #place(): number {
    let before = 0;
    for (const [window, { count }] of this.#inOrder()) {
      if (window === this.#at?.window) return before + this.#at.index + 1;
      before += count;
    }
    return 0;
  }

  #change(): void {
    const all = [...this.#documents.values()];
    const count = all.reduce((sum, each) => sum + each.count, 0);
    const isDone = all.length > 0 && all.every((each) => each.isDone);
    const phase = this.#text === "" ? "idle" : this.#isSilent ? "silent" : isDone ? "done" : "searching";
    this.#options.onChange({ count: Math.min(count, MOST_MATCHES), at: this.#place(), phase });
  }
}

function orderOf(id: number, act: FindOrder["act"]): FindOrder {
  return { tag: MESSAGE_TAG, type: "find", id, act };
}

/** A page may say anything. */
function wholeUpTo(value: unknown, most: number): number {
  return Number.isInteger(value) ? Math.max(0, Math.min(value as number, most)) : 0;
}

/** The window and those of its frames, however deep, but for those in shadow trees. */
function windowsIn(page: Window): readonly Window[] {
  const found: Window[] = [];
  const waiting = [page];
  for (let next = waiting.pop(); next !== undefined && found.length < MOST_FRAMES; next = waiting.pop()) {
    found.push(next);
    const frames = Array.from({ length: Math.min(next.length, MOST_FRAMES) }, (_, index) => next?.[index]);
    waiting.push(...frames.reverse().filter((each) => each !== undefined));
  }
  return found;
}

/** Whether the window is the page's, or in it. One that is in no frame is its own parent. */
function isIn(window: Window, page: Window): boolean {
  let each = window;
  while (each !== page && each !== each.parent) each = each.parent;
  return each === page;
}
