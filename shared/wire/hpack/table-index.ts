import type { TableObserver } from "./dynamic-table.ts";
import type { HeaderField } from "./field.ts";

interface NameEntries {
  /** Position of the newest entry with this name. */
  latest: number;
  /** Position of the newest entry with this name and each value. */
  readonly values: Map<string, number>;
}

/** Finds entries of a dynamic table by name and value in constant time; the table keeps it up to date. */
export class TableIndex implements TableObserver {
  readonly #names = new Map<string, NameEntries>();

  /** Position of the newest entry with this name and value. */
  find(name: string, value: string): number | undefined {
    return this.#names.get(name)?.values.get(value);
  }

  /** Position of the newest entry with this name. */
  findName(name: string): number | undefined {
    return this.#names.get(name)?.latest;
  }

  added([name, value]: HeaderField, position: number): void {
    const entries = this.#names.get(name);
    if (entries === undefined) {
      this.#names.set(name, { latest: position, values: new Map([[value, position]]) });
    } else {
      entries.latest = position;
      entries.values.set(value, position);
    }
  }

  evicted([name, value]: HeaderField, position: number): void {
    const entries = this.#names.get(name);
    if (entries === undefined) return;
    // Entries leave in the order they came, so whatever has a newer namesake keeps its place here.
    if (entries.latest === position) this.#names.delete(name);
    else if (entries.values.get(value) === position) entries.values.delete(value);
  }
}
