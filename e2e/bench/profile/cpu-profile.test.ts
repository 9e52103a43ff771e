import { describe, expect, it } from "vitest";
import { type CpuProfile, selfTimes } from "./cpu-profile.ts";

function profileOf(names: readonly string[], timeDeltas: readonly number[]): CpuProfile {
  const distinct = [...new Set(names)];
  return {
    nodes: distinct.map((functionName, index) => ({
      id: index + 1,
      callFrame: { functionName, url: "https://a.test/a.js", lineNumber: index, columnNumber: 0 },
    })),
    samples: names.map((name) => distinct.indexOf(name) + 1),
    timeDeltas,
    startTime: 1_000,
  };
}

const summary = (profile: CpuProfile, from?: number, to?: number): (string | number)[][] =>
  selfTimes(profile, from, to).map(({ place, time }) => [place.functionName, time]);

describe("selfTimes", () => {
  it("gives a sample the time up to the next one, the largest first", () => {
    const profile = profileOf(["a", "b", "b", "a"], [0, 1_000, 2_000, 3_000]);
    expect(summary(profile)).toEqual([
      ["b", 5],
      ["a", 1],
    ]);
  });

  it("leaves out what is not asked for, and idle time", () => {
    const profile = profileOf(["a", "(idle)", "b", "c"], [0, 1_000, 1_000, 1_000]);
    expect(summary(profile)).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(summary(profile, 2_500)).toEqual([["b", 1]]);
    expect(summary(profile, 0, 1_500)).toEqual([["a", 1]]);
  });

  it("takes a long gap for time that nobody sampled", () => {
    expect(summary(profileOf(["a", "b"], [0, 5_000_000]))).toEqual([["a", 20]]);
  });
});
