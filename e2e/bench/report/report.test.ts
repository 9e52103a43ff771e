import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BenchResult, ExperimentResult } from "../model.ts";
import { SYNTHETIC_FRAMES } from "../testing/synthetic-frames.ts";
import { HOSTILE_PAGE, syntheticResult } from "../testing/synthetic-result.ts";
import { partsOf, summaryOf } from "./analysis.ts";
import { cellLabel, gridOf } from "./grid.ts";
import { markup } from "./markup.ts";
import { writePictures } from "./pictures.ts";
import { formatNumber } from "./quantity.ts";
import { renderReport } from "./report.ts";

const result = syntheticResult({ rounds: 3 });
const report = renderReport(result);

/** The part of the report that one experiment has. */
function sectionOf({ id }: ExperimentResult): string {
  const start = report.indexOf(`<section class="experiment" id="${id}"`);
  return report.slice(start, report.indexOf("\n</section>", start));
}

/** Whatever a browser would fetch: attributes and style that name an address. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/\s(?:href|src|srcset|action|xlink:href)="([^"]*)"|url\(([^)]*)\)|@import\s+([^;]+)/g)].map(
    ([, attribute, style, sheet]) => attribute ?? style ?? sheet ?? "",
  );
}

describe("report", () => {
  it("fetches nothing and runs nothing", () => {
    const foreign = addressesIn(report).filter((address) => !/^(#|data:image\/jpeg;base64,)/.test(address));
    expect(foreign).toEqual([]);
    expect(report).not.toMatch(/<script|<link|<iframe|\son\w+=/i);
    expect(report).toContain("default-src 'none'");
  });

  it("shows text as text", () => {
    expect(report).not.toContain(HOSTILE_PAGE);
    expect(report).toContain(markup`${HOSTILE_PAGE}`.text);
  });

  it("has each cell, contestant and run of each experiment", () => {
    for (const experiment of result.experiments) {
      const section = sectionOf(experiment);
      for (const { cells } of partsOf(experiment)) {
        const grid = gridOf(cells);
        for (const cell of cells) {
          expect(section).toContain(`<th scope="row">${markup`${cellLabel(cell, grid)}`.text}</th>`);
        }
      }
      const runs = experiment.cells.flatMap(({ series }) => series.flatMap((one) => one.runs));
      const tables = section.split("<summary>Every run").slice(1);
      const rows = tables.flatMap((table) => table.slice(0, table.indexOf("</table>")).match(/<tr><th scope="row">/g));
      expect(rows.length).toBe(runs.length);
    }
  });

  it("has the medians, and every value of every run", () => {
    const [first] = result.experiments;
    if (first === undefined) throw new Error("Cannot test: the synthetic result is empty");
    const section = sectionOf(first);
    for (const { series } of first.cells) {
      for (const one of series) {
        const load = summaryOf(one, "load");
        if (load) expect(section).toContain(`>${formatNumber(load.median / 1000)} <small>`);
        for (const { values } of one.runs) {
          if (values.load !== undefined)
            expect(section).toContain(`<td class="number">${formatNumber(values.load)}</td>`);
        }
      }
    }
  });

  it("names every run that failed, with its blame", () => {
    const failures = result.experiments.flatMap(({ cells }) =>
      cells.flatMap(({ series }) => series.flatMap(({ runs }) => runs.flatMap(({ failure }) => failure ?? []))),
    );
    expect(failures.length).toBeGreaterThan(3);
    expect(report).toContain(`of which ${failures.length} failed`);
    for (const { blame, message } of failures) {
      expect(report).toContain(`<span class="blame ${blame}">`);
      expect(report).toContain(markup`${message}`.text);
    }
  });

  it("has what it takes to repeat the run", () => {
    for (const value of [...Object.values(result.versions), ...Object.values(result.machine)]) {
      expect(report).toContain(`<td class="">${value}</td>`);
    }
    for (const link of Object.keys(result.links)) expect(report).toContain(`<th scope="row">${link}</th>`);
  });

  it("describes every plot to those who do not see it, and has no two things of one id", () => {
    const plots = report.match(/<svg [^>]*>/g) ?? [];
    expect(plots.length).toBeGreaterThan(50);
    for (const plot of plots) expect(plot).toMatch(/role="img" aria-label="[^"]+"/);
    const ids = [...report.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of report.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });

  it("has no number that is none", () => {
    expect(report).not.toMatch(/NaN|Infinity|undefined|\[object/);
  });

  it("warns of too few rounds", () => {
    const reportOf = (rounds: number): string => {
      const { experiments, ...run } = syntheticResult({ rounds });
      return renderReport({ ...run, experiments: experiments.slice(0, 1) });
    };
    expect(reportOf(1)).toContain("A look, not a measurement");
    expect(reportOf(5)).not.toContain("A look, not a measurement");
  });

  it("can be made of a run that hardly began, and of one in which everything failed", () => {
    const [first] = result.experiments;
    if (first === undefined) throw new Error("Cannot test: the synthetic result is empty");
    const ruined: BenchResult = {
      ...result,
      experiments: [
        {
          ...first,
          cells: first.cells.map((cell) => ({
            ...cell,
            series: cell.series.map(({ contestant }) => ({
              contestant,
              runs: [{ round: 1, values: {}, failure: { blame: "harness" as const, message: "no browser" } }],
            })),
          })),
        },
      ],
    };
    expect(renderReport(ruined)).toContain("all 1 failed");
    expect(renderReport(ruined)).not.toMatch(/NaN|Infinity|undefined/);
    expect(renderReport({ ...result, experiments: [] })).toContain("0 runs, none failed.");
    const begun = {
      ...first,
      cells: first.cells.slice(0, 1).map((cell) => ({ ...cell, series: cell.series.slice(0, 1) })),
    };
    expect(renderReport({ ...result, experiments: [begun] })).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("pictures", () => {
  let directory: string;
  let files: string[];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-pictures-"));
    files = await writePictures(result, directory);
  });
  afterAll(() => rm(directory, { recursive: true }));

  it("are one file per figure, named by what they show", async () => {
    expect((await readdir(directory)).sort()).toEqual(files.toSorted());
    expect(files).toEqual(
      expect.arrayContaining([
        "ours-against-best-direct.svg",
        "a-throughput-against-delay.svg",
        "a-load-against-delay.svg",
        "a-filmstrips.svg",
        "a-costs.svg",
        "a-3g-load.svg",
        "b-echotime-against-payload.svg",
        "b-handshake-against-delay.svg",
        "c-load-against-delay.svg",
        "r-load-lte-first-visit.svg",
        "r-load-distribution.svg",
      ]),
    );
    expect(new Set(files).size).toBe(files.length);
  });

  it("stand alone: colours of both schemes within, nothing fetched, text escaped", async () => {
    for (const file of files) {
      const svg = await readFile(join(directory, file), "utf8");
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
      expect(svg).toContain("prefers-color-scheme: dark");
      expect(addressesIn(svg).filter((address) => !/^(#|data:image\/jpeg;base64,)/.test(address))).toEqual([]);
      expect(svg).not.toMatch(/NaN|Infinity|undefined|<script/);
      expect(svg.match(/<text/g)?.length).toBe(svg.match(/<\/text>/g)?.length);
    }
  });

  it("hold each frame of a filmstrip once", async () => {
    const svg = await readFile(join(directory, "a-filmstrips.svg"), "utf8");
    for (const frame of Object.values(SYNTHETIC_FRAMES)) expect(svg.split(frame).length).toBe(2);
  });
});
