import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { BenchResult, Cell, Run } from "../model.ts";
import { mergeResults } from "../results.ts";
import { filled, published } from "./publish.ts";

const runs = (metric: string, ...values: number[]): Run[] =>
  values.map((value, index) => ({ round: index + 1, values: { [metric]: value }, failure: null, processorsBusy: 0.5 }));

function resultOf(id: string, cells: readonly Cell[], startedAt = "2026-01-01T00:00:00.000Z"): BenchResult {
  return {
    schema: 2,
    startedAt,
    seconds: 1,
    ...{ seed: 1, rounds: 3, warmUpRounds: 0, laboratories: 1, options: [] },
    machine: { processor: "2 x Some", memory: "4 GiB" },
    versions: { ropeway: "abc" },
    experiments: [{ id, title: id, metrics: [], headline: "load", cells }],
  };
}

const cell: Cell = {
  id: "page=shop profile=3g cc=bbr visit=next day",
  at: { page: "shop", profile: "3g", visit: "next day" },
  floor: {},
  series: [
    { contestant: "http/2", runs: runs("load", 4000, 4100, 4200) },
    { contestant: "http/3", runs: [{ round: 1, values: {}, failure: { blame: "contestant", message: "no" } }] },
    { contestant: "ropeway open", runs: runs("load", 2000, 2050, 2100) },
    { contestant: "ropeway cold", runs: runs("load", 4000, 4110, 4200) },
  ],
};

it("a table names each machine that its figures are from", () => {
  const other = { ...resultOf("R", [cell]), machine: { processor: "2 x Other", memory: "8 GiB" } };
  const { at } = cell;
  const first = { ...cell, id: "page=shop profile=3g cc=bbr visit=first", at: { ...at, visit: "first" } };
  const text = filled("<!-- bench:real-pages --><!-- /bench -->", mergeResults([other, resultOf("R", [first])]));
  expect(text).toContain("2 x Other, 8 GiB and 2 x Some, 4 GiB;");
});

it("each published figure is that of its result file: publishing again changes nothing", async () => {
  for (const [path, content] of await published()) expect(await readFile(path, "utf8"), path).toBe(content);
});

describe("a block", () => {
  const results = mergeResults([resultOf("R", [cell])]);

  it("has means of ratios, counts that know what is level, and where the figures are from", () => {
    const text = filled("<!-- bench:real-pages -->old<!-- /bench -->", results);
    expect(text).toContain("| 3G, the day after | 1 | 1.00 (1.00 to 1.00): 1 level | 0.50 (0.50 to 0.50): 1 faster |");
    expect(text).toContain("Version abc, 2026-01-01, 2 x Some, 4 GiB; processors 50 % busy; 3 rounds.");
  });

  it("says that a piece was not measured, and leaves what is no block as it is", () => {
    const text = filled("Before <!-- bench:chaos --><!-- /bench --> and after.", results);
    expect(text).toMatch(/^Before .*\n.*Not measured yet.*\n.* and after\.$/s);
  });

  it.each(["<!-- bench:chaos -->", "<!-- /bench -->", "<!-- bench:none --><!-- /bench -->"])(
    "is refused: %s",
    (text) => {
      expect(() => filled(text, results)).toThrow(/^Cannot (publish|fill)/);
    },
  );
});

it("of a contestant that two runs had, the later one counts", () => {
  const later = { ...cell, series: [{ contestant: "http/2", runs: runs("load", 1000, 1000, 1000) }] };
  const merged = mergeResults([resultOf("R", [cell]), resultOf("R", [later], "2026-01-02T00:00:00.000Z")]);
  const series = merged.get("R")?.cells[0]?.series ?? [];
  expect(series).toHaveLength(4);
  expect(series.find(({ contestant }) => contestant === "http/2")?.runs[0]?.values.load).toBe(1000);
});
