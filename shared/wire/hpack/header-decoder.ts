import { bytesToByteString } from "../../base-encodings.ts";
import { ErrorCode, RopewayError } from "../../errors.ts";
import { fieldBytes, type HeaderField } from "../frame.ts";
import { type BlockCursor, compressionError, decodeHuffman, readInteger } from "./primitives.ts";
import { assertTableBytes, DynamicTable, STATIC_TABLE, type TableSnapshot } from "./tables.ts";

interface HpackDecoderLimits {
  /** Decoded size of one block's list, in bytes (RFC 9113 section 6.5.2: name + value + 32 for each line). */
  readonly maxListBytes: number;
  /** Field lines of one block. */
  readonly maxFields: number;
}

interface HpackDecoderOptions extends HpackDecoderLimits {
  /** The table's first maximum, in bytes, known to both sides. */
  readonly maxTableBytes: number;
}

/** A decoder's state as plain data for structured clone. */
export interface HpackDecoderSnapshot {
  readonly table: TableSnapshot;
  /** The limit of this side, in bytes. */
  readonly allowedBytes: number;
  /** Lowest that this side allowed since the last block, in bytes. */
  readonly lowestBytes: number;
}

/** The smallest and the final size of an interval (RFC 7541 section 4.2). */
const MAX_SIZE_UPDATES = 2;

/**
 * Decodes header blocks of one direction of one session (RFC 7541), in the order in which they were encoded.
 * After a COMPRESSION_ERROR the table is out of step and the decoder must not be used again.
 */
export class HpackDecoder {
  readonly #limits: HpackDecoderLimits;
  #table: DynamicTable;
  #allowedBytes: number;
  #lowestBytes: number;

  constructor(options: HpackDecoderOptions) {
    assertTableBytes(options.maxTableBytes);
    this.#limits = options;
    this.#table = new DynamicTable(options.maxTableBytes);
    this.#allowedBytes = options.maxTableBytes;
    this.#lowestBytes = options.maxTableBytes;
  }

  /** A decoder that goes on where `snapshot` was taken; the table's limits come from there. */
  static restore(snapshot: HpackDecoderSnapshot, limits: HpackDecoderLimits): HpackDecoder {
    const decoder = new HpackDecoder({ ...limits, maxTableBytes: snapshot.allowedBytes });
    decoder.#table = DynamicTable.restore(snapshot.table);
    decoder.#lowestBytes = snapshot.lowestBytes;
    return decoder;
  }

  /** The state between two blocks. Shares the entries with the table; they are immutable. */
  snapshot(): HpackDecoderSnapshot {
    return { table: this.#table.snapshot(), allowedBytes: this.#allowedBytes, lowestBytes: this.#lowestBytes };
  }

  /**
   * Changes what this side allows, in bytes. Call it when the peer has acknowledged the setting, between the blocks it
   * sent before and after that. After a reduction below the table's size the next block must start with an update
   * (RFC 9113 section 4.3.1).
   * @throws RopewayError INTERNAL_ERROR if `maxTableBytes` is not an integer from 0 to 2^31-1.
   */
  setMaxTableBytes(maxTableBytes: number): void {
    assertTableBytes(maxTableBytes);
    this.#allowedBytes = maxTableBytes;
    this.#lowestBytes = Math.min(this.#lowestBytes, maxTableBytes);
  }

  /**
   * The field lines of one block.
   * @throws RopewayError COMPRESSION_ERROR, scope "session", if the block is malformed.
   * @throws RopewayError ENHANCE_YOUR_CALM, scope "stream", if the list exceeds a limit. The block was processed to its
   * end without keeping the surplus, so the table is in step and the next block decodes.
   */
  decode(block: Uint8Array): HeaderField[] {
    const cursor: BlockCursor = { bytes: block, offset: 0 };
    this.#readSizeUpdates(cursor);
    const { maxListBytes, maxFields } = this.#limits;
    const fields: HeaderField[] = [];
    let listBytes = 0;
    let count = 0;
    while (cursor.offset < block.length) {
      const field = this.#readField(cursor, block[cursor.offset] as number);
      count++;
      listBytes += fieldBytes(field[0], field[1]);
      if (count <= maxFields && listBytes <= maxListBytes) fields.push(field);
    }
    if (count > maxFields) throw limitError(`${count} field lines exceed the limit of ${maxFields}`);
    if (listBytes > maxListBytes) throw limitError(`${listBytes} decoded bytes exceed the limit of ${maxListBytes}`);
    return fields;
  }

  #readSizeUpdates(cursor: BlockCursor): void {
    const { bytes } = cursor;
    const required = this.#lowestBytes < this.#table.maxBytes;
    let updates = 0;
    while (((bytes[cursor.offset] ?? 0) & 0xe0) === 0x20) {
      if (++updates > MAX_SIZE_UPDATES) throw compressionError("more than two table size updates");
      const size = readInteger(cursor, 5);
      const most = required && updates === 1 ? this.#lowestBytes : this.#allowedBytes;
      if (size > most) throw compressionError(`table size update to ${size} exceeds the limit of ${most}`);
      this.#table.setMaxBytes(size);
    }
    if (required && updates === 0) throw compressionError("it does not start with the required table size update");
    this.#lowestBytes = this.#allowedBytes;
  }

  #readField(cursor: BlockCursor, first: number): HeaderField {
    if (first & 0x80) return this.#entryAt(readInteger(cursor, 7));
    if (first & 0x40) {
      const field = this.#readLiteral(cursor, 6);
      this.#table.add(field);
      return field;
    }
    if (first & 0x20) throw compressionError("a table size update follows a field line");
    return this.#readLiteral(cursor, 4);
  }

  #readLiteral(cursor: BlockCursor, prefixBits: number): HeaderField {
    const nameIndex = readInteger(cursor, prefixBits);
    const name = nameIndex === 0 ? readString(cursor) : this.#entryAt(nameIndex)[0];
    return [name, readString(cursor)];
  }

  #entryAt(index: number): HeaderField {
    const entry =
      index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table.get(index - STATIC_TABLE.length - 1);
    if (entry === undefined) {
      throw compressionError(`index ${index} is not in the tables of ${STATIC_TABLE.length} + ${this.#table.length}`);
    }
    return entry;
  }
}

/** A string literal (RFC 7541 section 5.2). Its length is checked against the block before anything is made of it. */
function readString(cursor: BlockCursor): string {
  const { bytes } = cursor;
  const isHuffman = ((bytes[cursor.offset] ?? 0) & 0x80) !== 0;
  const length = readInteger(cursor, 7);
  const start = cursor.offset;
  const end = start + length;
  if (end > bytes.length) {
    throw compressionError(`a string of ${length} octets is declared where ${bytes.length - start} are left`);
  }
  cursor.offset = end;
  return isHuffman ? decodeHuffman(bytes, start, end) : bytesToByteString(bytes, start, end);
}

function limitError(reason: string): RopewayError {
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", `Cannot accept header list: ${reason}`);
}
