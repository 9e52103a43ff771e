import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BenchResult, ExperimentResult } from "../model.ts";
import { compareRuns, comparisonTable } from "./compare.ts";
import { experimentTable, markdownTable, notFirstList, replaceBlock, updateBenchmarks } from "./markdown.ts";
import { syntheticResult } from "./synthetic-result.ts";

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

function withProcessorsBusy(of: ExperimentResult, processorsBusy: number): ExperimentResult {
  const cells = of.cells.map((cell) => ({
    ...cell,
    series: cell.series.map((one) => ({ ...one, runs: one.runs.map((run) => ({ ...run, processorsBusy })) })),
  }));
  return { ...of, cells };
}

function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

describe("tables", () => {
  it("have cells as rows, contestants as columns, and mark ratios above 1", () => {
    expect(plain(experimentTable(experiment, LOAD, 1))).toBe(
      [
        "| load | HTTP/2 | Ropeway warm | floor | unit | Ropeway warm / best direct |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| 5 ms | 60 [55–65] | 65 [65–65], 1 failed | 10 | ms | **▲ 1.08** |",
        "| 300 ms | 3.60 [3.30–3.90] | 0.95 [0.95–0.95], 1 failed | 0.60 | s | 0.26 |",
      ].join("\n"),
    );
  });

  it("set the app's own choice of channels beside fixed numbers of them", () => {
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
    expect(plain(experimentTable(channels, LOAD, 1))).toBe(
      [
        "| load | HTTP/2 | Ropeway open | Ropeway open 1 channel | Ropeway open 3 channels | unit | Ropeway open / best direct | policy / best fixed |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 300 ms | 4 | 3.60 | 4.80 | 3 | s | 0.90 | **▲ 1.20** |",
      ].join("\n"),
    );
    const count = { name: "channels", label: "channels", unit: "", better: "lower" } as const;
    const counted: ExperimentResult = {
      ...channels,
      metrics: [LOAD, count],
      cells: channels.cells.map((cell) => ({
        ...cell,
        series: cell.series.map(({ contestant, runs }) => ({
          contestant,
          runs: runs.map((run) => (contestant.startsWith("ropeway") ? { ...run, values: { channels: 2 } } : run)),
        })),
      })),
    };
    expect(experimentTable(counted, count, 1).split("\n")[0]).toBe(
      "| channels | Ropeway open | Ropeway open 1 channel | Ropeway open 3 channels | unit |",
    );
    expect(notFirstList([channels], 1)).toBe("Ropeway is first or level in all 1 comparison.");
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
    expect(plain(notFirstList([ours], 1))).toContain("Ropeway warm fails in half of its runs or more, HTTP/2 55 ms");
    const theirs = cell([failing("http/2", [10, 20]), { contestant: "ropeway warm", runs: runsOf([50, 60]) }]);
    expect(notFirstList([theirs], 1)).toBe("There is nothing to compare with.");
    expect(plain(experimentTable(ours, LOAD, 1))).toContain("| 55 [52.5–57.5] | 2 of 4 failed | ms | **▲ failed** |");
  });

  it("list where Ropeway is not first", () => {
    expect(plain(notFirstList([experiment], 1))).toBe(
      "Ropeway is not first in 1 of 2 comparisons:\n\n- A, 5 ms: Ropeway warm load 65 ms, HTTP/2 60 ms (1.08)",
    );
    const first = { ...experiment, cells: experiment.cells.slice(1) };
    expect(notFirstList([first], 1)).toBe("Ropeway is first or level in all 1 comparison.");
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

  it("fills the blocks it has numbers for, and touches nothing else", async () => {
    const text =
      "# Prose $& stays\n<!-- bench:A -->\nold\n<!-- /bench -->\nbetween\n<!-- bench:Z -->\nkept\n<!-- /bench -->\n<!-- bench:not-first --><!-- /bench -->\n<!-- bench:A/bytesDown -->\nkept too\n<!-- /bench -->\n<!-- bench:run -->\n<!-- /bench -->\nend";
    await writeFile(file, text);
    expect(await updateBenchmarks(file, result)).toEqual(["A", "not-first", "run"]);
    const updated = await readFile(file, "utf8");
    expect(updated).toContain("# Prose $& stays\n<!-- bench:A -->\n| load | HTTP/2 |");
    expect(updated).toContain("<!-- /bench -->\nbetween\n<!-- bench:Z -->\nkept\n<!-- /bench -->");
    expect(updated).toContain("<!-- bench:A/bytesDown -->\nkept too\n<!-- /bench -->");
    expect(updated).toContain("Ropeway is not first in 1 of 2");
    expect(updated).toContain("| Caddy | 2.6.2 |");
    expect(updated.endsWith("\nend")).toBe(true);
    await updateBenchmarks(file, result);
    expect(await readFile(file, "utf8")).toBe(updated);
  });

  it("says which results the tables are from", async () => {
    await writeFile(file, "<!-- bench:runs -->\n<!-- /bench -->");
    expect(await updateBenchmarks(file, result)).toEqual([]);
    const made = { startedAt: "2026-11-21T23:22:48.000Z", rounds: 5, warmUpRounds: 1, laboratories: 3 };
    const source = { ...result, ...made, versions: { ropeway: "e18e7b8" } };
    const busy = { ...source, experiments: [withProcessorsBusy(experiment, 0.87)] };
    const sources = [
      { name: "seed-a.json", result: source },
      { name: "seed-b.json", result: busy },
    ];
    expect(await updateBenchmarks(file, result, sources)).toEqual(["runs"]);
    const lines = plain(await readFile(file, "utf8")).split("\n");
    expect(lines).toContain("| seed-a.json | A (2 cells) | e18e7b8 | 2026-11-21 23:22 | 5, after 1 | 3 | – |");
    expect(lines).toContain(
      "| seed-b.json | A (2 cells) | e18e7b8 | 2026-11-21 23:22 | 5, after 1 | 3 | 87 % (87 %) |",
    );
  });

  it("refuses a block without an end, and a file that is not there", async () => {
    await writeFile(file, "<!-- bench:A -->\n<!-- bench:B -->\n<!-- /bench -->");
    await expect(updateBenchmarks(file, result)).rejects.toThrow(`Cannot update ${file}: block A has no end`);
    await writeFile(file, "<!-- bench:A -->\n<!-- /bench -->\n<!-- bench:B -->");
    await expect(updateBenchmarks(file, result)).rejects.toThrow(`Cannot update ${file}: block B has no end`);
    await expect(updateBenchmarks(join(directory, "none.md"), result)).rejects.toThrow("Cannot update ");
  });

  it("puts given text into a block", () => {
    expect(replaceBlock("a <!-- bench:link -->x<!-- /bench --> b", "link", "$1\n")).toBe(
      "a <!-- bench:link -->\n$1\n<!-- /bench --> b",
    );
    expect(() => replaceBlock("nothing", "link", "")).toThrow("Cannot replace block link: there is no");
  });
});

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
