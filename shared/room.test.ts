import { expect, it } from "vitest";
import { Room } from "./fair-shares.ts";

it("has so many bytes for all, and forgets who never gave any back", () => {
  let now = 0;
  const room = new Room(100, () => now);
  const [one, other] = [{}, {}];
  expect([room.take(one, 60), room.take(other, 50), room.take(other, 40), room.take(one, 1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(room.taken).toBe(100);
  room.give(other);
  room.give(other);
  expect(room.taken).toBe(60);
  expect([room.take(other, 41), room.take(other, 40)]).toEqual([false, true]);
  now = 11 * 60_000;
  expect(room.take(other, 100)).toBe(true);
  room.give(one);
  expect(room.take(one, 1)).toBe(false);
});
