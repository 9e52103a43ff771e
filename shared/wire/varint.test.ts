import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { varint } from "../testing/wire/arbitrary-frames.ts";
import { naiveVarint } from "../testing/wire/naive-codec.ts";
import { ByteReader, varintLength, writeVarint } from "./frame.ts";

function write(value: number): number[] {
  const bytes = new Uint8Array(varintLength(value));
  expect(writeVarint(bytes, 0, value)).toBe(bytes.length);
  return [...bytes];
}

function read(...bytes: readonly number[]): number {
  return new ByteReader(Uint8Array.from(bytes)).varint();
}

describe("RFC 9000 appendix A.1", () => {
  test.each([
    [[0x25], 37],
    [[0x7b, 0xbd], 15_293],
    [[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333],
  ])("%j is %d", (bytes, value) => {
    expect(read(...bytes)).toBe(value);
    expect(write(value)).toEqual(bytes);
  });

  test("an integer may be longer than it needs to be", () => {
    expect(read(0x40, 0x25)).toBe(37);
    expect(read(0xc0, 0, 0, 0, 0, 0, 0, 0)).toBe(0);
  });

  test("151,288,809,941,952,652 is above what a number holds, and refused", () => {
    const error = thrownBy(() => read(0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c));
    expect(error).toMatchObject({ code: ErrorCode.FRAME_SIZE_ERROR, scope: "session", initiator: "peer" });
  });
});

test("2^53 - 1 is read and 2^53 is not", () => {
  expect(read(0xc0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => read(0xc0, 0x20, 0, 0, 0, 0, 0, 0)).toThrow(RopewayError);
  expect(() => read(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)).toThrow(RopewayError);
});

test("any integer is written as the naive twin writes it, and comes back", () => {
  fc.assert(
    fc.property(varint, (value) => {
      const bytes = write(value);
      expect(bytes).toEqual(naiveVarint(value));
      expect(read(...bytes)).toBe(value);
    }),
  );
});

test("an integer that is cut off is refused at every length", () => {
  fc.assert(
    fc.property(varint, (value) => {
      const bytes = write(value);
      for (let length = 0; length < bytes.length; length += 1) {
        expect(thrownBy(() => read(...bytes.slice(0, length)))).toBeInstanceOf(RopewayError);
      }
    }),
  );
});

test("a reader never moves past the end", () => {
  const reader = new ByteReader(Uint8Array.of(1, 2, 3));
  expect([...reader.take(2)]).toEqual([1, 2]);
  expect(() => reader.take(2)).toThrow("Cannot read 2 bytes: the message ends before it");
  expect(reader.remaining).toBe(1);
  expect(reader.byte()).toBe(3);
  expect(() => reader.byte()).toThrow(RopewayError);
});
