/**
 * Variable-length integers of RFC 9000 section 16: the two top bits of the first byte say whether 1, 2, 4 or 8 bytes
 * follow. PROTOCOL.md section 2. Values above 2^53 - 1 are refused, since a number cannot hold them.
 */
import { ErrorCode, RopewayError } from "../errors.ts";

/** Largest value that fits the given count of bytes, by encoding. */
const MAX_1 = 0x3f;
const MAX_2 = 0x3fff;
const MAX_4 = 0x3fffffff;

/** How many bytes `value` takes: 1, 2, 4 or 8. */
export function varintLength(value: number): 1 | 2 | 4 | 8 {
  if (value <= MAX_1) return 1;
  if (value <= MAX_2) return 2;
  if (value <= MAX_4) return 4;
  return 8;
}

/**
 * Writes `value`, a non-negative safe integer, at `offset` in its shortest form.
 *
 * @returns the offset after it.
 */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  switch (varintLength(value)) {
    case 1:
      target[offset] = value;
      return offset + 1;
    case 2:
      target[offset] = 0x40 | (value >>> 8);
      target[offset + 1] = value & 0xff;
      return offset + 2;
    case 4:
      target[offset] = 0x80 | (value >>> 24);
      target[offset + 1] = (value >>> 16) & 0xff;
      target[offset + 2] = (value >>> 8) & 0xff;
      target[offset + 3] = value & 0xff;
      return offset + 4;
    case 8: {
      const high = Math.floor(value / 2 ** 32);
      const low = value >>> 0;
      target[offset] = 0xc0 | (high >>> 24);
      target[offset + 1] = (high >>> 16) & 0xff;
      target[offset + 2] = (high >>> 8) & 0xff;
      target[offset + 3] = high & 0xff;
      target[offset + 4] = low >>> 24;
      target[offset + 5] = (low >>> 16) & 0xff;
      target[offset + 6] = (low >>> 8) & 0xff;
      target[offset + 7] = low & 0xff;
      return offset + 8;
    }
  }
}

/** A position in received bytes that only moves forward, and never past the end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get remaining(): number {
    return this.bytes.length - this.offset;
  }

  /** @throws RopewayError FRAME_SIZE_ERROR when nothing is left. */
  byte(): number {
    const value = this.bytes[this.offset];
    if (value === undefined) throw truncated("a byte");
    this.offset += 1;
    return value;
  }

  /** @throws RopewayError FRAME_SIZE_ERROR when the integer is cut off or above 2^53 - 1. */
  varint(): number {
    const first = this.byte();
    const length = 1 << (first >>> 6);
    if (this.remaining < length - 1) throw truncated("an integer");
    let value = first & 0x3f;
    for (let index = 1; index < length; index += 1) {
      value = value * 256 + (this.bytes[this.offset] ?? 0);
      this.offset += 1;
    }
    if (!Number.isSafeInteger(value)) {
      throw new RopewayError(
        ErrorCode.FRAME_SIZE_ERROR,
        "session",
        "peer",
        "Cannot read an integer: it is above 2^53 - 1",
      );
    }
    return value;
  }

  /** A view of the next `length` bytes; not a copy. @throws RopewayError FRAME_SIZE_ERROR when fewer are left. */
  take(length: number): Uint8Array {
    if (length > this.remaining) throw truncated(`${length} bytes`);
    const view = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return view;
  }
}

function truncated(what: string): RopewayError {
  return new RopewayError(
    ErrorCode.FRAME_SIZE_ERROR,
    "session",
    "peer",
    `Cannot read ${what}: the message ends before it`,
  );
}
