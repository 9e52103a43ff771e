import { serialize } from "node:v8";
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import type { HeaderField } from "../frame.ts";
import { HpackDecoder } from "./header-decoder.ts";
import { defaultIndexing, HpackEncoder } from "./header-encoder.ts";

const limits = { maxListBytes: 65_536, maxFields: 256 };

function pair(maxTableBytes = 4096): { encoder: HpackEncoder; decoder: HpackDecoder } {
  return {
    encoder: new HpackEncoder({ maxTableBytes }),
    decoder: new HpackDecoder({ maxTableBytes, ...limits }),
  };
}

/** The four highest bits of the block's first instruction. */
function firstBits(block: Uint8Array): number {
  return (block[0] as number) >>> 4;
}

describe("the default policy", () => {
  test.each(["cookie", "set-cookie", "authorization", "proxy-authorization", "Cookie"])(
    "%s is never indexed",
    (name) => {
      const { encoder } = pair();
      const first = encoder.encode([[name, "secret"]]);
      expect(firstBits(first)).toBe(0b0001);
      expect(encoder.encode([[name, "secret"]])).toEqual(first);
      expect(encoder.snapshot().table.entries).toEqual([]);
    },
  );

  test("a secret is a literal even where the static table has its empty value", () => {
    expect(firstBits(pair().encoder.encode([["cookie", ""]]))).toBe(0b0001);
  });

  test.each([":path", "content-length", "etag", "if-none-match", "range", "location", "age"])(
    "%s leaves the table alone",
    (name) => {
      const { encoder } = pair();
      expect(firstBits(encoder.encode([[name, "/unique"]]))).toBe(0b0000);
      expect(encoder.snapshot().table.entries).toEqual([]);
    },
  );

  test("what recurs takes one octet the second time", () => {
    const { encoder } = pair();
    const fields: HeaderField[] = [
      ["accept", "image/avif,image/webp,*/*;q=0.8"],
      ["x-own", "value"],
    ];
    expect(encoder.encode(fields).length).toBeGreaterThan(20);
    expect(encoder.encode(fields)).toHaveLength(2);
  });

  test("lines over half the table stay out of it", () => {
    expect(defaultIndexing("x", "v".repeat(2048 - 33), 4096)).toBe("incremental");
    expect(defaultIndexing("x", "v".repeat(2048 - 32), 4096)).toBe("without");
    expect(defaultIndexing("x", "", 0)).toBe("without");
  });
});

test("a name that no table has comes into it with its first line, and no line of it after that", () => {
  const { encoder, decoder } = pair();
  for (const id of ["1", "2", "3"]) decoder.decode(encoder.encode([["x-request-id", id]]));
  expect(encoder.snapshot().table.entries).toEqual([["x-request-id", "1"]]);
  expect(decoder.decode(encoder.encode([["x-request-id", "4"]]))).toEqual([["x-request-id", "4"]]);
  encoder.encode([["x-trace-id", "x".repeat(200)]]);
  expect(encoder.snapshot().table.entries).toHaveLength(1);
});

test("a field line may override the policy", () => {
  const { encoder } = pair();
  expect(firstBits(encoder.encode([["x-token", "secret", "never"]]))).toBe(0b0001);
  expect(firstBits(encoder.encode([["x-token", "public", "without"]]))).toBe(0b0000);
  expect(encoder.snapshot().table.entries).toEqual([]);
});

test("a line that the table holds is not sent as a reference once it is never to be indexed", () => {
  const { encoder, decoder } = pair();
  decoder.decode(encoder.encode([["x-token", "value"]]));
  const block = encoder.encode([["x-token", "value", "never"]]);
  expect(firstBits(block)).toBe(0b0001);
  expect(decoder.decode(block)).toEqual([["x-token", "value"]]);
});

describe("strings", () => {
  test("byte strings come back exactly", () => {
    const { encoder, decoder } = pair();
    const octets = String.fromCharCode(...Array.from({ length: 256 }, (_, octet) => octet));
    for (const indexing of ["incremental", "without", "never"] as const) {
      expect(decoder.decode(encoder.encode([[octets, octets, indexing]]))).toEqual([[octets, octets]]);
    }
  });

  test("characters above U+00FF travel as UTF-8 and arrive as the byte string of that", () => {
    const { encoder, decoder } = pair();
    const received = decoder.decode(encoder.encode([["x-title", "Привет, 世界"]]));
    const value = received[0]?.[1] ?? "";
    expect(new TextDecoder().decode(Uint8Array.from(value, (char) => char.charCodeAt(0)))).toBe("Привет, 世界");
    expect(encoder.snapshot().table.entries).toEqual(decoder.snapshot().table.entries);
    expect(encoder.encode([["x-title", "Привет, 世界"]])).toHaveLength(1);
  });
});

describe("table size updates (RFC 7541 section 4.2)", () => {
  const update = (size: number): number[] => (size < 31 ? [0x20 | size] : [0x3f, ...continuation(size - 31)]);
  const continuation = (rest: number): number[] =>
    rest < 128 ? [rest] : [(rest & 0x7f) | 0x80, ...continuation(rest >>> 7)];

  test.each([
    { sizes: [4096], signaled: [] },
    { sizes: [1000], signaled: [1000] },
    { sizes: [1000, 500], signaled: [500] },
    { sizes: [500, 1000], signaled: [500, 1000] },
    { sizes: [0, 4096], signaled: [0, 4096] },
    { sizes: [2000, 0, 3000, 1000], signaled: [0, 1000] },
    { sizes: [100_000], signaled: [] },
  ])("settings $sizes are signaled as $signaled", ({ sizes, signaled }) => {
    const { encoder, decoder } = pair();
    decoder.decode(encoder.encode([["x", "y"]]));
    for (const size of sizes) {
      encoder.setMaxTableBytes(size);
      decoder.setMaxTableBytes(size);
    }
    const restored = HpackEncoder.restore(structuredClone(encoder.snapshot()), { maxTableBytes: 4096 });
    const block = encoder.encode([]);
    expect([...block]).toEqual(signaled.flatMap(update));
    expect(restored.encode([])).toEqual(block);
    expect(decoder.decode(block)).toEqual([]);
    expect(decoder.snapshot().table).toEqual(encoder.snapshot().table);
    expect(encoder.encode([])).toHaveLength(0);
  });

  test("a size that no table can have is this side's mistake", () => {
    for (const bytes of [-1, 0.5, Number.NaN, 2 ** 31]) {
      expect(() => pair().encoder.setMaxTableBytes(bytes)).toThrow(
        expect.objectContaining({ code: ErrorCode.INTERNAL_ERROR, initiator: "library" }),
      );
    }
  });
});

describe("snapshots", () => {
  test.each([
    { what: "many tiny lines", field: (i: number): HeaderField => [String.fromCharCode(33 + i), ""] },
    { what: "lines as they are", field: (i: number): HeaderField => [`x-field-${i}`, "some value \xe9".repeat(3)] },
    { what: "few large lines", field: (i: number): HeaderField => [`x-${i}`, "v".repeat(1900)] },
  ])("of a table full of $what, both directions, fit half a hibernated socket's attachment", ({ field }) => {
    const { encoder, decoder } = pair();
    for (let i = 0; i < 124; i++) decoder.decode(encoder.encode([field(i)]));
    expect(decoder.snapshot().table).toEqual(encoder.snapshot().table);
    const bytes = serialize({ encoder: encoder.snapshot(), decoder: decoder.snapshot() }).length;
    expect(bytes).toBeLessThan(2 * 4096 + 200);
  });
});
