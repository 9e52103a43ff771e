import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import { HpackDecoder } from "./header-decoder.ts";

function decoder(options: { maxTableBytes?: number; maxListBytes?: number; maxFields?: number } = {}): HpackDecoder {
  return new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 65_536, maxFields: 256, ...options });
}

function block(...octets: readonly number[]): Uint8Array {
  return Uint8Array.from(octets);
}

const compressionError = expect.objectContaining({
  code: ErrorCode.COMPRESSION_ERROR,
  scope: "session",
  initiator: "peer",
});
const calmError = expect.objectContaining({
  code: ErrorCode.ENHANCE_YOUR_CALM,
  scope: "stream",
  initiator: "peer",
});

/** A literal with incremental indexing: name "a", value "b"; an entry of 34 bytes. */
const ADD_A_B = [0x40, 0x01, 0x61, 0x01, 0x62] as const;
const METHOD_GET = 0x82;
const NEWEST_ENTRY = 0xbe;

test("an empty block has no fields", () => {
  expect(decoder().decode(block())).toEqual([]);
});

describe("malformed blocks", () => {
  test.each([
    { what: "index 0 (RFC 7541 section 6.1)", octets: [0x80], reason: /index 0 is not in the tables/ },
    { what: "an index beyond an empty dynamic table", octets: [NEWEST_ENTRY], reason: /index 62 .* 61 \+ 0/ },
    { what: "an index beyond the dynamic table", octets: [...ADD_A_B, 0xbf], reason: /index 63 .* 61 \+ 1/ },
    { what: "a name index beyond the tables", octets: [0x7e, 0x01, 0x62], reason: /index 62/ },
    { what: "an index that ends too soon", octets: [0xff], reason: /inside an integer/ },
    { what: "no value", octets: [0x41], reason: /before an integer/ },
    { what: "a string that ends too soon", octets: [0x41, 0x02, 0x61], reason: /string of 2 octets .* 1 are left/ },
    {
      what: "a string of declared 2^31-1 octets",
      octets: [0x41, 0x7f, 0x80, 0xff, 0xff, 0xff, 0x07],
      reason: /string of 2147483647 octets .* 0 are left/,
    },
    { what: "a wrongly padded string", octets: [0x41, 0x81, 0x00], reason: /7 bits of EOS/ },
  ])("$what", ({ octets, reason }) => {
    expect(() => decoder().decode(block(...octets))).toThrow(reason);
    expect(() => decoder().decode(block(...octets))).toThrow(compressionError);
  });
});

describe("table size updates (RFC 7541 sections 4.2 and 6.3)", () => {
  test("an update evicts", () => {
    const subject = decoder();
    subject.decode(block(...ADD_A_B));
    expect(subject.decode(block(0x20 | 30))).toEqual([]);
    expect(subject.snapshot().table.entries).toEqual([]);
  });

  test("the smallest and the final size may come together, a third may not", () => {
    const subject = decoder();
    subject.decode(block(...ADD_A_B));
    expect(subject.decode(block(0x20, 0x3f, 0xe1, 0x1f, METHOD_GET))).toEqual([[":method", "GET"]]);
    expect(subject.snapshot().table).toEqual({ maxBytes: 4096, entries: [] });
    expect(() => subject.decode(block(0x20, 0x20, 0x20))).toThrow(/more than two/);
  });

  test("above the limit", () => {
    expect(() => decoder().decode(block(0x3f, 0xe2, 0x1f))).toThrow(/update to 4097 exceeds the limit of 4096/);
  });

  test("after a field line", () => {
    expect(() => decoder().decode(block(METHOD_GET, 0x20))).toThrow(/follows a field line/);
  });

  test("required after a reduction of the limit", () => {
    for (const octets of [[METHOD_GET], [0x20 | 11], []]) {
      const subject = decoder();
      subject.setMaxTableBytes(10);
      expect(() => subject.decode(block(...octets))).toThrow(compressionError);
    }
    const subject = decoder();
    subject.setMaxTableBytes(10);
    expect(subject.decode(block(0x20 | 10, METHOD_GET))).toEqual([[":method", "GET"]]);
    expect(subject.decode(block(METHOD_GET))).toEqual([[":method", "GET"]]);
  });

  test("required after a reduction that was taken back, and first the smallest", () => {
    const limited = (): HpackDecoder => {
      const subject = decoder();
      subject.setMaxTableBytes(10);
      subject.setMaxTableBytes(4096);
      return subject;
    };
    expect(() => limited().decode(block(METHOD_GET))).toThrow(/required table size update/);
    expect(() => limited().decode(block(0x3f, 0xe1, 0x1f))).toThrow(/exceeds the limit of 10/);
    expect(limited().decode(block(0x20 | 10, 0x3f, 0xe1, 0x1f))).toEqual([]);
  });

  test("not required when the table is small enough already", () => {
    const subject = decoder();
    subject.decode(block(0x20));
    subject.setMaxTableBytes(10);
    expect(subject.decode(block(METHOD_GET))).toEqual([[":method", "GET"]]);
  });

  test("what is required survives a snapshot", () => {
    const subject = decoder();
    subject.setMaxTableBytes(10);
    const restored = HpackDecoder.restore(structuredClone(subject.snapshot()), {
      maxListBytes: 65_536,
      maxFields: 256,
    });
    expect(() => restored.decode(block(METHOD_GET))).toThrow(/required table size update/);
  });

  test("a limit that no table can have is this side's mistake", () => {
    for (const bytes of [-1, 0.5, Number.NaN, 2 ** 31]) {
      expect(() => decoder().setMaxTableBytes(bytes)).toThrow(
        expect.objectContaining({ code: ErrorCode.INTERNAL_ERROR, initiator: "library" }),
      );
    }
  });
});

describe("limits of a list", () => {
  test("too many field lines: the block is refused, the table is in step", () => {
    const subject = decoder({ maxFields: 2 });
    expect(() => subject.decode(block(METHOD_GET, METHOD_GET, METHOD_GET, ...ADD_A_B))).toThrow(calmError);
    expect(subject.decode(block(NEWEST_ENTRY))).toEqual([["a", "b"]]);
  });

  test("too many bytes: the block is refused, the table is in step", () => {
    const methodBytes = ":method".length + "GET".length + 32;
    const subject = decoder({ maxListBytes: 2 * methodBytes });
    expect(subject.decode(block(METHOD_GET, METHOD_GET))).toHaveLength(2);
    expect(() => subject.decode(block(METHOD_GET, METHOD_GET, ...ADD_A_B))).toThrow(calmError);
    expect(subject.decode(block(NEWEST_ENTRY))).toEqual([["a", "b"]]);
  });

  test("a malformed rest counts for more than an exceeded limit", () => {
    expect(() => decoder({ maxFields: 1 }).decode(block(METHOD_GET, METHOD_GET, 0x80))).toThrow(compressionError);
  });

  test("many references to a large entry keep nothing beyond the limit", () => {
    const subject = decoder();
    const value = new Uint8Array(4000).fill(0x61);
    subject.decode(block(0x40, 0x01, 0x61, 0x7f, 0xa1, 0x1e, ...value));
    const references = new Uint8Array(48 * 1024).fill(NEWEST_ENTRY);
    expect(() => subject.decode(references)).toThrow(/49152 field lines exceed the limit of 256/);
    expect(subject.decode(block(NEWEST_ENTRY))).toHaveLength(1);
  });
});

test("octets that are not UTF-8 come out one character each", () => {
  expect(decoder().decode(block(0x00, 0x01, 0xff, 0x03, 0xc3, 0x28, 0x80))).toEqual([["\xff", "\xc3(\x80"]]);
});
