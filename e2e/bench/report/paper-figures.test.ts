import { describe, expect, it } from "vitest";
import type { Cell, ExperimentResult, Metric } from "../model.ts";
import { syntheticResult } from "../testing/synthetic-result.ts";
import { paperFigures } from "./paper-figures.ts";

const THROUGHPUT: Metric = { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" };

function experiment(id: string, cells: readonly Cell[], metrics: readonly Metric[] = []): ExperimentResult {
  return { id, title: id, paper: "", metrics, headline: metrics[0]?.name ?? "", cells };
}

/** @param medians by contestant; null is a contestant that failed. */
function cell(at: Cell["at"], medians: Readonly<Record<string, Readonly<Record<string, number>> | null>>): Cell {
  return {
    id: JSON.stringify(at),
    at,
    floor: {},
    series: Object.entries(medians).map(([contestant, values]) => ({
      contestant,
      runs: [
        values === null
          ? { round: 1, values: {}, failure: { blame: "contestant", message: "lost" } }
          : { round: 1, values, failure: null },
      ],
    })),
  };
}

/** With plain spaces. */
function figuresOf(...experiments: readonly ExperimentResult[]): string[][] {
  return paperFigures(experiments).map((row) => row.map((text) => text.replaceAll("\u00a0", " ")));
}

describe("the papers' figures", () => {
  it("set throughput against HTTP/1.1's, with the best of the others", () => {
    const cells = [
      cell({ delay: 5 }, { "http/1.1": { throughput: 9_000 } }),
      cell(
        { delay: 300 },
        {
          "http/1.1": { throughput: 100 },
          "http/2": { throughput: 300 },
          "http/3": { throughput: 400 },
          "ropeway cold": null,
          "ropeway warm": { throughput: 2_000 },
        },
      ),
    ];
    expect(figuresOf(experiment("A", cells, [THROUGHPUT]))).toEqual([
      [
        "A: throughput, 300 ms",
        "60 → 162 kbit/s: 2.7 times",
        "100 kbit/s",
        "HTTP/3 400 kbit/s: 4 times",
        "Ropeway warm 2 Mbit/s: 20 times",
        "–",
      ],
    ]);
  });

  it("take geometric means over the cells of an application class, of those that both have", () => {
    const at = (name: string): Cell["at"] => ({ class: name, delay: 100 });
    const latency = (value: number) => ({ applicationLatency: value });
    const cells = [
      cell(at("browser-short"), { "http/1.1": latency(1_000), "http/2": null, "ropeway open": latency(500) }),
      cell(at("browser-short"), { "http/1.1": latency(1_000), "http/2": latency(900), "ropeway open": latency(2_000) }),
      cell(at("social-short"), { "http/1.1": latency(1_000), "http/2": latency(1_100), "ropeway open": latency(500) }),
      cell(at("social-recorded"), { "http/1.1": latency(1_000), "http/2": latency(9_000), "ropeway open": latency(9) }),
    ];
    const rows = figuresOf(experiment("C", cells));
    expect(rows.map(([figure, , , , ours]) => [figure, ours])).toEqual([
      ["C: L_app, all classes (3 cells)", "open −21 %"],
      ["C: L_app, browser (2 cells)", "open +0 %"],
      ["C: L_app, social (1 cell)", "open −50 %"],
    ]);
    expect(rows[1]?.[3]).toBe("HTTP/2 −10 %, HTTP/3 failed");
  });

  it("say what failed on GPRS", () => {
    const load = (value: number) => ({ load: value });
    const cells = [
      cell({ page: "shop" }, { "http/1.1": load(60_000), "http/3": null, "ropeway open": load(30_000) }),
      cell({ page: "unknown" }, { "http/1.1": load(60_000) }),
    ];
    const metrics: Metric[] = [{ name: "load", label: "load", unit: "ms", better: "lower" }];
    expect(figuresOf(experiment("D", cells, metrics))).toEqual([
      ["D: load of shop", "−45 to −55 %", "60 s", "HTTP/3 failed", "open −50 %", "–"],
    ]);
  });

  it("leave out what a result has no numbers for", () => {
    const rows = figuresOf(...syntheticResult({ rounds: 2 }).experiments);
    expect(new Set(rows.map(([figure]) => figure?.slice(0, 1)))).toEqual(new Set(["A", "B"]));
  });
});
