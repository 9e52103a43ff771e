import type { StoredEntry } from "./store-database.ts";

/** The stored responses of one partition, in memory, by URL; apart from them those that pages were kept with. */
export class PartitionIndex<Meta> {
  readonly #byUrl = new Map<string, StoredEntry<Meta>[]>();
  readonly #kept = new Map<number, StoredEntry<Meta>>();

  constructor(entries: readonly StoredEntry<Meta>[]) {
    for (const entry of entries) this.add(entry);
  }

  get isEmpty(): boolean {
    return this.#byUrl.size === 0;
  }

  find(url: string): readonly StoredEntry<Meta>[] {
    return this.#byUrl.get(url) ?? [];
  }

  all(): StoredEntry<Meta>[] {
    return [...this.#byUrl.values()].flat();
  }

  /** What was kept with any page. */
  allKept(): StoredEntry<Meta>[] {
    return [...this.#kept.values()];
  }

  /** @param page URL of the page that it was kept with. */
  findKept(page: string, url: string): StoredEntry<Meta>[] {
    return this.allKept().filter((entry) => entry.kept === page && entry.url === url);
  }

  add(entry: StoredEntry<Meta>): void {
    if (entry.kept !== undefined) this.#kept.set(entry.id, entry);
    else this.#byUrl.set(entry.url, [...this.find(entry.url).filter(({ id }) => id !== entry.id), entry]);
  }

  remove({ id, url }: StoredEntry<Meta>): void {
    this.#kept.delete(id);
    const left = this.find(url).filter((entry) => entry.id !== id);
    if (left.length > 0) this.#byUrl.set(url, left);
    else this.#byUrl.delete(url);
  }
}
