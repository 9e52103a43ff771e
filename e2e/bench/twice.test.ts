import { expect, it } from "vitest";
import { execute } from "./execute.ts";
import type { PlannedExperiment } from "./schedule.ts";
import { STILL_OPTIONS } from "./testing/still-options.ts";
import { syntheticResult } from "./testing/synthetic-result.ts";
import { planTwice, splitRuns } from "./twice.ts";

it("runs each contestant twice in each round, and tells the runs apart", async () => {
  const order: string[] = [];
  let count = 0;
  const series = ["a", "b"].map((contestant) => ({
    contestant,
    estimate: 1,
    run: async (round: number) => {
      order.push(`${round} ${contestant}`);
      count += 1;
      return { values: { load: count } };
    },
  }));
  const cell = { id: "one", at: {}, floor: {}, needsQuiet: true, prepare: async () => {}, series };
  const labels = { title: "", paper: "", metrics: [], headline: "load" };
  const plan: PlannedExperiment[] = [{ id: "X", ...labels, cells: [cell] }];
  const experiments = await execute([planTwice(plan)], STILL_OPTIONS);
  for (let round = 0; round < 4; round += 1) {
    const ofRound = order.slice(4 * round, 4 * round + 4).sort();
    expect(ofRound).toEqual([`${round} a`, `${round} a`, `${round} b`, `${round} b`]);
  }
  const runs = splitRuns({ ...syntheticResult(), experiments });
  expect(runs).toHaveLength(2);
  const values = runs.map(({ experiments: [first] }) =>
    first?.cells[0]?.series.flatMap((each) => [each.contestant, ...each.runs.map((run) => run.values.load ?? 0)]),
  );
  for (const run of values) expect(run?.filter((value) => typeof value === "string")).toEqual(["a", "b"]);
  const numbers = values.flat().filter((value) => typeof value === "number");
  expect(numbers.toSorted((one, other) => one - other)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
});

it("leaves a result of one run as it is", () => {
  const result = syntheticResult();
  expect(splitRuns(result)).toEqual([result]);
});
