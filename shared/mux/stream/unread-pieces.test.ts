import fc from "fast-check";
import { expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { toKeep, UnreadPieces } from "./stream.ts";

test("pieces count until their last byte is consumed, in whatever parts", () => {
  const step = fc.record({ add: fc.nat(5), consume: fc.nat(12) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const all = { pieces: 3 };
      const unread = new UnreadPieces(all);
      const bytes: number[] = [];
      steps.forEach(({ add, consume }, piece) => {
        unread.add(add);
        for (let count = 0; count < add; count += 1) bytes.push(piece);
        const taken = Math.min(consume, bytes.length);
        bytes.splice(0, taken);
        unread.consume(taken);
        expect(all.pieces).toBe(3 + new Set(bytes).size);
      });
      unread.clear();
      expect(all.pieces).toBe(3);
    }),
  );
});

test("more than the limit are refused, of all streams together", () => {
  const all = { pieces: limits.unreadPieces - 1 };
  new UnreadPieces(all).add(1);
  const error = thrownBy(() => new UnreadPieces(all).add(1));
  expect(error).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM, scope: "stream", initiator: "peer" });
  expect(all.pieces).toBe(limits.unreadPieces);
});

test("bodies that nobody reads end, and none that is read", () => {
  const all = { pieces: 0 };
  const unread = Array.from({ length: 192 }, () => new UnreadPieces(all));
  const read = new UnreadPieces(all);
  let ended = 0;
  for (let round = 0; round < 200; round += 1) {
    for (const each of unread) {
      try {
        each.add(1);
      } catch {
        each.clear();
        ended += 1;
      }
      read.add(1);
      read.consume(1);
    }
  }
  expect(ended).toBeGreaterThan(100);
  expect(all.pieces).toBeLessThan(limits.unreadPieces);
});

test("a view keeps hardly more memory than its bytes, and is not copied where it is most of its message", () => {
  const message = new Uint8Array(1000);
  for (let length = 0; length <= 1000; length += 50) {
    const kept = toKeep(message.subarray(0, length));
    expect([kept.length, kept.buffer === message.buffer]).toEqual([length, length >= 900]);
    expect(kept.buffer.byteLength).toBeLessThanOrEqual((8 / 7) * length);
  }
});
