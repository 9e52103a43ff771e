import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { concat } from "../wire/frame.ts";
import { encodeRecord, type FetchRecord, RecordDecoder } from "./record.ts";

const record: fc.Arbitrary<FetchRecord> = fc.oneof(
  fc.string({ maxLength: 20 }).map((protocol) => ({ type: "open", protocol }) as const),
  fc.string({ maxLength: 20 }).map((text) => ({ type: "text", text }) as const),
  fc.uint8Array({ maxLength: 20_000 }).map((message) => ({ type: "binary", message }) as const),
  fc
    .record({ code: fc.nat(0xffff), reason: fc.string({ maxLength: 100 }) })
    .map(({ code, reason }) => ({ type: "close", code, reason }) as const),
);

test("the examples of PROTOCOL.md section 1.4", () => {
  const examples: [FetchRecord, number[]][] = [
    [{ type: "open", protocol: "ropeway.2" }, [0x00, 9, ...new TextEncoder().encode("ropeway.2")]],
    [{ type: "binary", message: Uint8Array.of(0xa0, 0, 1, 9) }, [0x02, 4, 0xa0, 0, 1, 9]],
    [{ type: "close", code: 4001, reason: "x" }, [0x08, 3, 0x0f, 0xa1, 0x78]],
  ];
  for (const [example, bytes] of examples) {
    expect([...encodeRecord(example)]).toEqual(bytes);
    expect([...new RecordDecoder().push(Uint8Array.from(bytes))]).toEqual([example]);
  }
});

test("records come back however their bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
      (records, cuts) => {
        const bytes = concat(...records.map((each) => encodeRecord(each)));
        const decoder = new RecordDecoder();
        const decoded: FetchRecord[] = [];
        for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          decoded.push(...decoder.push(bytes.subarray(offset, offset + length)));
          offset += length;
        }
        expect(decoded).toEqual(records);
        expect(decoder.betweenRecords).toBe(true);
      },
    ),
  );
});

test("a record that is cut off is not between records", () => {
  const bytes = encodeRecord({ type: "binary", message: new Uint8Array(300) });
  for (const length of [1, 2, 3, 100, bytes.length - 1]) {
    const decoder = new RecordDecoder();
    expect([...decoder.push(bytes.subarray(0, length))]).toEqual([]);
    expect(decoder.betweenRecords).toBe(false);
  }
});

test("a close's reason is cut between two characters where it is too long", () => {
  const [close] = new RecordDecoder().push(encodeRecord({ type: "close", code: 1000, reason: "é".repeat(100) }));
  expect(close).toEqual({ type: "close", code: 1000, reason: "é".repeat(61) });
});

describe("what is refused, before anything is allocated by it", () => {
  const declared = (kind: number, length: number): number[] => {
    const bytes = new Uint8Array(9);
    bytes[0] = kind;
    new DataView(bytes.buffer).setBigUint64(1, BigInt(length) | (3n << 62n));
    return [...bytes];
  };
  test.each([
    ["a message above the limit", declared(2, limits.messageBytes + 1)],
    ["a message of 2^53 - 1 bytes", declared(2, Number.MAX_SAFE_INTEGER)],
    ["a text above 125 bytes", declared(1, 126)],
    ["a close above 125 bytes", declared(8, 126)],
    ["an opening above 125 bytes", declared(0, 126)],
    ["a close without a code", [8, 1, 0]],
    ["text that is not UTF-8", [1, 1, 0xff]],
    ["the start of a page of HTML", [...new TextEncoder().encode("<!doctype html>")]],
  ])("%s", (_name, bytes) => {
    const error = thrownBy(() => [...new RecordDecoder().push(Uint8Array.from(bytes))]);
    expect(error).toBeInstanceOf(RopewayError);
    expect(error).toMatchObject({ code: ErrorCode.FRAME_SIZE_ERROR, scope: "session", initiator: "peer" });
  });
});

test("any bytes are records or a typed error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        for (const _ of new RecordDecoder().push(bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: ErrorCode.FRAME_SIZE_ERROR });
      }
    }),
    { numRuns: 2000 },
  );
});
