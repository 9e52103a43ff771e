import { expect, it } from "vitest";
import { withEarlierCells } from "./merge-results.ts";
import type { BenchResult } from "./model.ts";
import { syntheticResult } from "./report/synthetic-result.ts";

function part(result: BenchResult, id: string, from: number, to: number): BenchResult {
  return {
    ...result,
    experiments: result.experiments.flatMap((each) =>
      each.id === id ? [{ ...each, cells: each.cells.slice(from, to) }] : [],
    ),
  };
}

it("puts the parts of an experiment together, later runs of a cell before earlier ones", () => {
  const [one, two] = [syntheticResult({ seed: 1, rounds: 1 }), syntheticResult({ seed: 2, rounds: 1 })];
  const cellsOf = (result: BenchResult | undefined) => result?.experiments.find(({ id }) => id === "A")?.cells ?? [];
  const merged = withEarlierCells([part(one, "A", 0, 3), part(two, "A", 2, 7), part(two, "R", 0, 1)]);
  expect(cellsOf(merged[0])).toEqual(cellsOf(one).slice(0, 3));
  expect(cellsOf(merged[1])).toEqual([...cellsOf(one).slice(0, 2), ...cellsOf(two).slice(2)]);
  expect(merged[2]?.experiments.map(({ id }) => id)).toEqual(["R"]);
});
