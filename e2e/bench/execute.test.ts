import { describe, expect, it } from "vitest";
import { seededRandom } from "../demo/random.ts";
import {
  duration,
  type ExecuteOptions,
  execute,
  type PlannedExperiment,
  type PlannedSeries,
  planSteps,
  secondsLeft,
} from "./execute.ts";
import { ContestantError } from "./failure.ts";
import type { ExperimentResult } from "./model.ts";

const STILL_OPTIONS: ExecuteOptions = {
  rounds: 3,
  warmUpRounds: 1,
  random: () => 0,
  now: () => 0,
  processorTime: () => ({ busy: 0, total: 0 }),
  tell: () => {},
  keep: async () => {},
};

function series(contestant: string, run: PlannedSeries["run"], estimate = 1): PlannedSeries {
  return { contestant, estimate, run };
}

function experiment(
  runs: readonly PlannedSeries[],
  prepare = async () => {},
  needsQuiet: readonly [boolean, boolean] = [true, true],
): PlannedExperiment {
  const cell = { at: { delay: 1 }, floor: {}, prepare, series: runs };
  return {
    id: "X",
    title: "A title",
    metrics: [{ name: "load", label: "load", unit: "ms", better: "lower" }],
    headline: "load",
    cells: [
      { id: "one", needsQuiet: needsQuiet[0], ...cell },
      { id: "two", needsQuiet: needsQuiet[1], ...cell },
    ],
  };
}

describe("planSteps", () => {
  const names = ["a", "b", "c"];
  const plan = (seed: number): string[] =>
    planSteps(
      [experiment(names.map((name) => series(name, async () => ({ values: {} }))))],
      3,
      1,
      seededRandom(seed),
    ).map((step) => `${step.cell.id} ${step.round} ${step.series.contestant}`);

  it("has every contestant once in each round, and ends a round before the next begins", () => {
    const steps = plan(1);
    expect(steps).toHaveLength(2 * 4 * 3);
    for (let start = 0; start < steps.length; start += 3) {
      const round = steps.slice(start, start + 3);
      expect(new Set(round.map((step) => step.slice(0, 5))).size).toBe(1);
      expect(round.map((step) => step.at(-1)).sort()).toEqual(names);
    }
  });

  it("is the same for the same seed, and shuffles within a round", () => {
    expect(plan(7)).toEqual(plan(7));
    expect(new Set([1, 2, 3, 4, 5].map((seed) => plan(seed).join())).size).toBeGreaterThan(1);
  });
});

describe("secondsLeft", () => {
  const step = (estimate: number, needsQuiet = true) => ({ cell: { needsQuiet }, series: { estimate } });
  const first = (count: number, steps: readonly unknown[]) => (each: unknown) => steps.indexOf(each) < count;

  it("corrects the estimates by how they turned out", () => {
    const steps = [step(4), step(1), step(1)];
    expect(secondsLeft(steps, first(0, steps), 0)).toBe(6);
    expect(secondsLeft(steps, first(1, steps), 8)).toBe(4);
    expect(secondsLeft(steps, first(3, steps), 9)).toBe(0);
  });

  it("divides among the laboratories what needs no quiet, cell by cell", () => {
    const steps = [step(4), ...[3, 3, 3, 3].map((estimate) => step(estimate, false))];
    expect(secondsLeft(steps, first(0, steps), 0, 3)).toBe(8);
    expect(secondsLeft(steps, first(1, steps), 8, 3)).toBe(8);
  });
});

describe("execute", () => {
  it("throws the warm-up away and keeps what failed, with who is to blame", async () => {
    let calls = 0;
    const kept: (readonly ExperimentResult[])[] = [];
    const results = await execute(
      [
        [
          experiment([
            series("good", async () => ({ values: { load: ++calls } })),
            series("bad", () => Promise.reject(new ContestantError("Cannot load: too late"))),
            series("broken", () => Promise.reject(new TypeError("no such thing"))),
          ]),
        ],
      ],
      { ...STILL_OPTIONS, keep: async (soFar) => void kept.push(soFar) },
    );
    const [good, bad, broken] = results[0]?.cells[0]?.series ?? [];
    expect(good?.runs.map(({ round, values }) => [round, values.load])).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
    expect(bad?.runs).toHaveLength(3);
    expect(bad?.runs[0]?.failure).toEqual({ blame: "contestant", message: "Cannot load: too late" });
    expect(broken?.runs[2]?.failure?.blame).toBe("harness");
    expect(kept.map((soFar) => soFar[0]?.cells.length)).toEqual([1, 2]);
  });

  it("blames the harness when the link cannot be set", async () => {
    const failing = experiment([series("a", async () => ({ values: {} }))], () => Promise.reject(new Error("no link")));
    const [result] = await execute([[failing]], STILL_OPTIONS);
    expect(result?.cells[0]?.series[0]?.runs.map(({ failure }) => failure?.blame)).toEqual(Array(3).fill("harness"));
  });
});

describe("execute in two laboratories", () => {
  /** Notes who measures, and lets the other go on in between. */
  function plans(needsQuiet: readonly [boolean, boolean]): { log: string[]; plans: PlannedExperiment[][] } {
    const log: string[] = [];
    let under = 0;
    const plan = (name: string): PlannedExperiment[] => {
      const run = async (): Promise<{ values: { load: number } }> => {
        log.push(`${name}, ${++under} at a time`);
        await new Promise((resolve) => setTimeout(resolve));
        under--;
        return { values: { load: 1 } };
      };
      return [experiment([series("a", run)], undefined, needsQuiet)];
    };
    return { log, plans: [plan("first"), plan("second")] };
  }

  it("measures alone what needs quiet", async () => {
    const { log, plans: both } = plans([true, true]);
    await execute(both, STILL_OPTIONS);
    expect(new Set(log)).toEqual(new Set(["first, 1 at a time"]));
  });

  it("measures the rest side by side, every run once, and writes one result after the other", async () => {
    const { log, plans: both } = plans([false, false]);
    let writing = 0;
    const results = await execute(both, {
      ...STILL_OPTIONS,
      keep: async () => {
        expect(++writing).toBe(1);
        await new Promise((resolve) => setTimeout(resolve));
        writing--;
      },
    });
    expect(log).toContain("second, 2 at a time");
    expect(log).toHaveLength(2 * 4);
    expect(results[0]?.cells.map(({ id, series: [a] }) => [id, a?.runs.length])).toEqual([
      ["one", 3],
      ["two", 3],
    ]);
    expect(JSON.stringify(results)).not.toContain("needsQuiet");
  });

  it("gives a laboratory nothing more in which a whole cell failed by the bench's own fault, unless it is the last", async () => {
    const calls = { broken: 0, whole: 0 };
    const broken = series("a", async () => {
      calls.broken++;
      throw new Error("the edge is gone");
    });
    const whole = series("a", async () => {
      calls.whole++;
      // Long enough for a broken one to take everything.
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      return { values: { load: 1 } };
    });
    const threeCells = (run: PlannedSeries): PlannedExperiment[] => {
      const both = experiment([run], undefined, [false, false]);
      const [first] = both.cells;
      return [{ ...both, cells: first === undefined ? [] : [...both.cells, { ...first, id: "three" }] }];
    };
    const results = await execute([threeCells(broken), threeCells(whole)], STILL_OPTIONS);
    expect(calls).toEqual({ broken: 4, whole: 2 * 4 });
    const failures = results[0]?.cells.map(({ series: [a] }) => a?.runs.map(({ failure }) => failure?.blame));
    expect(failures?.flat().filter((blame) => blame === "harness")).toHaveLength(3);
    calls.broken = 0;
    await execute([threeCells(broken)], STILL_OPTIONS);
    expect(calls.broken).toBe(3 * 4);
  });

  it("says how busy the processors were in each run", async () => {
    let calls = 0;
    const processorTime = () => ({ busy: 30 * calls, total: 100 * calls++ });
    const { plans: both } = plans([true, true]);
    const results = await execute(both, { ...STILL_OPTIONS, processorTime });
    expect(results[0]?.cells[0]?.series[0]?.runs[0]?.processorsBusy).toBeCloseTo(0.3);
  });
});

describe("duration", () => {
  it("speaks of seconds, minutes and hours", () => {
    expect([12, 600, 7500].map(duration)).toEqual(["12 s", "10 min", "2 h 5 min"]);
  });
});
