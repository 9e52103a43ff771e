import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import { BlockWriter, MAX_INTEGER, readInteger, writeInteger } from "./primitives.ts";

function write(pattern: number, prefixBits: number, value: number): number[] {
  const writer = new BlockWriter();
  writeInteger(writer, pattern, prefixBits, value);
  return [...writer.copy()];
}

function read(octets: readonly number[], prefixBits: number): number {
  return readInteger({ bytes: Uint8Array.from(octets), offset: 0 }, prefixBits);
}

describe("RFC 7541 appendix C.1", () => {
  test.each([
    { section: "C.1.1", value: 10, prefixBits: 5, octets: [0b01010] },
    { section: "C.1.2", value: 1337, prefixBits: 5, octets: [0b11111, 0b10011010, 0b00001010] },
    { section: "C.1.3", value: 42, prefixBits: 8, octets: [0b00101010] },
  ])("$section: $value with a $prefixBits-bit prefix", ({ value, prefixBits, octets }) => {
    expect(write(0, prefixBits, value)).toEqual(octets);
    expect(read(octets, prefixBits)).toBe(value);
  });
});

test("every integer up to the limit comes back, whatever stands before the prefix", () => {
  const sizes = fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: MAX_INTEGER }));
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 8 }), fc.nat(255), (value, prefixBits, noise) => {
      const pattern = noise & ~((1 << prefixBits) - 1) & 0xff;
      const octets = write(pattern, prefixBits, value);
      expect((octets[0] as number) & pattern).toBe(pattern);
      const cursor = { bytes: Uint8Array.from([...octets, 0xff]), offset: 0 };
      expect(readInteger(cursor, prefixBits)).toBe(value);
      expect(cursor.offset).toBe(octets.length);
    }),
  );
});

test("the largest integer is accepted, one more is refused", () => {
  expect(read(write(0, 5, MAX_INTEGER), 5)).toBe(MAX_INTEGER);
  const octets = write(0, 5, MAX_INTEGER);
  octets[1] = (octets[1] as number) + 1;
  expect(() => read(octets, 5)).toThrow(/exceeds 2147483647/);
});

test.each([
  { what: "nothing", octets: [], reason: /ends before an integer/ },
  { what: "a prefix that promises more", octets: [0x1f], reason: /ends inside an integer/ },
  { what: "a continuation that promises more", octets: [0x1f, 0x9a], reason: /ends inside an integer/ },
  { what: "zeros as padding", octets: [0x1f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], reason: /longer than 5 octets/ },
  { what: "more than 32 bits", octets: [0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], reason: /exceeds 2147483647/ },
])("refuses $what", ({ octets, reason }) => {
  expect(() => read(octets, 5)).toThrow(reason);
  expect(() => read(octets, 5)).toThrow(
    expect.objectContaining({ code: ErrorCode.COMPRESSION_ERROR, scope: "session", initiator: "peer" }),
  );
});
