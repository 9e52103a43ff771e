import { expect, it } from "vitest";
import { mergeResults } from "./merge-results.ts";
import type { BenchResult } from "./model.ts";
import { syntheticResult } from "./testing/synthetic-result.ts";

function part(result: BenchResult, id: string, from: number, to: number): BenchResult {
  return {
    ...result,
    experiments: result.experiments.flatMap((each) =>
      each.id === id ? [{ ...each, cells: each.cells.slice(from, to) }] : [],
    ),
  };
}

it("puts the parts of experiments together, later runs of a cell before earlier ones", () => {
  const [one, two] = [syntheticResult({ seed: 1, rounds: 1 }), syntheticResult({ seed: 2, rounds: 1 })];
  const cellsOf = (result: BenchResult, id: string) => result.experiments.find((each) => each.id === id)?.cells ?? [];
  const merged = mergeResults([part(two, "R", 0, 1), part(one, "A", 0, 3), part(two, "A", 2, 7)]);
  expect(merged.experiments.map(({ id }) => id)).toEqual(["A", "R"]);
  const measured = [...cellsOf(one, "A").slice(0, 2), ...cellsOf(two, "A").slice(2)];
  expect(cellsOf(merged, "A")).toMatchObject(measured);
  expect(cellsOf(merged, "R")).toMatchObject(cellsOf(two, "R").slice(0, 1));
  expect(merged.seed).toBe(2);
});

it("takes all but cells from the run begun last, wherever it is named", () => {
  const [early, late] = ["2026-11-21T20:00:00.000Z", "2026-11-22T07:00:00.000Z"].map((startedAt, index) => ({
    ...syntheticResult({ seed: index + 1, rounds: 1 }),
    startedAt,
  })) as [BenchResult, BenchResult];
  expect(mergeResults([late, early])).toMatchObject({ startedAt: late.startedAt, seed: 2 });
});

it("tells of each cell which version it was measured at, merged again, too", () => {
  const of = (ropeway: string): BenchResult => {
    const result = syntheticResult({ rounds: 1 });
    return { ...result, versions: { ...result.versions, ropeway } };
  };
  const merged = mergeResults([part(of("abc1234"), "A", 0, 1), part(of("def5678"), "A", 1, 2)]);
  const versions = ({ experiments }: BenchResult) =>
    experiments.flatMap(({ cells }) => cells.map((cell) => cell.ropeway));
  expect(versions(merged)).toEqual(["abc1234", "def5678"]);
  expect(versions(mergeResults([merged]))).toEqual(["abc1234", "def5678"]);
});

it("refuses nothing", () => {
  expect(() => mergeResults([])).toThrow("Cannot merge results: there is none");
});
