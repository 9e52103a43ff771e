import { ErrorCode, RopewayError } from "../../errors.ts";
import { fieldBytes, type HeaderField } from "./field.ts";
import { MAX_INTEGER } from "./integer.ts";

/** A table as plain data that survives structured clone: what it costs there stays below `maxBytes` plus some bytes. */
export interface TableSnapshot {
  readonly maxBytes: number;
  /** Oldest first. */
  readonly entries: readonly HeaderField[];
}

/** Told of each change; `position` counts insertions since the table was made, from 0. */
export interface TableObserver {
  added(field: HeaderField, position: number): void;
  evicted(field: HeaderField, position: number): void;
}

/** Dropped entries leave holes at the front of the array; they are closed when there are this many and over half. */
const COMPACT_AT = 64;

/** The dynamic table of one direction (RFC 7541 sections 2.3.2 and 4). */
export class DynamicTable {
  readonly #observer: TableObserver | undefined;
  #entries: HeaderField[] = [];
  /** Index of the oldest entry in `#entries`. */
  #first = 0;
  #inserted = 0;
  #bytes = 0;
  #maxBytes: number;

  constructor(maxBytes: number, observer?: TableObserver) {
    this.#maxBytes = maxBytes;
    this.#observer = observer;
  }

  /** @throws RopewayError INTERNAL_ERROR if the entries do not fit, so this was never a table's snapshot. */
  static restore(snapshot: TableSnapshot, observer?: TableObserver): DynamicTable {
    const table = new DynamicTable(snapshot.maxBytes, observer);
    for (const [name, value] of snapshot.entries) table.add([name, value]);
    if (table.length !== snapshot.entries.length) {
      throw new RopewayError(
        ErrorCode.INTERNAL_ERROR,
        "session",
        "library",
        "Cannot restore HPACK table: its entries exceed its size",
      );
    }
    return table;
  }

  /** Count of entries. */
  get length(): number {
    return this.#entries.length - this.#first;
  }

  /** Sum of the entries' sizes (RFC 7541 section 4.1). */
  get bytes(): number {
    return this.#bytes;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** Count of insertions so far: the position that the next entry gets. */
  get inserted(): number {
    return this.#inserted;
  }

  /** The entry at `age`: 0 is the newest. */
  get(age: number): HeaderField | undefined {
    return age < this.length ? this.#entries[this.#entries.length - 1 - age] : undefined;
  }

  /** Inserts; an entry larger than the table empties it and is not kept (RFC 7541 section 4.4). Keeps `field`. */
  add(field: HeaderField): void {
    const size = fieldBytes(field[0], field[1]);
    this.#evictDownTo(this.#maxBytes - size);
    if (size > this.#maxBytes) return;
    this.#entries.push(field);
    this.#bytes += size;
    this.#observer?.added(field, this.#inserted);
    this.#inserted++;
  }

  /** Changes the maximum, evicting what no longer fits (RFC 7541 section 4.3). */
  setMaxBytes(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#evictDownTo(maxBytes);
  }

  snapshot(): TableSnapshot {
    return { maxBytes: this.#maxBytes, entries: this.#entries.slice(this.#first) };
  }

  #evictDownTo(bytes: number): void {
    while (this.#bytes > bytes && this.length > 0) {
      const field = this.#entries[this.#first] as HeaderField;
      this.#observer?.evicted(field, this.#inserted - this.length);
      this.#first++;
      this.#bytes -= fieldBytes(field[0], field[1]);
    }
    if (this.#first >= COMPACT_AT && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** @throws RopewayError INTERNAL_ERROR if `bytes` is no size that a table can have and an update can say. */
export function assertTableBytes(bytes: number): void {
  if (Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_INTEGER) return;
  throw new RopewayError(
    ErrorCode.INTERNAL_ERROR,
    "session",
    "library",
    `Cannot set HPACK table size to ${bytes}: it must be an integer from 0 to ${MAX_INTEGER}`,
  );
}
