import { answered } from "../../platform/platform.ts";
import { type LibraryDatabase, Shelf } from "./library-database.ts";

/** The folder of all others, by its id. */
export const ROOT = 0;
/** The folder of the start page: its bookmarks are the pins, which the app keeps. */
export const START_PAGE = 1;

interface Placed {
  readonly id: number;
  /** The id of the folder that it lies in. */
  readonly folder: number;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly addedAt: number;
}

export interface Bookmark extends Placed {
  readonly kind: "page";
  readonly url: string;
}

export interface Folder extends Placed {
  readonly kind: "folder";
}

export type Entry = Bookmark | Folder;

/** Folders in folders: deeper ones count as those of the last. */
export const MOST_DEPTH = 32;

/** Bookmarks and their folders as they are stored. In a folder the latest is last. */
export class Bookmarks {
  readonly #database: LibraryDatabase;
  readonly #shelf: Shelf<readonly Entry[]>;
  readonly #now: () => number;
  #lastId = 0;

  /** @param now milliseconds since 1970. @param onRead the bookmarks were read. */
  constructor(database: LibraryDatabase, now: () => number, onRead: () => void) {
    this.#database = database;
    this.#now = now;
    const read = () => database.read(["bookmarks"], ({ bookmarks }) => answered<Entry[]>(bookmarks.getAll()));
    this.#shelf = new Shelf(read, [], onRead);
  }

  /** As of `Shelf`. */
  look(): readonly Entry[] | null {
    return this.#shelf.look();
  }

  /** As of `Shelf`. */
  read(): Promise<readonly Entry[] | null> {
    return this.#shelf.read();
  }

  /** As of `Shelf`. */
  isChanged(): boolean {
    return this.#shelf.isChanged();
  }

  /** Two windows have none in common, as no person adds two in a millisecond. */
  newId(): number {
    this.#lastId = Math.max(this.#now() * 1024, this.#lastId + 1);
    return this.#lastId;
  }

  /** Each in place of what has its id. @returns whether there was room for them. */
  async put(entries: readonly Entry[]): Promise<boolean> {
    const done = await this.#database.change(["bookmarks"], async ({ bookmarks }) => {
      for (const entry of entries) bookmarks.put(entry);
      return true;
    });
    return done ?? false;
  }

  /** Deletes these, and nothing that lies in them. */
  async drop(entries: readonly Entry[]): Promise<void> {
    await this.#database.change(["bookmarks"], async ({ bookmarks }) => {
      for (const { id } of entries) bookmarks.delete(id);
    });
  }

  /** With all that lies in it. @returns those that went; null where none could. */
  delete(entry: Entry): Promise<readonly Entry[] | null> {
    return this.#database.change(["bookmarks"], async ({ bookmarks }) => {
      const gone = withContent(await answered<Entry[]>(bookmarks.getAll()), entry);
      for (const { id } of gone) bookmarks.delete(id);
      return gone;
    });
  }
}

/** A folder's entries: folders by their names, then pages as they came. Entries without a folder are in the outermost. */
export function entriesIn(entries: readonly Entry[], folder: number): readonly Entry[] {
  return contentsOf(entries).get(folder) ?? [];
}

type Contents = ReadonlyMap<number, readonly Entry[]>;
const known = new WeakMap<readonly Entry[], Contents>();

/** By folders: there may be many thousands, and each draw asks. */
function contentsOf(entries: readonly Entry[]): Contents {
  const before = known.get(entries);
  if (before !== undefined) return before;
  const folders = new Set([ROOT, ...entries.flatMap(({ kind, id }) => (kind === "folder" ? [id] : []))]);
  const { compare } = new Intl.Collator();
  const isFolder = ({ kind }: Entry) => kind === "folder";
  const sorted = [
    ...entries.filter(isFolder).sort((a, b) => compare(a.title, b.title)),
    ...entries.filter((entry) => !isFolder(entry)),
  ];
  const contents = new Map<number, Entry[]>();
  for (const entry of sorted) {
    const folder = folders.has(entry.folder) ? entry.folder : ROOT;
    const inside = contents.get(folder);
    if (inside === undefined) contents.set(folder, [entry]);
    else inside.push(entry);
  }
  known.set(entries, contents);
  return contents;
}

/** The entry, and all that lies in it. */
export function withContent(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  const content = new Set([entry]);
  // Entries that are added are looked into in their turn.
  for (const { kind, id } of content) {
    if (kind === "folder") for (const each of entriesIn(entries, id)) content.add(each);
  }
  return [...content];
}

export interface FolderPlace {
  readonly id: number;
  readonly title: string;
  /** 0 for folders in the outermost. */
  readonly depth: number;
}

/** All folders, each before those in it. */
export function foldersOf(entries: readonly Entry[], folder = ROOT, depth = 0): readonly FolderPlace[] {
  if (depth >= MOST_DEPTH) return [];
  return entriesIn(entries, folder).flatMap(({ kind, id, title }) =>
    kind === "folder" ? [{ id, title, depth }, ...foldersOf(entries, id, depth + 1)] : [],
  );
}
