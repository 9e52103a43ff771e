import { bytesToByteString } from "../../base-encodings.ts";
import { ErrorCode, RopewayError } from "../../errors.ts";

/** The peer sent a block that cannot be decoded: both tables are out of step, so the session ends (RFC 9113 4.3). */
export function compressionError(reason: string): RopewayError {
  return new RopewayError(
    ErrorCode.COMPRESSION_ERROR,
    "session",
    "peer",
    `Cannot decode HPACK header block: ${reason}`,
  );
}

const INITIAL_BYTES = 1024;
/** A buffer that one unusual block made larger than this is not kept. */
const KEPT_BYTES = 64 * 1024;

/** A growing buffer that is used again for the next block. */
export class BlockWriter {
  /** Valid up to `length`; replaced by `reserve`, so never hold on to it. */
  bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Starts over, dropping what was written. */
  reset(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = new Uint8Array(INITIAL_BYTES);
  }

  /** A copy of what was written. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}

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

/** Number of the symbol that ends a string; it never stands in one (RFC 7541 section 5.2). */
export const EOS = 256;

/**
 * Code length in bits of each octet, then of EOS (RFC 7541 appendix B). The code is canonical, so the lengths say all:
 * codes are numbered upwards by length, then by symbol.
 */
// biome-ignore format: sixteen to a line, so that row and column are the octet's hexadecimal digits
export const HUFFMAN_LENGTHS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

/** The code of each symbol, right-aligned in its `HUFFMAN_LENGTHS` bits. */
export const HUFFMAN_CODES: Uint32Array = canonicalCodes(HUFFMAN_LENGTHS);

function canonicalCodes(lengths: readonly number[]): Uint32Array {
  const codes = new Uint32Array(lengths.length);
  const longest = Math.max(...lengths);
  let next = 0;
  for (let length = 1; length <= longest; length++) {
    next <<= 1;
    lengths.forEach((candidate, symbol) => {
      if (candidate === length) codes[symbol] = next++;
    });
  }
  return codes;
}

const LENGTHS = Uint8Array.from(HUFFMAN_LENGTHS);
const SHORTEST_CODE_BITS = 5;
const MAX_PADDING_BITS = 7;

/** Bits of one step through the decoding table: fewer than the shortest code, so a step ends at most one symbol. */
const STEP_BITS = 4;
/** A step is `next state | symbol << 8 | flags`; every code tree of 257 leaves has 256 inner nodes, the states. */
const SYMBOL_SHIFT = 8;
const HAS_SYMBOL = 1 << 16;
const HAS_EOS = 1 << 17;

/** Octets that `text`, a byte string, takes in Huffman coding (RFC 7541 section 5.2), padding included. */
export function huffmanBytes(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += LENGTHS[text.charCodeAt(i)] as number;
  return (bits + 7) >>> 3;
}

/** Writes `text`, a byte string, in Huffman coding. The caller has reserved `huffmanBytes(text)`. */
export function writeHuffman(writer: BlockWriter, text: string): void {
  const bytes = writer.bytes;
  let at = writer.length;
  let pending = 0;
  let pendingBits = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i);
    const code = HUFFMAN_CODES[symbol] as number;
    let bits = LENGTHS[symbol] as number;
    // Up to 7 bits wait and a code has up to 28: in two parts they fit the 32 bits of a shift.
    if (bits > 16) {
      bits -= 16;
      pending = (pending << bits) | (code >>> 16);
      pendingBits += bits;
      while (pendingBits >= 8) {
        pendingBits -= 8;
        bytes[at++] = pending >>> pendingBits;
      }
      bits = 16;
    }
    pending = (pending << bits) | (code & ((1 << bits) - 1));
    pendingBits += bits;
    while (pendingBits >= 8) {
      pendingBits -= 8;
      bytes[at++] = pending >>> pendingBits;
    }
  }
  if (pendingBits > 0) {
    const padding = 8 - pendingBits;
    bytes[at++] = (pending << padding) | ((1 << padding) - 1);
  }
  writer.length = at;
}

interface DecodingTable {
  /** Indexed by `state << STEP_BITS | next bits`. */
  readonly steps: Uint32Array;
  /** 1 for each state in which a string may end: its bits since the last symbol are valid padding. */
  readonly mayEnd: Uint8Array;
}

const decoding = buildDecodingTable();
/** Where decoded symbols are gathered; longer strings get an array of their own. */
const scratch = new Uint8Array(1024);

/**
 * Decodes `bytes[start..end)` to a byte string.
 * @throws RopewayError COMPRESSION_ERROR on EOS, on padding longer than 7 bits or not of ones (RFC 7541 section 5.2).
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string {
  const mostSymbols = Math.floor(((end - start) * 8) / SHORTEST_CODE_BITS);
  const symbols = mostSymbols <= scratch.length ? scratch : new Uint8Array(mostSymbols);
  const { steps, mayEnd } = decoding;
  let count = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const octet = bytes[at] as number;
    const high = steps[(state << STEP_BITS) | (octet >>> STEP_BITS)] as number;
    if (high & HAS_SYMBOL) symbols[count++] = high >>> SYMBOL_SHIFT;
    const low = steps[((high & 0xff) << STEP_BITS) | (octet & 0x0f)] as number;
    if (low & HAS_SYMBOL) symbols[count++] = low >>> SYMBOL_SHIFT;
    if ((high | low) & HAS_EOS) throw compressionError("a Huffman string contains EOS");
    state = low & 0xff;
  }
  if (mayEnd[state] === 0) throw compressionError("a Huffman string does not end in up to 7 bits of EOS as padding");
  return bytesToByteString(symbols, 0, count);
}

/** An inner node's children: a non-negative number is another inner node, a negative one `~symbol`. */
type CodeTree = Array<[zero: number, one: number]>;

function buildCodeTree(): CodeTree {
  const tree: CodeTree = [[0, 0]];
  HUFFMAN_LENGTHS.forEach((length, symbol) => {
    const code = HUFFMAN_CODES[symbol] as number;
    let node = tree[0] as CodeTree[number];
    for (let shift = length - 1; shift > 0; shift--) {
      const bit = ((code >>> shift) & 1) as 0 | 1;
      if (node[bit] === 0) {
        node[bit] = tree.length;
        tree.push([0, 0]);
      }
      node = tree[node[bit]] as CodeTree[number];
    }
    node[(code & 1) as 0 | 1] = ~symbol;
  });
  return tree;
}

function buildDecodingTable(): DecodingTable {
  const tree = buildCodeTree();
  const steps = new Uint32Array(tree.length << STEP_BITS);
  for (let index = 0; index < steps.length; index++) {
    let state = index >>> STEP_BITS;
    let flags = 0;
    for (let shift = STEP_BITS - 1; shift >= 0; shift--) {
      const child = (tree[state] as CodeTree[number])[((index >>> shift) & 1) as 0 | 1];
      if (child < 0) flags |= ~child === EOS ? HAS_EOS : HAS_SYMBOL | (~child << SYMBOL_SHIFT);
      state = Math.max(child, 0);
    }
    steps[index] = flags | state;
  }
  const mayEnd = new Uint8Array(tree.length);
  for (let bits = 0, state = 0; bits <= MAX_PADDING_BITS; bits++) {
    mayEnd[state] = 1;
    state = (tree[state] as CodeTree[number])[1];
  }
  return { steps, mayEnd };
}
