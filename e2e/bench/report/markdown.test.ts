import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BenchResult, ExperimentResult } from "../model.ts";
import { syntheticResult } from "../testing/synthetic-result.ts";
import { markdownTable, updateBenchmarks } from "./markdown.ts";
import { summaryRows } from "./summary.ts";

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

describe("tables", () => {
  it("tell where Ropeway is first, and by how much", () => {
    expect(summaryRows([experiment], 1)).toEqual([
      ["A: 150 pictures, 5 ms one way", "1", "0 of 1", "–", "–", "1.08", "–"],
      ["A: 150 pictures, 25 to 300 ms", "1", "1 of 1", "–", "–", "0.26", "–"],
    ]);
    const versions = ["abc1234", "def5678"];
    const merged = {
      ...experiment,
      id: "X",
      cells: experiment.cells.map((cell, at) => ({ ...cell, ropeway: versions[at] ?? "" })),
    };
    expect(summaryRows([merged], 1)[0]?.at(-1)).toBe("abc1234, def5678");
    const together = { ...experiment, id: "X" };
    expect(summaryRows([together], 1)).toEqual([["X: Pictures", "2", "1 of 2", "–", "–", "0.53 (0.26 to 1.08)", "–"]]);
  });

  it("leave out fixed numbers of channels, which nobody uses", () => {
    const runs = (...loads: number[]) => runsOf(loads);
    const channels: ExperimentResult = {
      ...experiment,
      cells: [
        {
          id: "delay=300",
          at: { delay: 300 },
          floor: {},
          series: [
            { contestant: "http/2", runs: runs(4000) },
            { contestant: "ropeway open", runs: runs(3600) },
            { contestant: "ropeway open 1 channel", runs: runs(4800) },
            { contestant: "ropeway open 3 channels", runs: runs(3000) },
          ],
        },
      ],
    };
    expect(summaryRows([channels], 1)).toEqual([
      ["A: 150 pictures, 25 to 300 ms", "1", "1 of 1", "–", "0.90", "–", "–"],
    ]);
  });

  it("let no text break out of its cell", () => {
    expect(markdownTable(["a|b"], [["<script>\n`x` & | y"]])).toBe(
      "| a\\|b |\n| --- |\n| &lt;script> \\`x\\` &amp; \\| y |",
    );
  });

  it("have no median of a contestant that fails in half of its runs", () => {
    const failed = { round: 0, values: {}, failure: { blame: "contestant" as const, message: "timed out" } };
    const failing = (contestant: string, loads: readonly number[]) => ({
      contestant,
      runs: [...runsOf(loads), ...loads.map(() => failed)],
    });
    const cell = (series: ExperimentResult["cells"][number]["series"]) => ({
      ...experiment,
      cells: [{ id: "delay=5", at: { delay: 5 }, floor: {}, series }],
    });
    const ours = cell([{ contestant: "http/2", runs: runsOf([50, 60]) }, failing("ropeway warm", [10, 20])]);
    expect(summaryRows([ours], 1)).toEqual([["A: 150 pictures, 5 ms one way", "1", "0 of 1", "–", "–", "failed", "–"]]);
    const theirs = cell([failing("http/2", [10, 20]), { contestant: "ropeway warm", runs: runsOf([50, 60]) }]);
    expect(summaryRows([theirs], 1)).toEqual([]);
  });
});

describe("updateBenchmarks", () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-benchmarks-"));
    file = join(directory, "BENCHMARKS.md");
  });
  afterEach(() => rm(directory, { recursive: true }));

  const result: BenchResult = { ...syntheticResult({ rounds: 2 }), experiments: [experiment] };

  it("fills the blocks it has tables for, and touches nothing else", async () => {
    const text =
      "# Prose $& stays\n<!-- bench:summary -->\nold\n<!-- /bench -->\nbetween\n<!-- bench:Z -->\nkept\n<!-- /bench -->\n<!-- bench:papers --><!-- /bench -->\nend";
    await writeFile(file, text);
    expect(await updateBenchmarks(file, result)).toEqual(["summary", "papers"]);
    const updated = await readFile(file, "utf8");
    expect(updated).toContain("# Prose $& stays\n<!-- bench:summary -->\n| experiment | cells |");
    expect(updated).toContain("<!-- /bench -->\nbetween\n<!-- bench:Z -->\nkept\n<!-- /bench -->");
    expect(plain(updated)).toContain("| A: 150 pictures, 25 to 300 ms | 1 | 1 of 1 | – | – | 0.26 | – |");
    expect(updated.endsWith("\nend")).toBe(true);
    await updateBenchmarks(file, result);
    expect(await readFile(file, "utf8")).toBe(updated);
  });

  it("refuses a block without an end, and a file that is not there", async () => {
    await writeFile(file, "<!-- bench:A -->\n<!-- bench:B -->\n<!-- /bench -->");
    await expect(updateBenchmarks(file, result)).rejects.toThrow(`Cannot update ${file}: block A has no end`);
    await writeFile(file, "<!-- bench:A -->\n<!-- /bench -->\n<!-- bench:B -->");
    await expect(updateBenchmarks(file, result)).rejects.toThrow(`Cannot update ${file}: block B has no end`);
    await expect(updateBenchmarks(join(directory, "none.md"), result)).rejects.toThrow("Cannot update ");
  });
});
