import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { BodyAssembly } from "./stream.ts";

function taken(assembly: BodyAssembly): { bytes: number[]; ended: boolean } {
  const bytes: number[] = [];
  let ended = false;
  for (let piece = assembly.take(); piece !== null; piece = assembly.take()) {
    bytes.push(...piece.bytes);
    ended ||= piece.end;
  }
  return { bytes, ended };
}

test("pieces in any order make the body, and its end comes last", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(cuts, fc.infiniteStream(fc.nat()), fc.boolean(), (lengths, order, endsEmpty) => {
      let offset = 0;
      const pieces = lengths.map((length) => {
        const bytes = Uint8Array.from({ length }, (_, index) => offset + index);
        offset += length;
        return { offset: offset - length, bytes, end: false };
      });
      const last = pieces.at(-1);
      if (endsEmpty || last === undefined) pieces.push({ offset, bytes: new Uint8Array(0), end: true });
      else last.end = true;
      const assembly = new BodyAssembly();
      const got: number[] = [];
      let ended = false;
      while (pieces.length > 0) {
        const [piece] = pieces.splice((order.next().value as number) % pieces.length, 1);
        if (piece === undefined) break;
        expect(ended).toBe(false);
        assembly.add(piece.offset, piece.bytes, piece.end);
        const next = taken(assembly);
        got.push(...next.bytes);
        ended = next.ended;
      }
      expect(got).toEqual(Array.from({ length: offset }, (_, index) => index));
      expect([ended, assembly.received]).toEqual([true, offset]);
    }),
  );
});

const piece = (length: number): Uint8Array => new Uint8Array(length);

describe("a piece is refused", () => {
  test.each<[string, (assembly: BodyAssembly) => void]>([
    ["that came before", (assembly) => assembly.add(0, piece(4), false)],
    ["that begins in one that came", (assembly) => assembly.add(9, piece(4), false)],
    ["that begins in one that waits", (assembly) => assembly.add(25, piece(4), false)],
    ["that reaches into one that waits", (assembly) => assembly.add(15, piece(6), false)],
    ["that holds one that waits", (assembly) => assembly.add(15, piece(60), false)],
    ["that ends the body before one that waits", (assembly) => assembly.add(10, piece(5), true)],
    ["that ends it where one that waits begins", (assembly) => assembly.add(20, piece(0), true)],
  ])("%s", (_name, add) => {
    const assembly = new BodyAssembly();
    assembly.add(0, piece(10), false);
    assembly.add(20, piece(10), false);
    expect(thrownBy(() => add(assembly))).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" });
  });

  test.each([
    [10, 1, false],
    [10, 0, true],
    [2, 4, true],
  ])("at %s of %s bytes, end %s, when the body ends at 10", (offset, length, end) => {
    const assembly = new BodyAssembly();
    assembly.add(6, piece(4), true);
    expect(thrownBy(() => assembly.add(offset, piece(length), end))).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
  });

  test("when too many wait for one before them", () => {
    const assembly = new BodyAssembly();
    for (let count = 1; count <= limits.earlyPieces; count += 1) assembly.add(2 * count, piece(1), false);
    expect(thrownBy(() => assembly.add(1, piece(1), false))).toMatchObject({
      code: ErrorCode.ENHANCE_YOUR_CALM,
      scope: "stream",
    });
  });
});

test("a piece without bytes and without the end means nothing", () => {
  const assembly = new BodyAssembly();
  assembly.add(500, piece(0), false);
  assembly.add(0, piece(2), true);
  expect(taken(assembly)).toEqual({ bytes: [0, 0], ended: true });
});
