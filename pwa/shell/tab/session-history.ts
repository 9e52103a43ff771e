import { ADDRESS_KEY, type KeptField, MOST_TYPED, type ScrollPosition } from "../../messages/page-messages.ts";

/** An entry, as it outlives the app. */
export interface KeptEntry {
  /** Real; "" for the start page. */
  readonly url: string;
  /** The page came by a GET: to open it again sends nothing twice. */
  readonly isRepeatable: boolean;
  readonly scroll: ScrollPosition;
  /** Fields that the person has changed. */
  readonly fields?: readonly KeptField[] | undefined;
  /** The way forward leads to it. */
  readonly isAhead?: true | undefined;
  /** The person has had pages forgotten that this names. The tab is open, so the entry stays, but it is not written down. */
  readonly forgottenBy?: ((url: string) => boolean) | undefined;
}

/** So many entries are kept before the one shown, and so many after it: a browser's own list is as long. */
const KEPT = 50;
/** Entries that a list has: a page can claim any number. */
const MOST = 2 * KEPT;
/** Begins the key of an entry that the browser's list does not have. */
const STEPPED = "stepped ";
const TOP: ScrollPosition = { x: 0, y: 0 };
/** The start page. */
export const START: KeptEntry = { url: "", isRepeatable: true, scroll: TOP, fields: undefined };

/**
 * The session history of the page's frame, as far as the shell has seen it, and what is kept of it for when the app is
 * opened again. The browser's own list is gone then: entries of before are rebuilt as start documents, each of which the
 * shell replaces by its page when it is come to.
 */
export class SessionHistory {
  readonly #onChange: (entries: readonly KeptEntry[]) => void;
  #list = EMPTY_HISTORY;
  /** Indices of the entries that the browser's own list leads to from the one shown: between others lie other tabs' entries. */
  #reach = { from: 0, to: 0 };
  /** Entries that the frame has added to the browser's list. */
  #added = 0;
  readonly #entries = new Map<string, KeptEntry>();
  /** Keys of entries from before the app was closed. At each of them the frame has a start document. */
  readonly #closed = new Set<string>();
  /**
   * Keys of pages that took the place of such an entry. Chromium (156) does not scroll them back to where they were, nor
   * fills in their fields.
   */
  readonly #placed = new Set<string>();
  /** Key of the placed page that the frame has come to, until that page is told its scroll position and fields. */
  #left: string | null = null;
  /** Key of the entry of `#closed` whose page is on its way. */
  #reopened: string | null = null;
  /** Keys that `step` has given. */
  #stepped = 0;

  /** Key of the page shown, if the person has had it forgotten: news of its document does not have it written down again. */
  #forgotten: string | null = null;
  /** The entries of before, until the frame is there to have them. */
  #resumed: readonly KeptEntry[] | null = null;
  readonly #onRestore: (entry: KeptEntry) => void;

  /**
   * @param onChange hears the entries: those up to the one shown, and those ahead.
   * @param onRestore the page of this entry is shown, and the browser does not bring it back to how it was left.
   */
  constructor(onChange: (entries: readonly KeptEntry[]) => void, onRestore: (entry: KeptEntry) => void) {
    this.#onChange = onChange;
    this.#onRestore = onRestore;
  }

  get canGoBack(): boolean {
    return canGoBack(this.#list);
  }

  get canGoForward(): boolean {
    return canGoForward(this.#list);
  }

  /** Steps back from the page shown to the first. */
  get depth(): number {
    return Math.max(0, this.#list.index);
  }

  /** Grows with each entry that the frame adds to the browser's own list. */
  get added(): number {
    return this.#added;
  }

  /** Whether the browser's own list leads so many entries on, or back. */
  leadsTo(delta: number): boolean {
    const at = this.#list.index + delta;
    return at >= this.#reach.from && at <= this.#reach.to;
  }

  /** Whether there is such an entry. @param delta by a page's word, perhaps. */
  has(delta: number): boolean {
    return Number.isInteger(delta) && delta !== 0 && this.#list.keys[this.#list.index + delta] !== undefined;
  }

  /** Another tab's entries, or one of the app's, lie in the browser's list before the one shown now, and nothing after it. */
  anchor(): void {
    const { index } = this.#list;
    this.#reach = { from: index, to: index };
  }

  /** What lay ahead in the browser's list is cut: another tab's entry comes in its place. */
  cut(): void {
    this.#reach = { ...this.#reach, to: this.#list.index };
  }

  /**
   * Goes so many entries on, or back, without the browser's list: the page is to take the place of the one shown. To what a
   * form has led to it does not go, but past it.
   *
   * @param delta by a page's word, perhaps.
   * @returns null where there is none.
   */
  step(delta: number): KeptEntry | null {
    if (!this.has(delta)) return null;
    const { keys, index } = this.#list;
    const former = keys.map((key) => this.#entries.get(key) ?? START);
    let to = index + delta;
    while (former[to]?.isRepeatable === false) to += Math.sign(delta);
    const entry = former[to];
    if (entry === undefined) return null;
    // The browser may give the page that comes the key of the one that goes.
    const renamed = keys.map(() => `${STEPPED}${++this.#stepped}`);
    for (const key of keys) this.#drop(key);
    for (const [at, key] of renamed.entries()) this.#entries.set(key, former[at] ?? START);
    this.#list = { keys: renamed, index: to };
    this.anchor();
    this.#reopened = renamed[to] ?? null;
    this.#changed();
    return entry;
  }

  /** A new frame begins with the page of this address. To the entries of the former one the app leads, not the browser. */
  begin(url: string): void {
    const key = `${STEPPED}${++this.#stepped}`;
    this.#list = visit(this.#list, key);
    this.#entries.set(key, { ...START, url });
    this.anchor();
    this.#reopened = key;
    this.#changed();
  }

  /** The frame is another tab's from now on. */
  reset(): void {
    this.leave();
    this.#list = EMPTY_HISTORY;
    this.#reach = { from: 0, to: 0 };
    for (const key of this.#entries.keys()) this.#drop(key);
  }

  /** As `isTraversal` of a list. */
  isTraversal(key: string, isNew: boolean): boolean {
    return isTraversal(this.#list, key, isNew);
  }

  /** As `visit` of a list. */
  visit(key: string, isNew: boolean): void {
    this.#go(key, visit(this.#list, key, isNew));
  }

  /** As `visitUrl` of a list. */
  visitUrl(url: string, isNew: boolean): void {
    this.#go(url, visitUrl(this.#list, url, isNew));
  }

  /**
   * The browser has gone to the entry of such a URL that is next to the one shown, and what comes there has another key.
   *
   * @returns its real URL; null where there is none.
   */
  comeTo(isIt: (url: string) => boolean): string | null {
    const { keys, index } = this.#list;
    const nearest = [...keys.keys()].sort((one, other) => Math.abs(one - index) - Math.abs(other - index));
    for (const at of nearest) {
      const key = keys[at] ?? "";
      const { url = "" } = this.#entries.get(key) ?? {};
      if (url === "" || at === index || !isIt(url)) continue;
      this.#go(key, { keys, index: at });
      this.#reopened = key;
      return url;
    }
    return null;
  }

  knows(url: string): boolean {
    return [...this.#entries.values()].some((entry) => entry.url === url);
  }

  /** A new document begins. If the person had the one before forgotten, that is gone. */
  beginDocument(): void {
    this.#forgotten = null;
  }

  /** The entry shown has this page. */
  note(url: string, isRepeatable: boolean): void {
    const key = this.#current;
    if (key === null) return;
    const before = this.#entries.get(key);
    const fields = before?.url === url ? before.fields : undefined;
    const forgottenBy = this.#forgotten === key ? before?.forgottenBy : undefined;
    const scroll = before?.scroll ?? TOP;
    this.#entries.set(key, { url, isRepeatable: isRepeatable && !isSent(before, url), scroll, fields, forgottenBy });
    this.#changed();
  }

  /** The document of the entry shown is there. @param isNew false: it was there before, and has its fields. */
  restore(isNew = true): void {
    const entry = this.#left === null || this.#left !== this.#current ? undefined : this.#entries.get(this.#left);
    if (entry === undefined) return;
    this.#left = null;
    this.#onRestore(isNew ? entry : { ...entry, fields: undefined });
  }

  /**
   * @param page that speaks. It can name the key of any entry.
   * @param said its fields, by its word. If they cannot be kept, the former ones stay.
   */
  scrolled(
    { key, origin }: { readonly key: string; readonly origin: string },
    scroll: ScrollPosition,
    said: unknown,
  ): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#closed.has(key) || URL.parse(entry.url)?.origin !== origin) return;
    this.#entries.set(key, { ...entry, scroll, fields: keptFields(said) ?? entry.fields });
    this.#changed();
  }

  /** Takes the entries of before, for `rebuild`. @returns the address of the one shown, where it can be opened again. */
  resume(entries: readonly KeptEntry[]): string | null {
    const shown = entries.findLast(({ isAhead }) => !isAhead);
    this.#resumed = shown === undefined ? [START, ...entries] : entries;
    const last = shown ?? START;
    return last.isRepeatable && last.url !== "" ? last.url : null;
  }

  /**
   * The frame can have the entries of before.
   *
   * @param putIn puts so many start documents into its history, and goes to the one that so many are ahead of. @returns
   * their keys.
   * @returns whether the frame is at the one that was shown: it is there later where some are ahead, and not where there are
   * none.
   */
  rebuild(putIn: (count: number, ahead: number) => readonly string[]): boolean {
    const entries = this.#resumed;
    this.#resumed = null;
    if (entries === null) return false;
    const ahead = entries.filter(({ isAhead }) => isAhead).length;
    const keys = putIn(entries.length, ahead);
    this.#list = { keys, index: keys.length - 1 };
    this.#reach = { from: 0, to: keys.length - 1 };
    for (const [index, key] of keys.entries()) {
      const entry = entries[index] ?? START;
      this.#entries.set(key, entry);
      if (entry.url !== "") this.#closed.add(key);
    }
    // Until the frame is there, what was kept before counts.
    if (ahead === 0) this.#changed();
    return ahead === 0;
  }

  /** A page of before is shown again, or was. */
  get hasReopened(): boolean {
    return this.#placed.size > 0;
  }

  /** The entry of before that the frame is at, if its page can be opened again. */
  get closed(): KeptEntry | null {
    const key = this.#current;
    const entry = key === null || !this.#closed.has(key) ? undefined : this.#entries.get(key);
    return entry?.isRepeatable === true && entry.url !== "" ? entry : null;
  }

  get isReopening(): boolean {
    return this.#reopened !== null;
  }

  /** The page of the closed entry sets out to take its place. */
  reopen(): void {
    this.#reopened = this.#current;
  }

  /** The frame is to go elsewhere. */
  leave(): void {
    this.#reopened = null;
    this.#resumed = null;
  }

  /** The person has had entries forgotten, or takes that back. */
  mark(change: (entry: KeptEntry) => KeptEntry): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.set(key, change(entry));
      if (key === this.#current) this.#forgotten = key;
    }
    this.#resumed = this.#resumed?.map(change) ?? null;
    this.#changed();
  }

  get #current(): string | null {
    return this.#list.keys[this.#list.index] ?? null;
  }

  #go(key: string, visited: HistoryList): void {
    const from = this.#reopened;
    const isStep = key !== this.#current;
    if (isStep) this.#reopened = null;
    if (from !== null && isStep && !this.#list.keys.includes(key)) {
      this.#list = replaced(this.#list, key);
      this.#entries.set(key, this.#entries.get(from) ?? START);
      this.#placed.add(key);
    } else {
      const isNew = visited.keys !== this.#list.keys;
      this.#list = visited;
      const { from, to } = this.#reach;
      this.#reach = { from: Math.min(from, visited.index), to: isNew ? visited.index : Math.max(to, visited.index) };
      if (isNew && visited.index > 0) this.#added += 1;
    }
    this.#changed();
    if (!isStep) return;
    this.#forgotten = null;
    this.#left = this.#placed.has(key) ? key : null;
  }

  #drop(key: string): void {
    this.#entries.delete(key);
    this.#closed.delete(key);
    this.#placed.delete(key);
  }

  #changed(): void {
    const { keys, index } = this.#list;
    const known = new Set(keys);
    for (const key of this.#entries.keys()) if (!known.has(key)) this.#drop(key);
    const first = Math.max(0, index + 1 - KEPT);
    const kept = keys.slice(first, index + KEPT).map((key) => this.#entries.get(key) ?? START);
    this.#onChange(kept.map((entry, at) => ({ ...entry, isAhead: first + at > index || undefined })));
  }
}

/** Fields of one document. */
const MOST_FIELDS = 500;

function keptFields(said: unknown): readonly KeptField[] | undefined {
  if (!Array.isArray(said) || said.length > MOST_FIELDS) return undefined;
  let size = 0;
  const fields = Array.from(said, (field: Partial<KeptField> | null | undefined) => {
    const { at, name, value } = field ?? {};
    if (typeof at !== "number" || typeof name !== "string" || typeof value !== "string") return null;
    size += name.length + value.length;
    return { at, name, value };
  });
  return size > MOST_TYPED || fields.includes(null) ? undefined : (fields as readonly KeptField[]);
}

/** A page that a form has led to stays that, whatever is told of it later. */
function isSent(entry: KeptEntry | undefined, url: string): boolean {
  return entry?.url === url && !entry.isRepeatable;
}

/**
 * The entries of the page's session history as far as the shell has seen them. The browser owns the real list; the
 * documents report the Navigation API key of their entry, from which the shell knows whether there is a way back.
 */
export interface HistoryList {
  readonly keys: readonly string[];
  readonly index: number;
}

export const EMPTY_HISTORY: HistoryList = { keys: [], index: -1 };

/** Whether a key is only an address, as in a browser without the Navigation API. */
const isAddress = (key: string): boolean => key.startsWith(ADDRESS_KEY);

/**
 * The list after a document reported the entry `key`: a known key is a traversal, a new one cuts what lay ahead.
 *
 * @param isNew it was asked for by its address.
 */
export function visit(list: HistoryList, key: string, isNew = false): HistoryList {
  if (isAddress(key)) return visitUrl(list, key, isNew);
  const known = list.keys.indexOf(key);
  if (known >= 0) return { keys: list.keys, index: known };
  return added(list, key);
}

/** Whether a document that reports the entry `key` was come to by the history: the buttons, or the phone's gesture. */
export function isTraversal({ keys, index }: HistoryList, key: string, isNew = false): boolean {
  if (isAddress(key)) return !isNew && keys[index] !== key && [index - 1, index + 1].some((at) => keys[at] === key);
  return keys.includes(key) && keys[index] !== key;
}

/**
 * As `visit`, for a document that cannot report: it is known by its URL where it is next to the entry shown.
 *
 * @param isNew it was asked for by its address.
 */
export function visitUrl(list: HistoryList, url: string, isNew: boolean): HistoryList {
  const { keys, index } = list;
  const near = isNew ? [index] : [index, index - 1, index + 1];
  const known = near.find((at) => keys[at] === url);
  if (known !== undefined) return { keys, index: known };
  return added(list, url);
}

/** The latest entries of the list up to the one shown, and after them another. */
function added(list: HistoryList, key: string): HistoryList {
  const keys = [...list.keys.slice(0, list.index + 1), key].slice(-MOST);
  return { keys, index: keys.length - 1 };
}

/** Another document, with the entry `key`, has taken the place of the one shown. */
export function replaced({ keys, index }: HistoryList, key: string): HistoryList {
  return { keys: keys.with(index, key), index };
}

export function canGoBack(list: HistoryList): boolean {
  return list.index > 0;
}

export function canGoForward(list: HistoryList): boolean {
  return list.index < list.keys.length - 1;
}
