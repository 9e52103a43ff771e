/** Recent and pinned sites, kept in IndexedDB since their icons are too large for synchronous storage. */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Site } from "./browser-state.ts";

interface Schema extends DBSchema {
  lists: { key: "recent" | "pinned"; value: readonly Site[] };
}

const RECENT_COUNT = 12;

export class SiteStore {
  recent: readonly Site[] = [];
  pinned: readonly Site[] = [];
  #database: Promise<IDBPDatabase<Schema>> | null = null;

  async load(): Promise<void> {
    const database = await this.#open();
    this.recent = (await database.get("lists", "recent")) ?? [];
    this.pinned = (await database.get("lists", "pinned")) ?? [];
  }

  /** Puts a site first among the recent ones; a known one keeps its icon until a new one comes. */
  visit(site: Site): void {
    const icon = site.icon ?? this.recent.find((known) => sameOrigin(known.url, site.url))?.icon ?? null;
    const others = this.recent.filter((known) => known.url !== site.url);
    this.recent = [{ ...site, icon }, ...others].slice(0, RECENT_COUNT);
    this.#save("recent");
  }

  forget(url: string | "all"): void {
    this.recent = url === "all" ? [] : this.recent.filter((site) => site.url !== url);
    this.#save("recent");
  }

  pin(site: Site): void {
    this.pinned = [...this.pinned.filter((known) => known.url !== site.url), site];
    this.#save("pinned");
  }

  unpin(url: string): void {
    this.pinned = this.pinned.filter((site) => site.url !== url);
    this.#save("pinned");
  }

  #save(list: "recent" | "pinned"): void {
    this.#open()
      .then((database) => database.put("lists", this[list], list))
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

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
