import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import {
  BlockWriter,
  decodeHuffman,
  EOS,
  HUFFMAN_CODES,
  HUFFMAN_LENGTHS,
  huffmanBytes,
  writeHuffman,
} from "./primitives.ts";

/** The naive twin: strings of "0" and "1", one symbol at a time, as RFC 7541 section 5.2 reads. */
const BIT_STRINGS = HUFFMAN_LENGTHS.map((length, symbol) =>
  (HUFFMAN_CODES[symbol] as number).toString(2).padStart(length, "0"),
);
const SYMBOLS = new Map(BIT_STRINGS.map((bits, symbol) => [bits, symbol]));

function bitsToBytes(bits: string): Uint8Array {
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (octet) => Number.parseInt(octet, 2));
}

function naiveEncode(text: string): Uint8Array {
  const bits = Array.from(text, (char) => BIT_STRINGS[char.charCodeAt(0)]).join("");
  return bitsToBytes(bits.padEnd(Math.ceil(bits.length / 8) * 8, "1"));
}

/** The text, or undefined for input that the RFC calls a decoding error. */
function naiveDecode(bytes: Uint8Array): string | undefined {
  let text = "";
  let code = "";
  for (const bit of Array.from(bytes, (octet) => octet.toString(2).padStart(8, "0")).join("")) {
    code += bit;
    const symbol = SYMBOLS.get(code);
    if (symbol === EOS) return undefined;
    if (symbol === undefined) continue;
    text += String.fromCharCode(symbol);
    code = "";
  }
  return code.length <= 7 && !code.includes("0") ? text : undefined;
}

function encode(text: string): Uint8Array {
  const writer = new BlockWriter();
  writer.reserve(huffmanBytes(text));
  writeHuffman(writer, text);
  return writer.copy();
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decodeHuffman(bytes, 0, bytes.length);
  } catch (error) {
    if (error instanceof RopewayError && error.code === ErrorCode.COMPRESSION_ERROR) return undefined;
    throw error;
  }
}

const octets = fc.uint8Array({ maxLength: 200 });
const byteString = octets.map((bytes) => String.fromCharCode(...bytes));
const fieldText = fc.oneof(byteString, fc.string({ unit: "grapheme-ascii", maxLength: 200 }));

describe("against the naive twin", () => {
  test("encodes alike, and in as many octets as announced", () => {
    fc.assert(
      fc.property(fieldText, (text) => {
        const bytes = encode(text);
        expect(bytes).toEqual(naiveEncode(text));
        expect(bytes).toHaveLength(huffmanBytes(text));
        expect(decode(bytes)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test("decodes arbitrary octets alike, errors included", () => {
    // Runs of ones make long codes, EOS and padding likely.
    const manyOnes = fc
      .array(fc.oneof(fc.constant(0xff), fc.nat(255)), { maxLength: 40 })
      .map((a) => Uint8Array.from(a));
    fc.assert(
      fc.property(fc.oneof(octets, manyOnes), (bytes) => {
        expect(decode(bytes)).toBe(naiveDecode(bytes));
      }),
      { numRuns: 3000 },
    );
  });

  test("each octet alone, and each pair of neighbours in the table", () => {
    for (let symbol = 0; symbol < 256; symbol++) {
      for (const text of [String.fromCharCode(symbol), String.fromCharCode(symbol, (symbol + 1) & 0xff)]) {
        expect(encode(text)).toEqual(naiveEncode(text));
        expect(decode(encode(text))).toBe(text);
      }
    }
  });
});

test("a string longer than any buffer that is kept comes back", () => {
  const text = "0123456789 é ÿ".repeat(10_000);
  expect(decode(encode(text))).toBe(text);
});

describe("refuses (RFC 7541 section 5.2)", () => {
  test.each([
    { what: "padding of eight ones", bits: `${"00000"}111${"1".repeat(8)}`, reason: /up to 7 bits of EOS/ },
    { what: "padding of zeros", bits: "00011000", reason: /up to 7 bits of EOS/ },
    { what: "an octet of ones alone", bits: "11111111", reason: /up to 7 bits of EOS/ },
    { what: "EOS", bits: "1".repeat(32), reason: /contains EOS/ },
    { what: "EOS between symbols", bits: `00011${"1".repeat(30)}00011`, reason: /contains EOS/ },
  ])("$what", ({ bits, reason }) => {
    const bytes = bitsToBytes(bits);
    expect(() => decodeHuffman(bytes, 0, bytes.length)).toThrow(reason);
  });
});
