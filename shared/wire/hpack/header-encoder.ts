import { toByteString } from "../../base-encodings.ts";
import { type EncodableField, fieldBytes, type Indexing } from "../frame.ts";
import { BlockWriter, huffmanBytes, writeHuffman, writeInteger } from "./primitives.ts";
import {
  assertTableBytes,
  DynamicTable,
  STATIC_NAMES,
  STATIC_TABLE,
  TableIndex,
  type TableSnapshot,
} from "./tables.ts";

/**
 * Decides how a field line that no table holds is represented. Pure: same arguments, same answer. `tableBytes` is the
 * current maximum of the dynamic table.
 */
type IndexingPolicy = (name: string, value: string, tableBytes: number) => Indexing;

/** Secrets: in a table their octets could be guessed one field at a time (RFC 7541 section 7.1.3). */
const SECRET: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie"]);

/** Values that are new each time: in the table they would only push out what recurs. */
const SINGULAR: ReadonlySet<string> = new Set([
  ":path",
  "age",
  "cf-ray",
  "content-digest",
  "content-disposition",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "digest",
  "etag",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "location",
  "range",
  "repr-digest",
  "server-timing",
  "traceparent",
  "x-amz-cf-id",
  "x-amz-id-2",
  "x-amz-request-id",
  "x-request-id",
  "x-trace-id",
]);

/**
 * The default policy: "never" for secrets; "without" for values that do not recur and for lines over half the table,
 * which would evict most of it; "incremental" for the rest. `date`, `expires` and `last-modified` are among the rest:
 * the responses of one page share them.
 */
export const defaultIndexing: IndexingPolicy = (name, value, tableBytes) => {
  const key = name.toLowerCase();
  if (SECRET.has(key)) return "never";
  if (SINGULAR.has(key) || fieldBytes(name, value) > tableBytes / 2) return "without";
  return "incremental";
};

/** A line that is not to be indexed is all the same, up to so many bytes, where no table has its name: it recurs with others. */
const NAMING_BYTES = 128;

interface HpackEncoderOptions {
  /** The table's first maximum, in bytes, known to both sides; the peer's settings may lower it, never exceed it. */
  readonly maxTableBytes: number;
  /** How lines that no table holds are represented. Default: `defaultIndexing`. */
  readonly indexing?: IndexingPolicy;
  /** Huffman coding wherever it is not longer than the plain octets. Default: true. */
  readonly huffman?: boolean;
}

/** An encoder's state as plain data for structured clone. */
export interface HpackEncoderSnapshot {
  readonly table: TableSnapshot;
  /** Maximum that the peer's decoder was last told, in bytes. */
  readonly signaledBytes: number;
  /** Lowest maximum since the last block, in bytes. */
  readonly lowestBytes: number;
}

/**
 * Encodes header blocks of one direction of one session (RFC 7541). Blocks must reach the decoder in the order in which
 * they were encoded, each exactly once. An own policy must not throw: it would leave the table ahead of the peer's.
 */
export class HpackEncoder {
  readonly #ceilingBytes: number;
  readonly #indexing: IndexingPolicy;
  readonly #huffman: boolean;
  readonly #writer = new BlockWriter();
  readonly #index = new TableIndex();
  #table: DynamicTable;
  #signaledBytes: number;
  #lowestBytes: number;

  constructor(options: HpackEncoderOptions) {
    assertTableBytes(options.maxTableBytes);
    this.#ceilingBytes = options.maxTableBytes;
    this.#indexing = options.indexing ?? defaultIndexing;
    this.#huffman = options.huffman ?? true;
    this.#table = new DynamicTable(options.maxTableBytes, this.#index);
    this.#signaledBytes = options.maxTableBytes;
    this.#lowestBytes = options.maxTableBytes;
  }

  /** An encoder that goes on where `snapshot` was taken. `options` are those of the constructor. */
  static restore(snapshot: HpackEncoderSnapshot, options: HpackEncoderOptions): HpackEncoder {
    const encoder = new HpackEncoder(options);
    encoder.#table = DynamicTable.restore(snapshot.table, encoder.#index);
    encoder.#signaledBytes = snapshot.signaledBytes;
    encoder.#lowestBytes = snapshot.lowestBytes;
    return encoder;
  }

  /** The state between two blocks. Shares the entries with the table; they are immutable. */
  snapshot(): HpackEncoderSnapshot {
    return { table: this.#table.snapshot(), signaledBytes: this.#signaledBytes, lowestBytes: this.#lowestBytes };
  }

  /**
   * Takes over the peer's limit for the table, in bytes; at most the constructor's is used. The next block starts with
   * the updates that tell the peer (RFC 7541 section 4.2).
   * @throws RopewayError INTERNAL_ERROR if `maxTableBytes` is not an integer from 0 to 2^31-1.
   */
  setMaxTableBytes(maxTableBytes: number): void {
    assertTableBytes(maxTableBytes);
    const bytes = Math.min(maxTableBytes, this.#ceilingBytes);
    this.#table.setMaxBytes(bytes);
    this.#lowestBytes = Math.min(this.#lowestBytes, bytes);
  }

  /**
   * One header block. It has at most as many bytes as `fieldBytes` counts for its lines (as byte strings), plus 12. A
   * caller with a limit checks before it encodes: a block that was encoded and not sent leaves the peer's table behind.
   */
  encode(fields: readonly EncodableField[]): Uint8Array<ArrayBuffer> {
    this.#writer.reset();
    this.#writeSizeUpdates();
    for (const field of fields) this.#writeField(field);
    return this.#writer.copy();
  }

  #writeSizeUpdates(): void {
    const final = this.#table.maxBytes;
    const lowest = this.#lowestBytes;
    if (lowest < this.#signaledBytes && lowest < final) {
      writeInteger(this.#writer, 0x20, 5, lowest);
      writeInteger(this.#writer, 0x20, 5, final);
    } else if (final !== this.#signaledBytes) {
      writeInteger(this.#writer, 0x20, 5, final);
    }
    this.#signaledBytes = final;
    this.#lowestBytes = final;
  }

  #writeField(field: EncodableField): void {
    const name = toByteString(field[0]);
    const value = toByteString(field[1]);
    const wanted = field[2] ?? this.#indexing(name, value, this.#table.maxBytes);
    const staticName = STATIC_NAMES.get(name);
    if (wanted !== "never") {
      const index = staticName?.values.get(value) ?? this.#toIndex(this.#index.find(name, value));
      if (index !== undefined) {
        writeInteger(this.#writer, 0x80, 7, index);
        return;
      }
    }
    const nameIndex = staticName?.index ?? this.#toIndex(this.#index.findName(name)) ?? 0;
    const isOpen = field[2] === undefined && wanted === "without";
    const bringsName = isOpen && nameIndex === 0 && fieldBytes(name, value) <= NAMING_BYTES;
    const indexing = bringsName ? "incremental" : wanted;
    if (indexing === "incremental") writeInteger(this.#writer, 0x40, 6, nameIndex);
    else writeInteger(this.#writer, indexing === "never" ? 0x10 : 0x00, 4, nameIndex);
    if (nameIndex === 0) this.#writeString(name);
    this.#writeString(value);
    if (indexing === "incremental") this.#table.add([name, value]);
  }

  /** The index on the wire of the entry at `position` of the dynamic table (RFC 7541 section 2.3.3). */
  #toIndex(position: number | undefined): number | undefined {
    return position === undefined ? undefined : STATIC_TABLE.length + this.#table.inserted - position;
  }

  #writeString(text: string): void {
    const writer = this.#writer;
    if (this.#huffman && text.length > 0) {
      const coded = huffmanBytes(text);
      if (coded <= text.length) {
        writeInteger(writer, 0x80, 7, coded);
        writer.reserve(coded);
        writeHuffman(writer, text);
        return;
      }
    }
    writeInteger(writer, 0x00, 7, text.length);
    writer.reserve(text.length);
    for (let i = 0; i < text.length; i++) writer.bytes[writer.length++] = text.charCodeAt(i);
  }
}
