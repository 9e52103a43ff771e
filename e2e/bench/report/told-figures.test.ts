/**
 * Figures that stand in several documents, or in prose beside a result file: all places of one say the same, as far as the
 * digits of each go, and so do its results where they are kept.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { root } from "../../../scripts/build/paths.ts";
import { mergeResults } from "../merge-results.ts";
import type { BenchResult, Cell } from "../model.ts";
import { readResultFile } from "../result-schema.ts";
import { geometricMean } from "../statistics.ts";
import { compareCells, headlineMetric, summaryOf, valuesOf } from "./analysis.ts";
import { PUBLISHED } from "./publish.ts";

const BENCHMARKS = "BENCHMARKS.md";
const README = "README.md";
const PAPERS = "docs/papers.md";
const STORE = "docs/phone-store.md";
const EDGE_COST = "docs/edge-cost.md";
const PICTURES = "docs/pictures.md";

/** The pattern stands once in its document, whose line ends count as spaces, and names the figures that it captures. */
type Place = readonly [document: string, pattern: RegExp];

interface Told {
  readonly figure: string;
  readonly places: readonly Place[];
  readonly measured?: (kept: Kept) => Readonly<Record<string, number | string>>;
}

const TOLD: readonly Told[] = [
  {
    figure: "150 pictures at 300 ms, in times of HTTP's throughput",
    places: [
      [
        README,
        /at version (?<version>\w+)\. With 300 ms each way they come (?<open>[\d.]+) times faster than over HTTP\/1\.1 and (?<open3>[\d.]+) times faster than over HTTP\/3 if the app is open, and (?<warm>[\d.]+) and (?<warm3>[\d.]+) times faster/,
      ],
    ],
    measured: ({ bench }) => {
      const cell = cellOf(bench, "A", { delay: 300 });
      const [ours, warm, h1, h3] = ["ropeway open", "ropeway warm", "http/1.1", "http/3"].map((contestant) =>
        middle(cell, contestant, "throughput"),
      ) as [number, number, number, number];
      return { version: cell.ropeway ?? "", open: ours / h1, open3: ours / h3, warm: warm / h1, warm3: warm / h3 };
    },
  },
  {
    figure: "150 pictures at 300 ms, and over how many connections",
    places: [
      [
        PAPERS,
        /300 ms: (?<cold>\d+) kbit\/s with the app closed, over (?<coldChannels>\w+) WebSocket; (?<open>\d+) kbit\/s with it open, over (?<channels>\w+); HTTP\/1\.1 (?<direct>\d+) /,
      ],
    ],
    measured: ({ bench }) => {
      const cell = cellOf(bench, "A", { delay: 300 });
      const throughput = (contestant: string) => middle(cell, contestant, "throughput");
      const channels = (contestant: string) => IN_WORDS[middle(cell, contestant, "channels")] ?? "";
      return {
        cold: throughput("ropeway cold"),
        coldChannels: channels("ropeway cold"),
        open: throughput("ropeway open"),
        channels: channels("ropeway open"),
        direct: throughput("http/1.1"),
      };
    },
  },
  {
    figure: "lost packets, outages, and a style sheet under a download, against the best direct",
    places: [
      [PAPERS, /load of a page with 2 % loss: (?<loss>[\d.]+) of/],
      [PAPERS, /outages: (?<outages>[\d.]+) of the best direct/],
      [
        PAPERS,
        /a style sheet under a download: (?<sheet>[\d.]+) of the best direct \((?<best>[\d.]+) to (?<worst>[\d.]+)\)/,
      ],
      [BENCHMARKS, /C's video at 100 ms with loss and CUBIC\*\* \((?<video>[\d.]+)\)/],
    ],
    measured: ({ bench }) => {
      const { mean: sheet, best, worst } = ratios(bench, "F");
      const video = ratios(bench, "C", ({ id }) => id === "class=video-short delay=100 loss=2 cc=cubic").mean;
      return { loss: ratios(bench, "L").mean, outages: ratios(bench, "O").mean, sheet, best, worst, video };
    },
  },
  {
    figure: "outages, against our own goal",
    places: [[BENCHMARKS, /but all (?<cells>\w+) cells take (?<best>[\d.]+) to (?<worst>[\d.]+) times our own goal/]],
    measured: ({ bench }) => {
      const values = cellsOf(bench, "O").map((cell) => middle(cell, "ropeway open", "ratio"));
      const above = values.filter((value) => value > 1);
      return { cells: IN_WORDS[above.length] ?? "", best: Math.min(...above), worst: Math.max(...above) };
    },
  },
  {
    figure: "most connections of HTTP/1.1 where packets are lost",
    places: [[BENCHMARKS, /HTTP\/1\.1 opens up to (?<connections>\d+) connections/]],
    measured: ({ bench }) => {
      const series = [...cellsOf(bench, "L"), ...cellsOf(bench, "C")].flatMap((cell) => cell.series);
      const direct = series.filter(({ contestant }) => contestant === "http/1.1");
      return { connections: Math.max(...direct.flatMap((one) => valuesOf(one, "connections"))) };
    },
  },
  {
    figure: "framing of 10 kB",
    places: [[PAPERS, /framing: (?<percent>[\d.]+) % of 10 kB/]],
    measured: ({ bench }) => ({
      percent: middle(cellOf(bench, "B", { payload: 10_000 }), "ropeway stream", "relativeOverhead"),
    }),
  },
  {
    figure: "a news page on GPRS: as much less than over HTTP/1.1 without a hot cache as with it",
    places: [
      [PAPERS, /a news page on GPRS takes (?<percent>\d+) % less than over HTTP\/1\.1 with the cache hot/],
      [EDGE_COST, /`news-herald` took (?<percent>\d+) % less time on GPRS/],
      [EDGE_COST, /without it the page takes (?<percent>\d+) % less, too/],
    ],
    measured: ({ bench }) => {
      const cell = cellOf(bench, "D", { page: "news-herald" });
      return { percent: 100 * (1 - middle(cell, "ropeway open", "load") / middle(cell, "http/1.1", "load")) };
    },
  },
  {
    figure: "the day after, since there is a store",
    places: [
      [
        README,
        /pages took (?<lteClosed>[\d.]+) times as long as in the best browser on LTE, and (?<lte>[\d.]+) times with the app open\. On 3G it was (?<closed>[\d.]+) and (?<open>[\d.]+)\. /,
      ],
      [
        BENCHMARKS,
        /on 3G (?<open>[\d.]+) and (?<closed>[\d.]+) of the best browser's time, on LTE (?<lte>[\d.]+) and (?<lteClosed>[\d.]+), on satellite (?<sat>[\d.]+) and (?<satClosed>[\d.]+) \((?<version>\w+),/,
      ],
      [STORE, /\| 3G, eight \| (?<open>[\d.]+) \([^|]*\| [^|]*\| (?<closed>[\d.]+) /],
      [STORE, /\| LTE, six \| (?<lte>[\d.]+) \([^|]*\| [^|]*\| (?<lteClosed>[\d.]+) /],
      [STORE, /\| satellite, five \| (?<sat>[\d.]+) \([^|]*\| [^|]*\| (?<satClosed>[\d.]+) /],
      [STORE, /with the best and the worst; version (?<version>\w+)\./],
      [PAPERS, /on 3G with the app open: (?<open>[\d.]+) of the best direct in the mean of eight pages/],
    ],
  },
  {
    figure: "how long the app takes to start",
    places: [
      [BENCHMARKS, /the app needs (?<seconds>[\d.]+) s to start/],
      [STORE, /An app that is closed needs (?<seconds>[\d.]+) s to start/],
    ],
  },
  {
    figure: "heads, cookies apart",
    places: [
      [
        BENCHMARKS,
        /cookies apart, requests take (?<requests>[\d.]+), of which [\d.]+ are paths, and responses (?<responses>[\d.]+) /,
      ],
      [
        PAPERS,
        /requests (?<requests>[\d.]+), responses (?<responses>[\d.]+) of what captured pages sent, both without/,
      ],
    ],
  },
  {
    figure: "cuts of the link",
    places: [
      [BENCHMARKS, /In (?<cuts>[\d,]+) cuts of the link/],
      [PAPERS, /no byte lost in (?<cuts>[\d,]+) cuts/],
    ],
  },
  {
    figure: "smaller pictures",
    places: [
      [
        PAPERS,
        /twenty pictures of two pages: (?<bytes>[\d.]+) of the bytes, SSIM (?<least>[\d.]+) at least; (?<others>\d+) others: (?<otherBytes>[\d.]+), down to (?<otherLeast>[\d.]+) /,
      ],
      [PICTURES, /\| all \| (?<bytes>[\d.]+) \| [\d.]+ \| (?<least>[\d.]+) \|/],
      [
        PICTURES,
        /Of (?<others>\d+) other JPEG and PNG,.* all at (?<otherLeast>[\d.]+), with (?<otherBytes>[\d.]+) of the bytes/,
      ],
    ],
  },
  {
    figure: "codings of text, and of what has changed",
    places: [
      [PAPERS, /(?<deflate>\d+) % less than deflate/],
      ["docs/text-codings.md", /\| (?<deflate>\d+) % less than deflate \|/],
      [PAPERS, /releases (?<releases>[\d.]+), versions of pages (?<versions>[\d.]+) of brotli 11/],
      [
        "docs/changed-files.md",
        /\| mean of 17 (?:\| )+(?<releases>[\d.]+) \|.*?\| mean of 20 (?:\| )+(?<versions>[\d.]+) \|/,
      ],
    ],
  },
  {
    figure: "pushes of use",
    places: [
      [PAPERS, /(?<used>\d+) of (?<all>\d+) pushes of use on ten sites/],
      [
        "decisions/0032-what-scripts-ask-for-is-named-by-the-phone.md",
        /pages claimed (?<used>\d+) of (?<all>\d+) pushes/,
      ],
    ],
  },
  {
    figure: "what phones cost an edge",
    places: [
      [
        BENCHMARKS,
        /about (?<idle>\d+) kB of memory while its object sleeps \((?<idleVersion>[^)]+)\)\. 500 phones that browse take (?<request>[\d.]+) ms of processor time a request \((?<version>[^)]+)\)/,
      ],
    ],
    measured: ({ growth, phones }) => ({
      // To ten: "about".
      idle: 10 * Math.round((growth.figures.bytesPerIdleSession ?? 0) / 10_000),
      idleVersion: growth.versions.ropeway ?? "",
      request: phones.figures.cpuMillisecondsPerRequest ?? 0,
      version: phones.versions.ropeway ?? "",
    }),
  },
  {
    figure: "processor time of the phone for 150 pictures",
    places: [[BENCHMARKS, /; (?<seconds>[\d.]+) s of it for 150 pictures \((?<version>\w+)\)/]],
    measured: ({ profile }) => {
      const cell = profile.cells.find(({ id }) => id === "page=hundred-fifty delay=5 app=open");
      const milliseconds = (cell?.phoneThreads ?? []).reduce((sum, { time }) => sum + time, 0);
      return { seconds: milliseconds / 1000, version: profile.versions.ropeway ?? "" };
    },
  },
  {
    figure: "days of the runs, and how many visits a median has",
    places: [
      [BENCHMARKS, /medians of (?<fewest>\d+) to (?<most>\d+) visits/],
      [BENCHMARKS, /runs of the tables began on (?<first>\d+) and (?<last>\d+) November 2026\./],
    ],
    measured: ({ results }) => {
      const days = new Set(results.map(({ startedAt }) => startedAt.slice(0, 10)).toSorted());
      const rounds = results.flatMap(({ rounds, mostRounds = rounds }) => [rounds, mostRounds]);
      expect(days.size).toBe(2);
      const [first, last] = [...days].map((day) => day.replace("2026-11-", ""));
      return { first: first ?? "", last: last ?? "", fewest: Math.min(...rounds), most: Math.max(...rounds) };
    },
  },
];

const IN_WORDS = ["none", "one", "two", "three", "four", "five", "six"];

interface Scale {
  readonly figures: Readonly<Record<string, number>>;
  readonly versions: Readonly<Record<string, string>>;
}

interface Profile extends Pick<Scale, "versions"> {
  readonly cells: readonly { readonly id: string; readonly phoneThreads: readonly { readonly time: number }[] }[];
}

interface Kept {
  readonly bench: BenchResult;
  readonly results: readonly BenchResult[];
  readonly profile: Profile;
  readonly phones: Scale;
  readonly growth: Scale;
}

let kept: Kept;
beforeAll(async () => {
  const folder = join(root, "e2e/bench/results");
  const results = await Promise.all(PUBLISHED.map((name) => readResultFile(join(folder, name))));
  const scale = async (name: string): Promise<Scale> =>
    JSON.parse(await readFile(join(root, "e2e/scale/results", `${name}.json`), "utf8"));
  kept = {
    bench: mergeResults(results),
    results,
    profile: JSON.parse(gunzipSync(await readFile(join(folder, "seed-profile.json.gz"))).toString()),
    phones: await scale("phones-workerd"),
    growth: await scale("growth-workerd"),
  };
});

for (const { figure, places, measured } of TOLD)
  it(`${figure}: the same wherever it stands`, async () => {
    const told = new Map<string, { where: string; value: string }[]>();
    for (const [document, pattern] of places) {
      const text = (await readFile(join(root, document), "utf8")).replaceAll(/\s+/g, " ");
      const found = [...text.matchAll(new RegExp(pattern, "g"))];
      expect(found.length, `${document} has ${pattern} once`).toBe(1);
      for (const [name, value] of Object.entries(found[0]?.groups ?? {}))
        told.set(name, [...(told.get(name) ?? []), { where: document, value }]);
    }
    const results = Object.entries(measured?.(kept) ?? {});
    for (const [name, value] of results) told.get(name)?.push({ where: "results", value: String(value) });
    for (const [name, all] of told) {
      expect(all.length, `${name} stands in two places`).toBeGreaterThan(1);
      for (const one of all)
        for (const other of all)
          expect(agrees(one.value, other.value), `${name}: ${JSON.stringify([one, other])}`).toBe(true);
    }
  });

/** As far as the digits of the one that has fewer go. */
function agrees(one: string, other: string): boolean {
  const decimals = Math.min(...[one, other].map((text) => text.split(".")[1]?.length ?? 0));
  const [first, second] = [one, other].map((text) => Number(text.replaceAll(",", "")).toFixed(decimals));
  return Number.isNaN(Number(one.replaceAll(",", ""))) ? one === other : first === second;
}

function cellsOf({ experiments }: BenchResult, id: string): readonly Cell[] {
  return experiments.find((experiment) => experiment.id === id)?.cells ?? [];
}

function cellOf(bench: BenchResult, id: string, at: Cell["at"]): Cell {
  const cell = cellsOf(bench, id).find((one) => Object.entries(at).every(([key, value]) => one.at[key] === value));
  if (cell === undefined) throw new Error(`Cannot find the cell of ${id}: ${JSON.stringify(at)}`);
  return cell;
}

function middle({ series }: Cell, contestant: string, metric: string): number {
  const one = series.find((each) => each.contestant === contestant);
  return (one && summaryOf(one, metric)?.median) ?? Number.NaN;
}

/** Of the open app against the best direct contestant, over the cells. */
function ratios(
  bench: BenchResult,
  id: string,
  isMeant: (cell: Cell) => boolean = () => true,
): { mean: number; best: number; worst: number } {
  const experiment = bench.experiments.find((each) => each.id === id);
  if (experiment === undefined) throw new Error(`Cannot find experiment ${id}: no result has it`);
  const values = compareCells({ cells: experiment.cells.filter(isMeant) }, headlineMetric(experiment), 1)
    .filter(({ contestant }) => contestant === "ropeway open")
    .flatMap(({ ratio }) => ratio ?? []);
  return { mean: geometricMean(values), best: Math.min(...values), worst: Math.max(...values) };
}
