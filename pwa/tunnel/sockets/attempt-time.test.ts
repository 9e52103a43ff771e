import { expect, it } from "vitest";
import { attemptTime, expectedHandshake, isOnTime, SOCKET_OPEN_TIMEOUT } from "./socket-keeper.ts";

it("is all there is before anything is known", () => {
  expect(attemptTime(null, 0)).toBe(SOCKET_OPEN_TIMEOUT);
});

it("lets a handshake end that began with the last of the dense SYNs, however many attempts failed", () => {
  for (let timeouts = 0; timeouts < 50; timeouts += 1) {
    for (const handshake of [200, 1_200, 6_000]) {
      expect(attemptTime(handshake, timeouts)).toBeGreaterThanOrEqual(4_000 + handshake);
      expect(attemptTime(handshake, timeouts)).toBeLessThanOrEqual(SOCKET_OPEN_TIMEOUT);
    }
  }
});

it("gives one attempt in three more time, and never fewer of the others", () => {
  const times = [0, 1, 2, 3, 4, 5].map((timeouts) => attemptTime(1_200, timeouts));
  expect(times).toEqual([5_500, 5_500, 11_000, 5_500, 5_500, 11_000]);
});

it("takes no handshake that waited for the link for one that is slow", () => {
  expect(expectedHandshake(null, 900)).toBe(900);
  expect(expectedHandshake(900, 700)).toBe(700);
  expect(expectedHandshake(900, 9_000)).toBe(1_800);
});

it("an attempt is on time for as long as a handshake takes, though not one that shared a slow link", () => {
  expect([isOnTime(1_000, 1_200), isOnTime(1_000, 1_300)]).toEqual([true, false]);
  for (const handshake of [5_000, 15_000, null]) {
    expect([isOnTime(handshake, 6_200), isOnTime(handshake, 6_300)]).toEqual([true, false]);
  }
  expect(attemptTime(15_000, 0)).toBe(attemptTime(5_000, 0));
});

it("is long in one of three, or of six where handshakes are, so that a slower network is reached too", () => {
  const long = (handshake: number): number[] => {
    const times = Array.from({ length: 12 }, (_, timeouts) => attemptTime(handshake, timeouts));
    return times.flatMap((time, timeouts) => (time > (times[0] ?? 0) ? [timeouts] : []));
  };
  expect(long(1_000)).toEqual([2, 5, 8, 11]);
  expect(long(8_000)).toEqual([5, 11]);
  expect(attemptTime(8_000, 5)).toBe(SOCKET_OPEN_TIMEOUT);
});
