/** Recent and pinned sites, kept in IndexedDB since their icons are too large for synchronous storage. */
import type { Site } from "./app-state.ts";
import { joined, visited, withIcon } from "./site-list.ts";

const LISTS = "lists";
type ListName = "recent" | "pinned";

export class SiteStore {
  recent: readonly Site[] = [];
  pinned: readonly Site[] = [];
  #database: Promise<IDBDatabase> | null = null;

  async load(): Promise<void> {
    const lists = (await this.#open()).transaction(LISTS).objectStore(LISTS);
    const [recent, pinned] = await Promise.all([read(lists, "recent"), read(lists, "pinned")]);
    this.recent = joined(recent, []);
    this.pinned = pinned;
  }

  visit(site: Site): void {
    this.#change("recent", (recent) => visited(recent, site));
  }

  /** @param url of the site's page. */
  showIcon(url: string, icon: string): void {
    this.#change("recent", (recent) => withIcon(recent, url, icon));
  }

  forget(url: string | "all"): void {
    this.#change("recent", (recent) => (url === "all" ? [] : recent.filter((site) => site.url !== url)));
  }

  /** @param isOf says of URLs whether their sites go. */
  forgetSites(isOf: (url: string) => boolean): void {
    this.#change("recent", (recent) => recent.filter(({ url }) => !isOf(url)));
  }

  /** Takes back that these were forgotten. */
  remember(sites: readonly Site[]): void {
    this.#change("recent", (recent) => joined(recent, sites));
  }

  pin(site: Site): void {
    this.#change("pinned", (pinned) => [...pinned.filter((known) => known.url !== site.url), site]);
  }

  unpin(url: string): void {
    this.#change("pinned", (pinned) => pinned.filter((site) => site.url !== url));
  }

  /** At once here, and in one transaction of what is stored, which another window may have changed meanwhile. */
  #change(list: ListName, change: (sites: readonly Site[]) => readonly Site[]): void {
    this[list] = change(this[list]);
    this.#open()
      .then(async (database) => {
        const lists = database.transaction(LISTS, "readwrite").objectStore(LISTS);
        await answered(lists.put(change(await read(lists, list)), list));
      })
      .catch(() => {
        // Storage is full or closed to us: the lists live until the app is closed.
      });
  }

  #open(): Promise<IDBDatabase> {
    this.#database ??= openDatabase();
    return this.#database;
  }
}

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open("ropeway", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(LISTS);
  return answered(request);
}

async function read(lists: IDBObjectStore, name: ListName): Promise<readonly Site[]> {
  const stored: readonly Site[] | undefined = await answered(lists.get(name));
  return stored ?? [];
}

function answered<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
