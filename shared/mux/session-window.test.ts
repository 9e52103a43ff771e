import { describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { SessionWindow } from "./session-window.ts";

const INITIAL = limits.initialSessionCreditBytes;

function windowOf(): SessionWindow {
  return new SessionWindow({ initial: INITIAL, most: limits.sessionCreditBytes, now: () => 0 });
}

/** All that may be given now. */
function give(window: SessionWindow): number {
  let given = 0;
  for (let next = window.takeIncrement(); next > 0; next = window.takeIncrement()) given += next;
  return given;
}

describe("credit that may be stuck with channels that lost their transports", () => {
  test("is given again when one of five is lost, since all of it may be there", () => {
    const window = windowOf();
    window.strand(0.2);
    expect(give(window)).toBeGreaterThan(0.9 * INITIAL);
    window.strand(0);
    expect(give(window)).toBe(0);
  });

  test("is given again by parts when all were lost, since it is on all of them", () => {
    const window = windowOf();
    window.restart();
    window.strand(0.8);
    const first = give(window);
    expect(first).toBeGreaterThan(0.7 * INITIAL);
    expect(first).toBeLessThanOrEqual(0.8 * INITIAL);
    window.strand(0.2);
    expect(give(window)).toBe(0);
  });

  test("never keeps the others from going on, even where what is out is more than the window", () => {
    const window = new SessionWindow({
      initial: INITIAL,
      most: limits.sessionCreditBytes,
      now: () => 0,
      outstanding: 8 * INITIAL,
    });
    window.restart();
    window.strand(0.2);
    expect(give(window)).toBeGreaterThan(0);
  });

  test("counts anew when more channels are lost later", () => {
    const window = windowOf();
    window.strand(0.2);
    const more = give(window);
    window.strand(0.4);
    expect(give(window)).toBeGreaterThan(0.9 * more);
  });
});
