import { describe, expect, it } from "vitest";
import type { BenchResult, Run } from "./model.ts";
import { sanityFaults } from "./sanity.ts";

function resultOf(runs: readonly Run[], rounds = runs.length): BenchResult {
  return {
    schema: 2,
    startedAt: "2026-01-01T00:00:00.000Z",
    seconds: 1,
    seed: 1,
    rounds,
    warmUpRounds: 0,
    machine: {},
    versions: {},
    laboratories: 1,
    options: [],
    experiments: [
      {
        id: "A",
        title: "",
        metrics: [
          { name: "load", label: "load", unit: "ms", better: "lower" },
          { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" },
        ],
        headline: "load",
        cells: [
          {
            id: "delay=5",
            at: { delay: 5 },
            floor: { load: 10, throughput: 100, requests: 5 },
            series: [{ contestant: "http/2", runs }],
          },
        ],
      },
    ],
  };
}

const run = (values: Run["values"], failure: Run["failure"] = null): Run => ({ round: 1, values, failure });

describe("sanityFaults", () => {
  it("finds none in what is possible", () => {
    expect(sanityFaults(resultOf([run({ load: 10, throughput: 3, connections: 0 })]), ["A"])).toEqual([]);
    expect(sanityFaults(resultOf([run({ load: 10, requests: 1 })]), ["A"])).toEqual([]);
  });

  it.each([
    [run({ load: 9.9 }), "load is 9.9, which is below what is possible, 10"],
    [run({ load: 12, throughput: 101 }), "throughput is 101, which is above what is possible, 100"],
    [run({ load: 12, bytesDown: -1 }), "bytesDown is -1"],
    [run({ load: Number.NaN }), "load is NaN"],
    [run({}), "a run without values"],
    [run({}, { blame: "contestant", message: "too late" }), "contestant failed: too late"],
  ])("finds what is not: %j", (one, fault) => {
    expect(sanityFaults(resultOf([one]), ["A"])).toContain(`A delay=5: http/2: ${fault}`);
  });

  it("finds runs that are missing", () => {
    const faults = sanityFaults(resultOf([run({ load: 11 })], 2), ["A", "B"]);
    expect(faults).toEqual(["B: no cell of it was measured", "A delay=5: http/2: 1 runs in place of 2"]);
  });

  it("asks for what the experiment is about", () => {
    expect(sanityFaults(resultOf([run({ connections: 5 })]), ["A"])).toEqual(["A: no run has load"]);
  });
});
