import { describe, expect, it } from "vitest";
import { ALL_CONTESTANTS, type Cell, CONTESTANTS, type ExperimentResult, type Metric } from "../model.ts";
import {
  compareCell,
  compareCells,
  comparePolicy,
  countRuns,
  failuresOf,
  meanRatio,
  partsOf,
  partWith,
  typicalRun,
} from "./analysis.ts";
import { type ContestantLook, looksOf } from "./contestant-look.ts";
import { behindSentence, headlineOf, runsSentence } from "./sections/headline.ts";

const LOAD: Metric = { name: "load", label: "load", unit: "ms", better: "lower" };
const THROUGHPUT: Metric = { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" };

/** @param loads by contestant; null is a run that failed. */
function cellOf(delay: number, loads: Readonly<Record<string, readonly (number | null)[]>>): Cell {
  return {
    id: `delay=${delay}`,
    at: { delay },
    floor: {},
    series: Object.entries(loads).map(([contestant, values]) => ({
      contestant,
      runs: values.map((load, index) =>
        load === null
          ? { round: index + 1, values: {}, failure: { blame: "contestant", message: "timed out" } }
          : { round: index + 1, values: { load, throughput: 1000 / load }, failure: null },
      ),
    })),
  };
}

function experimentOf(cells: readonly Cell[], metric = LOAD): ExperimentResult {
  return { id: "A", title: "Pictures", paper: "", metrics: [LOAD, THROUGHPUT], headline: metric.name, cells };
}

const cell = cellOf(300, {
  "http/1.1": [17_000, 18_000, 17_500],
  "http/2": [4300, 4100, 4200],
  "ropeway cold": [5000, 5040, 5100],
  "ropeway warm": [1000, 900, 1100],
});

describe("comparison with the best direct contestant", () => {
  it("divides our median by the lowest direct one", () => {
    const [cold, warm] = compareCell(cell, LOAD, 1);
    expect(cold).toMatchObject({ contestant: "ropeway cold", ratio: 1.2, behind: true });
    expect(warm).toMatchObject({ ours: 1000, best: { contestant: "http/2", median: 4200 }, behind: false });
    expect(warm?.ratio).toBeCloseTo(1000 / 4200, 12);
    expect(warm?.interval?.low).toBeLessThan(warm?.ratio ?? 0);
    expect(warm?.interval?.high).toBeGreaterThan(warm?.ratio ?? 0);
  });

  it("is turned round where more is better, so that below 1 we are better all the same", () => {
    expect(compareCell(cell, THROUGHPUT, 1).map(({ ratio }) => ratio?.toFixed(6))).toEqual(
      compareCell(cell, LOAD, 1).map(({ ratio }) => ratio?.toFixed(6)),
    );
  });

  it("takes failures of ours for being behind, and no direct contestant for nothing to compare with", () => {
    const failed = cellOf(5, { "http/2": [10, 11], "ropeway warm": [null, null] });
    expect(compareCell(failed, LOAD, 1)).toMatchObject([{ ours: null, ratio: null, interval: null, behind: true }]);
    expect(compareCell(cellOf(5, { "http/2": [null], "ropeway warm": [1] }), LOAD, 1)).toEqual([]);
    // It loaded, and only what is compared was not measured.
    const silent = cellOf(5, { "http/2": [5], "ropeway warm": [4, 4] });
    const unmeasured = silent.series.map((series) =>
      series.contestant === "http/2" ? series : { ...series, runs: series.runs.map((run) => ({ ...run, values: {} })) },
    );
    expect(compareCell({ ...silent, series: unmeasured }, LOAD, 1)).toEqual([]);
  });

  it("has no ratio over zero, but knows who is better", () => {
    const zero = cellOf(5, { "http/2": [0], "ropeway warm": [3] });
    expect(compareCell(zero, LOAD, 1)).toMatchObject([{ ratio: null, behind: true }]);
  });

  it("counts what rounds to 1.00 as level", () => {
    const level = cellOf(5, { "http/2": [1000], "ropeway warm": [1004], "ropeway cold": [1006] });
    expect(compareCell(level, LOAD, 1).map(({ behind }) => behind)).toEqual([false, true]);
  });

  it("averages ratios as ratios are averaged", () => {
    const pair = [
      cellOf(5, { "http/2": [10], "ropeway warm": [5] }),
      cellOf(25, { "http/2": [10], "ropeway warm": [20] }),
    ];
    expect(meanRatio(pair.flatMap((each) => compareCell(each, LOAD, 1)))).toBeCloseTo(1, 12);
    expect(meanRatio([])).toBeNull();
  });
});

describe("channels", () => {
  const byChannels = cellOf(300, {
    "http/2": [5000],
    "ropeway open": [4400, 4400],
    "ropeway open 1 channel": [6000, 6000],
    "ropeway open 3 channels": [4000, 4000],
    "ropeway open 5 channels": [null, null],
  });

  it("compares the app's own choice with the best fixed number, and marks it above 1.10", () => {
    expect(comparePolicy(byChannels, LOAD, 1)).toMatchObject({
      ours: 4400,
      best: { contestant: "ropeway open 3 channels", median: 4000 },
      ratio: 1.1,
      behind: false,
    });
    expect(comparePolicy(byChannels, THROUGHPUT, 1)?.ratio).toBeCloseTo(1.1, 12);
    const slow = cellOf(300, { "ropeway open": [4460], "ropeway open 1 channel": [4000] });
    expect(comparePolicy(slow, LOAD, 1)).toMatchObject({ ratio: 1.115, behind: true });
    const failed = cellOf(300, { "ropeway open": [null], "ropeway open 1 channel": [4000] });
    expect(comparePolicy(failed, LOAD, 1)).toMatchObject({ ours: null, ratio: null, behind: true });
    expect(comparePolicy(cell, LOAD, 1)).toBeNull();
    expect(comparePolicy(cellOf(300, { "ropeway open 1 channel": [1] }), LOAD, 1)).toBeNull();
  });

  it("leaves fixed numbers out of where Ropeway stands", () => {
    expect(compareCell(byChannels, LOAD, 1)).toHaveLength(4);
    expect(compareCells({ cells: [byChannels] }, LOAD, 1).map(({ contestant }) => contestant)).toEqual([
      "ropeway open",
    ]);
    expect(headlineOf(experimentOf([byChannels]), 1).sentence).toMatch(
      /^Open, Ropeway loads the page 1\.1 times faster/,
    );
    expect(behindSentence(experimentOf([byChannels]), 1)).toBe("Ropeway is first or level in all 1 comparison.");
  });
});

describe("runs", () => {
  const cells = [cellOf(5, { "http/2": [10, null, 30, 11, null], "ropeway warm": [1] })];

  it("are counted, failed ones by blame and message", () => {
    expect(countRuns(cells)).toEqual({ runs: 6, failedByHarness: 0, failedByContestant: 2 });
    expect(failuresOf(cells)).toMatchObject([
      { contestant: "http/2", blame: "contestant", message: "timed out", rounds: [2, 5] },
    ]);
    expect(runsSentence(cells)).toBe("6 runs, of which 2 failed: 2 by the contestant's fault, 0 by the bench's own.");
  });

  it("are stood for by the one nearest to the median", () => {
    expect(typicalRun(cells[0]?.series[0] ?? { runs: [] }, "load")?.round).toBe(4);
    expect(typicalRun({ runs: [] }, "load")).toBeNull();
  });
});

describe("looks", () => {
  it("tell all contestants apart, and are the same whatever the company", () => {
    const strangers = [
      "a",
      "b",
      "c",
      "d",
      "ropeway 1 channel",
      "ropeway 3 channels",
      "ropeway 5 channels",
      "ropeway x",
    ];
    const looks = [...looksOf([...CONTESTANTS]).values(), ...looksOf(strangers).values()];
    const drawn = ({ colour, marker }: ContestantLook) => `${colour} ${marker}`;
    expect(new Set([...looksOf([...ALL_CONTESTANTS]).values()].map(drawn)).size).toBe(ALL_CONTESTANTS.length);
    expect(new Set(looks.slice(0, 6).map(drawn)).size).toBe(6);
    expect(new Set(looks.slice(6).map(drawn)).size).toBe(8);
    expect(looksOf(["ropeway warm", "http/3"]).get("ropeway warm")).toEqual(looks[5]);
    expect(looks.filter(({ ours }) => ours).every(({ colour }) => colour.includes("--ours"))).toBe(true);
  });
});

describe("parts", () => {
  it("are cells of the same coordinates, each led by a metric that it has", () => {
    const opening: Cell = {
      id: "opening",
      at: { rtt: 5 },
      floor: {},
      series: [{ contestant: "TCP", runs: [{ round: 1, values: { throughput: 7 }, failure: null }] }],
    };
    const parts = partsOf(experimentOf([cell, opening]));
    expect(parts.map(({ headline, cells }) => [headline, cells.length])).toEqual([
      ["load", 1],
      ["throughput", 1],
    ]);
    expect(partWith(experimentOf([cell, opening]), LOAD).cells).toEqual([cell]);
    // A cell of which another result left the metric out; one in which all failed stays.
    const without: Cell = {
      ...cell,
      id: "without",
      series: cell.series.map((series) => ({
        ...series,
        runs: [{ round: 1, failure: null, values: { bytesDown: 1 } }],
      })),
    };
    const failed: Cell = {
      ...cell,
      id: "failed",
      series: cell.series.map((series) => ({
        ...series,
        runs: [{ round: 1, failure: { blame: "contestant", message: "late" }, values: {} }],
      })),
    };
    const several = partWith(experimentOf([cell, without, failed]), LOAD).cells;
    expect(several.map(({ id }) => id)).toEqual([cell.id, "failed"]);
  });
});

describe("headlines", () => {
  const near = cellOf(5, { "http/2": [400], "ropeway cold": [600], "ropeway warm": [380] });
  const middle = cellOf(100, { "http/2": [1400], "ropeway cold": [1600], "ropeway warm": [580] });

  it("tell the far end of the axis", () => {
    expect(headlineOf(experimentOf([near, middle, cell]), 1)).toEqual({
      figure: "4.2×",
      better: true,
      sentence:
        "Warm, Ropeway loads the page 4.2 times faster than the best direct browser (HTTP/2) at 300\u00a0ms: 1\u00a0s against 4.20\u00a0s.",
    });
  });

  it("tell the mean where there is no axis", () => {
    expect(headlineOf(experimentOf([near, middle]), 1).sentence).toBe(
      "Warm, Ropeway loads pages 1.6 times faster than the best direct browser (geometric mean), and is first or level in 2 of 2 cells.",
    );
  });

  it("do not flatter", () => {
    const slow = cellOf(5, { "http/2": [400], "ropeway cold": [600] });
    expect(headlineOf(experimentOf([slow]), 1)).toEqual({
      figure: "0.67×",
      better: false,
      sentence:
        "Cold, Ropeway takes 1.5 times as long to load the page as the best direct browser (HTTP/2) at 5\u00a0ms: 600\u00a0ms against 400\u00a0ms.",
    });
    expect(behindSentence(experimentOf([near, middle, cell]), 1)).toBe(
      "Ropeway is behind in 3 of 6 comparisons; most of all: Ropeway cold, 5\u00a0ms (1.50 of HTTP/2).",
    );
  });

  it("say so where nothing can be compared", () => {
    expect(headlineOf(experimentOf([cellOf(5, { "http/2": [1] })]), 1).figure).toBeNull();
  });
});
