import type { BlockWriter } from "./block-writer.ts";
import { compressionError } from "./compression-error.ts";

/**
 * Largest integer that is written or accepted. RFC 7541 section 5.1 asks for such a limit in value and in octets;
 * nothing in a block or in settings comes near this one.
 */
export const MAX_INTEGER = 2 ** 31 - 1;

/** Octets after the prefix that `MAX_INTEGER` needs; longer encodings are padded with zeros and refused. */
const MAX_CONTINUATION_OCTETS = 5;

/** A place in a block. Whoever reads moves `offset` on. */
export interface BlockCursor {
  readonly bytes: Uint8Array;
  offset: number;
}

/**
 * Writes `value` with a prefix of `prefixBits` (1 to 8) bits (RFC 7541 section 5.1).
 * `pattern` holds the bits before the prefix, in place.
 */
export function writeInteger(writer: BlockWriter, pattern: number, prefixBits: number, value: number): void {
  writer.reserve(1 + MAX_CONTINUATION_OCTETS);
  const bytes = writer.bytes;
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) {
    bytes[writer.length++] = pattern | value;
    return;
  }
  bytes[writer.length++] = pattern | prefixMax;
  let rest = value - prefixMax;
  while (rest >= 0x80) {
    bytes[writer.length++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[writer.length++] = rest;
}

/**
 * Reads an integer with a prefix of `prefixBits` (1 to 8) bits at the cursor (RFC 7541 section 5.1).
 * @throws RopewayError COMPRESSION_ERROR if it ends after the block, exceeds `MAX_INTEGER` or has needless octets.
 */
export function readInteger(cursor: BlockCursor, prefixBits: number): number {
  const prefixMax = (1 << prefixBits) - 1;
  const first = cursor.bytes[cursor.offset];
  if (first === undefined) throw compressionError("it ends before an integer");
  cursor.offset++;
  let value = first & prefixMax;
  if (value < prefixMax) return value;
  let scale = 1;
  for (let octets = 0; octets < MAX_CONTINUATION_OCTETS; octets++) {
    const octet = cursor.bytes[cursor.offset];
    if (octet === undefined) throw compressionError("it ends inside an integer");
    cursor.offset++;
    value += (octet & 0x7f) * scale;
    if (value > MAX_INTEGER) throw compressionError(`an integer exceeds ${MAX_INTEGER}`);
    if (octet < 0x80) return value;
    scale *= 0x80;
  }
  throw compressionError(`an integer is longer than ${MAX_CONTINUATION_OCTETS} octets after its prefix`);
}
