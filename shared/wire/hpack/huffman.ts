import type { BlockWriter } from "./block-writer.ts";
import { bytesToByteString } from "./byte-string.ts";
import { compressionError } from "./compression-error.ts";
import { EOS, HUFFMAN_CODES, HUFFMAN_LENGTHS } from "./huffman-table.ts";

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
