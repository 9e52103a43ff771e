/** Properties of an encoder and a decoder together. fast-check prints the seed of a failure. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import { type EncodableField, fieldBytes, type HeaderField, type Indexing } from "../frame.ts";
import { HpackDecoder } from "./header-decoder.ts";
import { HpackEncoder } from "./header-encoder.ts";
import { STATIC_TABLE } from "./tables.ts";

const CEILING = 1024;
const limits = { maxListBytes: 1 << 20, maxFields: 1000 };

const byteString = fc.uint8Array({ maxLength: 80 }).map((bytes) => String.fromCharCode(...bytes));
/** Few names and values, so that tables are hit, filled and emptied. */
const name = fc.oneof(
  fc.constantFrom(...STATIC_TABLE.map(([name]) => name)),
  fc.constantFrom("x-a", "x-b"),
  byteString,
);
const value = fc.oneof(
  fc.constantFrom("", "GET", "200", "a", "gzip, deflate", "v".repeat(300)),
  fc.nat(9).map(String),
  byteString,
);
const indexing = fc.constantFrom<Indexing | undefined>(undefined, "incremental", "without", "never");
const field = fc
  .tuple(name, value, indexing)
  .map(([name, value, indexing]): EncodableField => (indexing ? [name, value, indexing] : [name, value]));
const fields = fc.array(field, { maxLength: 15 });

type Step =
  | { readonly kind: "block"; readonly fields: readonly EncodableField[] }
  | { readonly kind: "resize"; readonly bytes: number }
  | { readonly kind: "hibernate" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fields.map((fields): Step => ({ kind: "block", fields })) },
  { weight: 2, arbitrary: fc.oneof(fc.nat(CEILING), fc.constant(0)).map((bytes): Step => ({ kind: "resize", bytes })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "hibernate" }) },
);

function plain(fields: readonly EncodableField[]): HeaderField[] {
  return fields.map(([name, value]) => [name, value]);
}

test("any blocks come back, with table sizes that change and states that are stored in between", () => {
  fc.assert(
    fc.property(fc.nat(CEILING), fc.boolean(), fc.array(step, { maxLength: 30 }), (initial, huffman, steps) => {
      const encoderOptions = { maxTableBytes: initial, huffman };
      let encoder = new HpackEncoder(encoderOptions);
      let decoder = new HpackDecoder({ maxTableBytes: initial, ...limits });
      for (const step of steps) {
        if (step.kind === "resize") {
          decoder.setMaxTableBytes(step.bytes);
          encoder.setMaxTableBytes(step.bytes);
        } else if (step.kind === "hibernate") {
          encoder = HpackEncoder.restore(structuredClone(encoder.snapshot()), encoderOptions);
          decoder = HpackDecoder.restore(structuredClone(decoder.snapshot()), limits);
        } else {
          const block = encoder.encode(step.fields);
          const bound = step.fields.reduce((sum, [name, value]) => sum + fieldBytes(name, value), 12);
          expect(block.length).toBeLessThanOrEqual(bound);
          expect(decoder.decode(block)).toEqual(plain(step.fields));
          expect(decoder.snapshot().table).toEqual(encoder.snapshot().table);
        }
      }
    }),
    { numRuns: 500 },
  );
});

describe("hostile blocks", () => {
  const small = { maxListBytes: 600, maxFields: 8 };

  function expectOrderly(decoder: HpackDecoder, block: Uint8Array): "decoded" | "calm" | "broken" {
    try {
      const decoded = decoder.decode(block);
      expect(decoded.length).toBeLessThanOrEqual(small.maxFields);
      const bytes = decoded.reduce((sum, [name, value]) => sum + fieldBytes(name, value), 0);
      expect(bytes).toBeLessThanOrEqual(small.maxListBytes);
      return "decoded";
    } catch (error) {
      if (!(error instanceof RopewayError)) throw error;
      expect(error.initiator).toBe("peer");
      if (error.code === ErrorCode.ENHANCE_YOUR_CALM) {
        expect(error.scope).toBe("stream");
        return "calm";
      }
      expect(error.code).toBe(ErrorCode.COMPRESSION_ERROR);
      expect(error.scope).toBe("session");
      return "broken";
    } finally {
      const { table } = decoder.snapshot();
      const bytes = table.entries.reduce((sum, [name, value]) => sum + fieldBytes(name, value), 0);
      expect(bytes).toBeLessThanOrEqual(table.maxBytes);
      expect(table.maxBytes).toBeLessThanOrEqual(CEILING);
    }
  }

  test("octets at random throw typed errors only, and no limit is exceeded", () => {
    const run = fc.array(fc.uint8Array({ maxLength: 120 }), { maxLength: 5 });
    fc.assert(
      fc.property(run, (blocks) => {
        const decoder = new HpackDecoder({ maxTableBytes: CEILING, ...small });
        for (const block of blocks) if (expectOrderly(decoder, block) === "broken") break;
      }),
      { numRuns: 2000 },
    );
  });

  test("mutated blocks throw typed errors only, and no limit is exceeded", () => {
    const mutation = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom("flip", "insert", "remove", "cut"),
      octet: fc.nat(255),
    });
    const mutated = fc.tuple(fields, fc.array(mutation, { maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(mutated, { maxLength: 5 }), (blocks) => {
        const encoder = new HpackEncoder({ maxTableBytes: CEILING });
        const decoder = new HpackDecoder({ maxTableBytes: CEILING, ...small });
        for (const [fields, mutations] of blocks) {
          const octets = [...encoder.encode(fields)];
          for (const { at, kind, octet } of mutations) {
            const place = at % (octets.length + 1);
            if (kind === "flip") octets[place] = (octets[place] ?? 0) ^ octet;
            else if (kind === "insert") octets.splice(place, 0, octet);
            else if (kind === "remove") octets.splice(place, 1);
            else octets.length = place;
          }
          if (expectOrderly(decoder, Uint8Array.from(octets)) === "broken") break;
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("blocks over a limit leave the table in step", () => {
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 10 }), (blocks) => {
        const encoder = new HpackEncoder({ maxTableBytes: CEILING });
        const decoder = new HpackDecoder({ maxTableBytes: CEILING, ...small });
        for (const fields of blocks) {
          const bytes = fields.reduce((sum, [name, value]) => sum + fieldBytes(name, value), 0);
          const isOver = fields.length > small.maxFields || bytes > small.maxListBytes;
          expect(expectOrderly(decoder, encoder.encode(fields))).toBe(isOver ? "calm" : "decoded");
          expect(decoder.snapshot().table).toEqual(encoder.snapshot().table);
        }
      }),
      { numRuns: 500 },
    );
  });
});
