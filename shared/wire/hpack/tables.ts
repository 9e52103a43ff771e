import { ErrorCode, RopewayError } from "../../errors.ts";
import { fieldBytes, type HeaderField } from "../frame.ts";
import { MAX_INTEGER } from "./primitives.ts";

/** RFC 7541 appendix A; index 1 is the first. */
export const STATIC_TABLE: readonly HeaderField[] = [
  [":authority", ""],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset", ""],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language", ""],
  ["accept-ranges", ""],
  ["accept", ""],
  ["access-control-allow-origin", ""],
  ["age", ""],
  ["allow", ""],
  ["authorization", ""],
  ["cache-control", ""],
  ["content-disposition", ""],
  ["content-encoding", ""],
  ["content-language", ""],
  ["content-length", ""],
  ["content-location", ""],
  ["content-range", ""],
  ["content-type", ""],
  ["cookie", ""],
  ["date", ""],
  ["etag", ""],
  ["expect", ""],
  ["expires", ""],
  ["from", ""],
  ["host", ""],
  ["if-match", ""],
  ["if-modified-since", ""],
  ["if-none-match", ""],
  ["if-range", ""],
  ["if-unmodified-since", ""],
  ["last-modified", ""],
  ["link", ""],
  ["location", ""],
  ["max-forwards", ""],
  ["proxy-authenticate", ""],
  ["proxy-authorization", ""],
  ["range", ""],
  ["referer", ""],
  ["refresh", ""],
  ["retry-after", ""],
  ["server", ""],
  ["set-cookie", ""],
  ["strict-transport-security", ""],
  ["transfer-encoding", ""],
  ["user-agent", ""],
  ["vary", ""],
  ["via", ""],
  ["www-authenticate", ""],
];

/** One name of the static table. */
interface StaticName {
  /** Lowest index with this name. */
  readonly index: number;
  /** Index of each value that stands with this name. */
  readonly values: ReadonlyMap<string, number>;
}

/** The static table by name. */
export const STATIC_NAMES: ReadonlyMap<string, StaticName> = byName();

function byName(): Map<string, StaticName> {
  const names = new Map<string, { index: number; values: Map<string, number> }>();
  STATIC_TABLE.forEach(([name, value], position) => {
    const index = position + 1;
    const known = names.get(name);
    if (known === undefined) names.set(name, { index, values: new Map([[value, index]]) });
    else known.values.set(value, index);
  });
  return names;
}

/** A table as plain data that survives structured clone: what it costs there stays below `maxBytes` plus some bytes. */
export interface TableSnapshot {
  readonly maxBytes: number;
  /** Oldest first. */
  readonly entries: readonly HeaderField[];
}

/** Told of each change; `position` counts insertions since the table was made, from 0. */
interface TableObserver {
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
