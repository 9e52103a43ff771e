import { describe, expect, test } from "vitest";
import * as limits from "../../limits.ts";
import { CREDIT_STEP_BYTES } from "./bandwidth-estimate.ts";
import { SessionWindow } from "./session-window.ts";

const INITIAL = limits.initialSessionCreditBytes;

function windowOf(): SessionWindow {
  return new SessionWindow({
    initial: INITIAL,
    most: limits.sessionCreditBytes,
    mostUnread: limits.unreadBytes,
    nearStream: limits.streamCreditBytes,
    now: () => 0,
  });
}

/** All that may be given now. */
function give(window: SessionWindow): number {
  return window.takeIncrements().reduce((sum, each) => sum + each, 0);
}

describe("the increments", () => {
  /** Of a window that has seen a link of this rate (bytes per ms) and round trip (ms) at work for two seconds. */
  function owedOn(rate: number, roundTrip: number, channels: number): { increments: number[]; size: number } {
    let now = 0;
    let pinged: { readonly token: number; readonly at: number } | null = null;
    const window = new SessionWindow({
      initial: 98_304,
      most: limits.sessionCreditBytes,
      mostUnread: limits.unreadBytes,
      nearStream: limits.streamCreditBytes,
      now: () => now,
    });
    const arrive = (): void => {
      const bytes = Math.min(rate, window.outstanding);
      window.receive(bytes);
      window.consume(bytes);
      now += 1;
    };
    while (now < 2000) {
      arrive();
      give(window);
      if (pinged !== null && now - pinged.at >= roundTrip) {
        window.pong(pinged.token, 0);
        pinged = null;
      }
      const token: number | null = pinged === null ? window.takePing(0, [0]) : null;
      if (token !== null) pinged = { token, at: now };
    }
    let increments: number[] = [];
    for (; increments.length === 0; increments = window.takeIncrements(channels)) arrive();
    return { increments, size: window.size };
  }

  function incrementOn(rate: number, roundTrip: number, channels: number): { step: number; size: number } {
    const { increments, size } = owedOn(rate, roundTrip, channels);
    return { step: increments[0] ?? 0, size };
  }

  test("are what the link carries in some milliseconds where it is fast, whatever the number of channels", () => {
    const { step, size } = incrementOn(1500, 70, 5);
    expect(step).toBeGreaterThan((1.5 * size) / 16 / 5);
    expect(step).toBeGreaterThan(3 * CREDIT_STEP_BYTES);
    expect(step).toBeLessThan(10 * 1500);
  });

  test("go together, once a twelfth of the window is owed", () => {
    const { increments, size } = owedOn(125, 800, 5);
    expect(increments.length).toBeGreaterThan(1);
    const given = increments.reduce((sum, each) => sum + each, 0);
    expect(given / size).toBeGreaterThan(1 / 16);
    expect(given / size).toBeLessThan(1 / 8);
  });

  test("go in smaller parts while arrivals grow, since what is held back is missing from the next burst", () => {
    const window = windowOf();
    const received = INITIAL / 20;
    window.receive(received);
    window.consume(received);
    expect(window.takeIncrements(5)).toEqual([CREDIT_STEP_BYTES]);
  });

  test("are no larger than a sixteenth of the window", () => {
    for (const channels of [1, 2, 5]) {
      const { step, size } = incrementOn(12_500, 20, channels);
      expect(step).toBeLessThanOrEqual(Math.max(CREDIT_STEP_BYTES, size / 16));
    }
  });

  test("are the channel's part of a sixteenth where the link takes longer for a segment", () => {
    for (const [rate, roundTrip] of [
      [5, 800],
      [125, 100],
    ] as const) {
      const { step, size } = incrementOn(rate, roundTrip, 5);
      expect(step).toBeLessThanOrEqual(Math.max(CREDIT_STEP_BYTES, size / 16 / 5));
    }
  });
});

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
      mostUnread: limits.unreadBytes,
      nearStream: limits.streamCreditBytes,
      now: () => 0,
      outstanding: 8 * INITIAL,
    });
    window.restart();
    window.strand(0.2);
    expect(give(window)).toBeGreaterThan(0);
  });

  test("does not pile up when one is lost again and again while nothing comes", () => {
    const window = windowOf();
    for (let loss = 0; loss < 10; loss += 1) {
      window.strand(0.2);
      give(window);
      window.strand(0);
    }
    expect(window.outstanding).toBeLessThanOrEqual(2 * INITIAL);
  });

  test("counts anew when more channels are lost later", () => {
    const window = windowOf();
    window.strand(0.2);
    const more = give(window);
    window.strand(0.4);
    expect(give(window)).toBeGreaterThan(0.9 * more);
  });
});

describe("while connections start, and one of several channels answers late", () => {
  /** The window after 40 slices of bytes that double, the first answer in time and the last never. */
  function grownWith(first: number | null): number {
    let now = 0;
    const window = new SessionWindow({
      initial: limits.grownSessionCreditBytes,
      most: limits.sessionCreditBytes,
      mostUnread: limits.unreadBytes,
      nearStream: limits.streamCreditBytes,
      now: () => now,
    });
    const known = window.takePing(0, [0]) ?? 0;
    now += 600;
    window.pong(known, 0);
    const token = window.takePing(0, [0, 1]) ?? 0;
    const from = now;
    for (let step = 0; step < 200; step += 1) {
      now += 10;
      const bytes = Math.min(window.outstanding, now - from < 600 ? 1_200 : 2_400);
      window.receive(bytes);
      window.consume(bytes);
      give(window);
      if (first !== null && now - from === first) window.pong(token, 1);
    }
    return window.size;
  }

  test("credit goes on growing once another has answered in time: what keeps that one is its own connection", () => {
    expect(grownWith(600)).toBeGreaterThan(2.5 * limits.grownSessionCreditBytes);
  });

  test("it does not before, nor where that was late too", () => {
    expect(grownWith(null)).toBeLessThanOrEqual(2 * limits.grownSessionCreditBytes);
    expect(grownWith(1_600)).toBeLessThanOrEqual(2 * limits.grownSessionCreditBytes);
  });
});
