import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTrace, SHIPPED, type TraceModel } from "./make-traces.ts";

const MODEL: TraceModel = {
  seconds: 10,
  kbit: 2_400,
  fading: { deviation: 0.5, coherence: 200 },
  outages: { every: 2_000, length: 100 },
  interval: 10,
};

function times(trace: string): number[] {
  return trace.trimEnd().split("\n").map(Number);
}

describe("makeTrace", () => {
  it.each(Object.entries(SHIPPED))("makes the shipped %s", (name, { model, seed }) => {
    expect(readFileSync(join(import.meta.dirname, `${name}.trace`), "utf8")).toBe(makeTrace(model, seed));
  });

  it("has exactly the mean rate, ascends and ends with its period", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const all = times(makeTrace(MODEL, seed));
      expect((all.length * 1_500 * 8) / MODEL.seconds / 1_000).toBe(MODEL.kbit);
      expect(all).toEqual(all.toSorted((a, b) => a - b));
      expect(all.at(-1)).toBe(10_000);
      expect(all.every((time) => time > 0 && time % MODEL.interval === 0)).toBe(true);
    }
  });

  it("fades, and is without service at times", () => {
    const all = times(makeTrace(MODEL, 1));
    const gaps = all.map((time, index) => time - (all[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeGreaterThan(60);
    const perSecond = Array.from({ length: 10 }, (_, s) => all.filter((t) => t > s * 1_000 && t <= s * 1_000 + 1_000));
    const counts = perSecond.map(({ length }) => length);
    expect(Math.max(...counts)).toBeGreaterThan(1.2 * Math.min(...counts));
  });

  it("is another one with another seed, and hits both directions of a link alike", () => {
    expect(makeTrace(MODEL, 1)).not.toBe(makeTrace(MODEL, 2));
    const [down, up] = [times(makeTrace(MODEL, 1)), times(makeTrace({ ...MODEL, kbit: 600 }, 1))];
    for (const [index, time] of up.slice(0, -1).entries()) {
      const same = down[4 * (index + 1) - 1] ?? 0;
      expect(Math.abs(same - time)).toBeLessThanOrEqual(MODEL.interval);
    }
  });
});
