import { describe, expect, it } from "vitest";
import type { BenchResult, ExperimentResult } from "../model.ts";
import { syntheticResult } from "../testing/synthetic-result.ts";
import { compareRuns, comparisonTable } from "./compare.ts";

const LOAD = { name: "load", label: "load", unit: "ms", better: "lower" } as const;

const experiment: ExperimentResult = {
  id: "A",
  title: "Pictures",
  paper: "",
  metrics: [LOAD],
  headline: "load",
  cells: [5, 300].map((delay) => ({
    id: `delay=${delay}`,
    at: { delay },
    floor: { load: 2 * delay },
    series: [
      { contestant: "http/2", runs: runsOf([10 * delay, 12 * delay, 14 * delay]) },
      {
        contestant: "ropeway warm",
        runs: [
          ...runsOf([3 * delay + 50, 3 * delay + 50]),
          { round: 3, values: {}, failure: { blame: "contestant" as const, message: "timed out" } },
        ],
      },
    ],
  })),
};

function runsOf(loads: readonly number[]) {
  return loads.map((load, index) => ({ round: index + 1, values: { load }, failure: null }));
}

function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

describe("compareRuns", () => {
  const run = syntheticResult({ rounds: 5, scatter: 0 });
  const only = (result: BenchResult, id: string): BenchResult => ({
    ...result,
    experiments: result.experiments.filter((each) => each.id === id),
  });

  it("finds that a run agrees with itself", () => {
    const agreement = compareRuns(run, run);
    expect(agreement).toMatchObject({ largest: 0, agrees: true });
    const series = run.experiments.flatMap(({ cells }) => cells.flatMap((cell) => cell.series));
    expect(agreement.rows.length).toBe(series.length);
    expect(comparisonTable(agreement)).toMatch(
      /^All \d+ medians agree within 5\.0 %, 0\.0 % at most\.\n\n\| experiment/,
    );
  });

  it("measures the larger against the smaller, whichever comes first", () => {
    const scaled = {
      ...experiment,
      cells: experiment.cells.map((cell) => ({
        ...cell,
        series: cell.series.map(({ contestant }) => ({ contestant, runs: runsOf([1000]) })),
      })),
    };
    const slower = {
      ...scaled,
      cells: scaled.cells.map((cell, index) => (index === 0 ? withLoads(cell, 1060) : cell)),
    };
    const one = { ...run, experiments: [scaled] };
    const other = { ...run, experiments: [slower] };
    for (const agreement of [compareRuns(one, other), compareRuns(other, one)]) {
      expect(agreement.agrees).toBe(false);
      expect(agreement.largest).toBeCloseTo(0.06, 12);
      expect(agreement.rows.map(({ agrees }) => agrees)).toEqual([false, false, true, true]);
      expect(plain(comparisonTable(agreement))).toContain("2 of 4 medians differ by more than 5.0 %");
      expect(plain(comparisonTable(agreement))).toContain("| ▲ 6.0 % |");
    }
    expect(compareRuns(one, other, 0.1).agrees).toBe(true);
  });

  it("sets the processor time of browser and edge beside a difference", () => {
    const withTime = (browserCpu: number, edgeCpu?: number): BenchResult => {
      const values = { load: 1000, browserCpu, ...(edgeCpu === undefined ? {} : { edgeCpu }) };
      const series = [{ contestant: "ropeway warm", runs: [{ round: 1, failure: null, values }] }];
      return { ...run, experiments: [{ ...experiment, cells: experiment.cells.map((cell) => ({ ...cell, series })) }] };
    };
    const agreement = compareRuns(withTime(0.5, 0.25), withTime(0.75));
    expect(agreement.rows.map(({ processorTime }) => processorTime)).toEqual(experiment.cells.map(() => [0.75, 0.75]));
    expect(plain(comparisonTable(agreement))).toContain("| 0.0 % | 750 ms → 750 ms |");
  });

  it("does not pass over what only one run has", () => {
    const agreement = compareRuns(only(run, "A"), only(run, "A-3g"));
    expect(agreement.agrees).toBe(false);
    expect(agreement.largest).toBeNull();
    expect(agreement.rows.every(({ first, second }) => first === null || second === null)).toBe(true);
  });

  function withLoads(cell: ExperimentResult["cells"][number], load: number) {
    return { ...cell, series: cell.series.map(({ contestant }) => ({ contestant, runs: runsOf([load]) })) };
  }
});
