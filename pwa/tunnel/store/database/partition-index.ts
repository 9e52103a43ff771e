import type { StoredEntry } from "./store-database.ts";

/** The stored responses of one partition, in memory, by URL. */
export class PartitionIndex<Meta> {
  readonly #byUrl = new Map<string, StoredEntry<Meta>[]>();

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

  add(entry: StoredEntry<Meta>): void {
    this.#byUrl.set(entry.url, [...this.find(entry.url).filter(({ id }) => id !== entry.id), entry]);
  }

  remove({ id, url }: StoredEntry<Meta>): void {
    const left = this.find(url).filter((entry) => entry.id !== id);
    if (left.length > 0) this.#byUrl.set(url, left);
    else this.#byUrl.delete(url);
  }
}
