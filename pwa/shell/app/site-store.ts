/** Recent and pinned sites, kept in IndexedDB since their icons are too large for synchronous storage. */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Site } from "./app-state.ts";
import { joined, visited, withIcon } from "./site-list.ts";

interface Schema extends DBSchema {
  lists: { key: "recent" | "pinned"; value: readonly Site[] };
}

export class SiteStore {
  recent: readonly Site[] = [];
  pinned: readonly Site[] = [];
  #database: Promise<IDBPDatabase<Schema>> | null = null;

  async load(): Promise<void> {
    const database = await this.#open();
    this.recent = joined((await database.get("lists", "recent")) ?? [], []);
    this.pinned = (await database.get("lists", "pinned")) ?? [];
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
  #change(list: "recent" | "pinned", change: (sites: readonly Site[]) => readonly Site[]): void {
    this[list] = change(this[list]);
    this.#open()
      .then(async (database) => {
        const { store, done } = database.transaction("lists", "readwrite");
        await store.put(change((await store.get(list)) ?? []), list);
        await done;
      })
      .catch(() => {
        // Storage is full or closed to us: the lists live until the app is closed.
      });
  }

  #open(): Promise<IDBPDatabase<Schema>> {
    this.#database ??= openDB<Schema>("ropeway", 1, {
      upgrade(database) {
        database.createObjectStore("lists");
      },
    });
    return this.#database;
  }
}
