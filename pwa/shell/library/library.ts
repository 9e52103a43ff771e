import { t } from "../app/language.ts";
import { tCount } from "../app/language-choice.ts";
import type { SiteTeller } from "../app/state.ts";
import { type FileEntry, type FileFolder, type FilePage, MOST_BYTES, readFile, writeFile } from "./bookmark-file.ts";
import {
  type Bookmark,
  Bookmarks,
  type Entry,
  entriesIn,
  type FolderPlace,
  foldersOf,
  MOST_DEPTH,
  ROOT,
  START_PAGE,
  withContent,
} from "./bookmarks.ts";
import { LibraryDatabase } from "./library-database.ts";
import type { SearchEngines } from "./search-engines.ts";
import { type KnownPage, knownPages, type Suggestion, suggest } from "./suggestions.ts";
import { pageUrl, type Undo, type Visit, Visits } from "./visits.ts";

export { type Entry, ROOT, START_PAGE } from "./bookmarks.ts";
export { type SearchEngine, SearchEngines } from "./search-engines.ts";
export type { Suggestion } from "./suggestions.ts";
export { type Undo, type Visit, withWords } from "./visits.ts";

/**
 * Pages that the person has visited or marked, on this phone alone. It hears of those that have loaded before its script was
 * there. What it is asked for is as of when it was read last, and null before that; when there is more it draws the app anew.
 */
export class Library {
  readonly #app: SiteTeller;
  readonly #database: LibraryDatabase;
  readonly #visits: Visits;
  readonly #bookmarks: Bookmarks;
  readonly #now: () => number;
  /** By address: a pin's place in the list changes as others go. */
  readonly #pinIds = new Map<string, number>();
  /** @property sources that they were made of. */
  #known: { readonly sources: readonly unknown[]; readonly pages: readonly KnownPage[] } | null = null;

  /** @param now milliseconds since 1970. */
  constructor(app: SiteTeller, now: () => number) {
    this.#app = app;
    this.#now = now;
    const draw = () => app.draw();
    this.#database = new LibraryDatabase(() => {
      const areShown = [this.#visits.isChanged(), this.#bookmarks.isChanged()];
      if (areShown.includes(true)) draw();
    });
    this.#visits = new Visits({ database: this.#database, now, onRead: draw });
    this.#bookmarks = new Bookmarks(this.#database, now, draw);
    app.hearSites((event) => void this.#visits.hear(event));
  }

  /** For tests. */
  close(): Promise<void> {
    return this.#database.close();
  }

  /** The latest first. */
  get visits(): readonly Visit[] | null {
    return this.#visits.look();
  }

  /** Where nothing leads to a page any more, it goes from the recent sites, too. @returns as of `change`. */
  async forgetVisits(visits: readonly Visit[]): Promise<Undo | null> {
    const putBack = await this.#visits.forget(visits);
    if (putBack === null) return null;
    const left = new Set((await this.#visits.read())?.map(({ url }) => url) ?? visits.map(({ url }) => url));
    const gone = new Set(visits.map(({ url }) => url).filter((url) => !left.has(url)));
    const undrop = this.#app.dropRecent((url) => gone.has(url));
    return () => {
      putBack();
      undrop();
    };
  }

  /** @returns a data: URL, or null where none is known. */
  iconOf(url: string): string | null {
    const { recent, pinned } = this.#app.state;
    return this.#visits.iconOf(url) ?? [...pinned, ...recent].find((site) => site.url === url)?.icon ?? null;
  }

  /** Rows below the address box for what is typed so far: six at most. Nobody is asked for them. */
  suggest(typed: string, searchUrl: string, engines: SearchEngines): readonly Suggestion[] {
    return suggest(typed, this.#knownPages(), searchUrl, engines);
  }

  #knownPages(): readonly KnownPage[] {
    const { pinned, recent } = this.#app.state;
    const sources = [pinned, recent, this.#bookmarks.look(), this.#visits.look()];
    if (this.#known === null || sources.some((source, index) => source !== this.#known?.sources[index])) {
      const bookmarks = (this.#bookmarks.look() ?? []).filter((entry) => entry.kind === "page");
      const visits = this.#visits.look() ?? [];
      this.#known = { sources, pages: knownPages({ pinned, recent, bookmarks, visits, now: this.#now() }) };
    }
    return this.#known.pages;
  }

  /** Bookmarks and folders in the folder. */
  entriesIn(folder: number): readonly Entry[] | null {
    if (folder === START_PAGE) return this.#pins;
    const entries = this.#bookmarks.look();
    return entries && [...(folder === ROOT ? [START] : []), ...entriesIn(entries, folder)];
  }

  /** All folders, each before those in it. */
  folders(): readonly FolderPlace[] {
    const inside = foldersOf(this.#bookmarks.look() ?? []).map((place) => ({ ...place, depth: place.depth + 1 }));
    return [{ id: ROOT, title: "Bookmarks", depth: 0 }, { ...START, depth: 0 }, ...inside];
  }

  /** Folders that an entry may lie in. */
  foldersFor(entry: Entry): readonly FolderPlace[] {
    if (entry.kind === "page") return this.folders();
    const content = new Set(withContent(this.#bookmarks.look() ?? [], entry).map(({ id }) => id));
    return this.folders().filter(({ id }) => id !== START_PAGE && !content.has(id));
  }

  folderAbove(folder: number): number {
    return this.#bookmarks.look()?.find(({ id }) => id === folder)?.folder ?? ROOT;
  }

  /** Whether the page has a bookmark; a pin is one. */
  isMarked(address: string): boolean {
    return this.#marksOf(address).length > 0;
  }

  /** Adds a bookmark to the outermost folder, or takes all that the page has. */
  async toggleMark({ url, title }: Pick<Bookmark, "url" | "title">): Promise<void> {
    const marks = this.#marksOf(url);
    for (const mark of marks) await this.remove(mark);
    const address = pageUrl(url);
    if (marks.length > 0 || address === null) return;
    await this.#put([{ kind: "page", ...this.#newPlace(ROOT), title, url: address }]);
  }

  async addFolder(folder: number, title: string): Promise<void> {
    await this.#put([{ kind: "folder", ...this.#newPlace(folder), title: title.trim() }]);
  }

  /** Gives it another name or folder. @returns null where nothing has changed: storage is full, or closed to us. */
  async change(entry: Entry, to: Pick<Entry, "title" | "folder">): Promise<Undo | null> {
    // Pins are kept elsewhere; in the folders an entry keeps its id.
    const leavesOnePlace = (to.folder === START_PAGE) !== (entry.folder === START_PAGE);
    const place = leavesOnePlace && entry.folder === START_PAGE ? this.#newPlace(to.folder) : entry;
    const changed: Entry = { ...entry, ...place, folder: to.folder, title: to.title.trim() };
    // A page has one pin: of one that was there, the moved one takes the place.
    const replaced =
      leavesOnePlace && changed.kind === "page" && to.folder === START_PAGE
        ? this.#pins.filter(({ url }) => url === changed.url)
        : [];
    const move = async (from: Entry, into: readonly Entry[], takes: boolean): Promise<boolean> => {
      const arePut = await this.#put(into);
      if (arePut && takes) await this.#take(from);
      return arePut;
    };
    if (!(await move(entry, [changed], leavesOnePlace))) return null;
    return () => void move(changed, [entry, ...replaced], leavesOnePlace && replaced.length === 0);
  }

  /** With all that lies in it. @returns as of `change`. */
  async remove(entry: Entry): Promise<Undo | null> {
    const gone = await this.#take(entry);
    return gone && (() => void this.#put(gone));
  }

  /** In the common HTML format. @returns null where it cannot be read now. */
  async exportFile(name: LibraryPart): Promise<string | null> {
    if (name === "history") {
      const visits = await this.#visits.read();
      return visits && writeFile("History", daysAsFolders(visits));
    }
    const entries = await this.#bookmarks.read();
    if (entries === null) return null;
    const pins: FileFolder = { kind: "folder", title: START.title, isBar: true, entries: this.#pins.map(asFilePage) };
    return writeFile("Bookmarks", [pins, ...asFileEntries(entries, ROOT)]);
  }

  /** Adds what is in a file of that format. */
  async importFile(name: LibraryPart, file: Pick<File, "size" | "text">): Promise<ImportResult> {
    if (file.size > MOST_BYTES) return { why: t("Cannot import the file: it is larger than 20 MB.") };
    const root = readFile(await file.text(), pageUrl);
    if (root === null) return { why: t("Cannot import the file: it has more than 50,000 entries.") };
    return name === "history" ? this.#importVisits(root) : this.#importBookmarks(root);
  }

  async #importVisits(root: FileFolder): Promise<ImportResult> {
    const pages = pagesIn(root);
    const visits = pages.flatMap(({ url, title, visitedAt, visits }) =>
      visitedAt === null ? [] : [{ url, title, at: visitedAt, count: visits }],
    );
    if (visits.length === 0) return { why: t("Cannot import the file: it tells of no visits.") };
    const added = await this.#visits.add(visits);
    if (added === null) return { why: NO_ROOM() };
    const text = tCount(added.length, "{count} page imported", "{count} pages imported");
    return { text, undo: () => void this.#visits.forget(added) };
  }

  async #importBookmarks(root: FileFolder): Promise<ImportResult> {
    const known = await this.#bookmarks.read();
    if (known === null) return { why: t("The list cannot be had now") };
    const added = new BookmarkImport([...known, ...this.#pins], (folder) => this.#newPlace(folder)).entriesOf(root);
    const pages = added.filter(({ kind }) => kind === "page");
    if (added.length === 0) return { why: t("No bookmark in the file is new.") };
    if (!(await this.#put(added))) return { why: NO_ROOM() };
    return {
      text: tCount(pages.length, "{count} bookmark imported", "{count} bookmarks imported"),
      undo: () => this.#drop(added),
    };
  }

  #newPlace(folder: number): Pick<Entry, "id" | "folder" | "addedAt"> {
    return { id: this.#bookmarks.newId(), folder, addedAt: this.#now() };
  }

  /** Pins as bookmarks, in the order of the start page. */
  get #pins(): readonly Bookmark[] {
    const { pinned } = this.#app.state;
    return pinned.map(({ url, title }) => {
      const id = this.#pinIds.get(url) ?? -1 - this.#pinIds.size;
      this.#pinIds.set(url, id);
      return { kind: "page", id, folder: START_PAGE, addedAt: 0, url, title };
    });
  }

  #marksOf(address: string): readonly Bookmark[] {
    const url = pageUrl(address);
    const isIt = (entry: Entry) => entry.kind === "page" && [address, url].includes(entry.url);
    return [...this.#pins, ...(this.#bookmarks.look() ?? [])].filter((entry): entry is Bookmark => isIt(entry));
  }

  /** Each in place of what has its id, or is a pin of its address. @returns whether there was room for them; else none is there. */
  async #put(entries: readonly Entry[]): Promise<boolean> {
    const former = this.#app.state.pinned;
    const pins = entries.flatMap((entry) => (entry.kind === "page" && entry.folder === START_PAGE ? [entry] : []));
    const others = entries.filter(({ folder }) => folder !== START_PAGE);
    const written = pins.map(({ url, title }) => this.#app.pin({ url, title, icon: this.iconOf(url) }));
    const arePinned = !(await Promise.all(written)).includes(false);
    if (arePinned && (others.length === 0 || (await this.#bookmarks.put(others)))) return true;
    for (const { url } of pins) {
      const site = former.find((each) => each.url === url);
      if (site === undefined) this.#app.unpin(url);
      else void this.#app.pin(site);
    }
    return false;
  }

  /** Takes back an import, and nothing that the person has put into its folders since. */
  #drop(entries: readonly Entry[]): void {
    for (const entry of entries) if (entry.kind === "page" && entry.folder === START_PAGE) this.#app.unpin(entry.url);
    void this.#bookmarks.drop(entries.filter(({ folder }) => folder !== START_PAGE));
  }

  /** With all that lies in it. @returns those that went; null where none could. */
  async #take(entry: Entry): Promise<readonly Entry[] | null> {
    if (entry.folder !== START_PAGE) return this.#bookmarks.delete(entry);
    if (entry.kind === "page") this.#app.unpin(entry.url);
    return [entry];
  }
}

const NO_ROOM = () => t("Cannot import the file: this phone has no room for it.");

export type LibraryPart = "history" | "bookmarks";

/** `why` says why nothing was imported. */
export type ImportResult = { readonly text: string; readonly undo: Undo } | { readonly why: string };

/** As a folder among the others. */
const START: Entry = { kind: "folder", id: START_PAGE, folder: ROOT, title: "Start page", addedAt: 0 };

function pagesIn(folder: FileFolder): readonly FilePage[] {
  return folder.entries.flatMap((entry) => (entry.kind === "page" ? [entry] : pagesIn(entry)));
}

function daysAsFolders(visits: readonly Visit[]): readonly FileFolder[] {
  const days = new Map<string, FileFolder>();
  for (const { day, url, title, at, count } of visits) {
    const folder = days.get(day) ?? { kind: "folder", title: day, isBar: false, entries: [] };
    days.set(day, folder);
    folder.entries.push({ kind: "page", title, url, addedAt: null, visitedAt: at, visits: count });
  }
  return [...days.values()];
}

function asFilePage({ title, url, addedAt }: Bookmark): FilePage {
  return { kind: "page", title, url, addedAt: addedAt || null, visitedAt: null, visits: 1 };
}

function asFileEntries(entries: readonly Entry[], folder: number, depth = 0): FileEntry[] {
  if (depth > MOST_DEPTH) return [];
  return entriesIn(entries, folder).map((entry) =>
    entry.kind === "page"
      ? asFilePage(entry)
      : { kind: "folder", title: entry.title, isBar: false, entries: asFileEntries(entries, entry.id, depth + 1) },
  );
}

/** Pins that a file may add; more would bury the start page. */
const MOST_PINS = 50;

/** Entries for what a file has and the library has not: a folder of the same name, and a page in its folder, are there once. */
class BookmarkImport {
  readonly #newPlace: (folder: number) => Pick<Entry, "id" | "folder" | "addedAt">;
  /** Ids of folders by folder and title; addresses by folder. */
  readonly #folders: Map<string, number>;
  readonly #pages: Set<string>;
  readonly #added: Entry[] = [];
  #pins = 0;

  constructor(known: readonly Entry[], newPlace: (folder: number) => Pick<Entry, "id" | "folder" | "addedAt">) {
    this.#newPlace = newPlace;
    this.#folders = new Map(
      known.flatMap((each) => (each.kind === "folder" ? [[`${each.folder} ${each.title}`, each.id]] : [])),
    );
    this.#pages = new Set(known.flatMap((each) => (each.kind === "page" ? [`${each.folder} ${each.url}`] : [])));
  }

  entriesOf(root: FileFolder): readonly Entry[] {
    this.#add(root, ROOT);
    return this.#added;
  }

  #add({ entries }: FileFolder, into: number): void {
    for (const entry of entries) {
      if (entry.kind === "folder") this.#add(entry, this.#folderFor(entry, into));
      else this.#addPage(entry, into);
    }
  }

  #folderFor({ title, isBar }: FileFolder, into: number): number {
    if (isBar && title === START.title && into === ROOT) return START_PAGE;
    const key = `${into} ${title}`;
    const known = this.#folders.get(key);
    if (known !== undefined) return known;
    const folder: Entry = { kind: "folder", ...this.#newPlace(into), title };
    this.#added.push(folder);
    this.#folders.set(key, folder.id);
    return folder.id;
  }

  #addPage({ title, url, addedAt }: FilePage, wanted: number): void {
    const isPin = wanted === START_PAGE && this.#pins < MOST_PINS;
    const folder = wanted === START_PAGE && !isPin ? ROOT : wanted;
    const key = `${folder} ${url}`;
    if (this.#pages.has(key)) return;
    if (isPin) this.#pins++;
    this.#pages.add(key);
    const place = this.#newPlace(folder);
    this.#added.push({ kind: "page", ...place, title, url, addedAt: addedAt ?? place.addedAt });
  }
}
