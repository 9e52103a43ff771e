/** One run of the bench, from nothing to its result. */
import { join } from "node:path";
import { dist } from "../../scripts/build/paths.ts";
import { seededRandom } from "../demo/random.ts";
import { findChromium } from "../fixtures/chromium.ts";
import { replayClasses } from "./behaviours/classes.ts";
import { duration, execute, type PlannedExperiment, planSteps, secondsLeft } from "./execute.ts";
import { applicationExperiment, PAPER_GRID } from "./experiments/applications.ts";
import { chaosExperiment } from "./experiments/chaos.ts";
import { outageExperiment } from "./experiments/outages.ts";
import {
  delayExperiment,
  gprsExperiment,
  hourlyExperiment,
  realPageExperiment,
  sharedCacheExperiment,
  thirdGenerationExperiment,
} from "./experiments/pages.ts";
import { Laboratory } from "./laboratory.ts";
import { describeMachine, describeVersions, readProcessorTime } from "./machine.ts";
import { type BenchResult, EXPERIMENTS, type ExperimentResult, type Site } from "./model.ts";
import type { BenchMode, BenchOptions } from "./options.ts";
import { GPRSWEB_SITES, makeSite, REAL_SITES, type SiteName } from "./sites/make-sites.ts";
import { websocketCostExperiment } from "./websocket-cost/experiment.ts";
import { headCodingExperiment } from "./websocket-cost/heads.ts";

/** Visited before a page where the app has to be warm, the largest first. */
const WARM_UP_SITES: readonly SiteName[] = ["median-mobile", "agency", "news-herald", "static-i"];

const SITES_DIRECTORY = join(dist, "bench", "sites");

/** How much of each experiment there is. `HOURS`: visits of D-day. */
const EXTENTS = {
  full: {
    delays: [0, 5, 25, 50, 100, 150, 200, 300],
    replays: PAPER_GRID,
    gprsSites: GPRSWEB_SITES,
    hourly: { sites: ["news-herald"], hours: 7 },
    outages: { sites: { gprs: "static-ii", "3g": "median-mobile" }, seconds: [5, 15, 40] },
    realPages: { sites: REAL_SITES, profiles: ["gprs", "3g", "lte", "sat"], visits: ["first", "same day", "next day"] },
    cuts: 2_000,
  },
  smoke: {
    delays: [25],
    replays: { delays: [0], losses: [2], congestion: ["cubic"] },
    gprsSites: ["static-i"],
    hourly: { sites: ["static-i"], hours: 2 },
    outages: { sites: { "3g": "spectre-docs" }, seconds: [3] },
    realPages: { sites: ["spectre-docs"], profiles: ["lte"], visits: ["first", "next day"] },
    cuts: 20,
  },
} as const satisfies Record<BenchMode, object>;

export interface BenchRun {
  readonly tell: (line: string) => void;
  /** The result so far, after each cell. */
  readonly keep: (result: BenchResult) => Promise<void>;
}

/** @throws Error when the laboratory does not start, or no experiment is left by the options. */
export async function runBench(options: BenchOptions, { tell, keep }: BenchRun): Promise<BenchResult> {
  const startedAt = new Date();
  const { mode, rounds, warmUpRounds, seed } = options;
  tell("Making the sites …");
  const sites = await sitesOf(options);
  const classes = await replayClasses(mode === "full" ? undefined : ["browser"]);
  const start = performance.now();
  const laboratories: Laboratory[] = [];
  try {
    for (let number = 1; number <= options.laboratories; number++) {
      tell(`Starting link, origins and edge of laboratory ${number} …`);
      laboratories.push(
        await Laboratory.open({
          ...sites,
          warmUpSites: sites.sites.filter(({ name }) => WARM_UP_SITES.some((known) => known === name)),
          replayClasses: classes,
          seed,
          sharesCache: options.isHot,
          front: options.front,
        }),
      );
    }
    const versions = await describeVersions(findChromium() ?? "chromium");
    const plans = laboratories.map((laboratory) => chosen(plan(laboratory, classes, sites.sites, options), options));
    const partial = (experiments: readonly ExperimentResult[]): BenchResult => ({
      schema: 2,
      startedAt: startedAt.toISOString(),
      seconds: (performance.now() - start) / 1000,
      ...{ seed, rounds, warmUpRounds, laboratories: options.laboratories, options: options.given },
      machine: describeMachine(),
      versions,
      experiments,
    });
    const steps = planSteps(plans[0] ?? [], rounds, warmUpRounds, seededRandom(seed));
    tell(`${steps.length} runs, about ${duration(secondsLeft(steps, () => false, 0, laboratories.length))}`);
    const results = await execute(plans, {
      ...{ rounds, warmUpRounds, tell },
      random: seededRandom(seed),
      now: () => performance.now(),
      processorTime: readProcessorTime,
      keep: (soFar) => keep(partial(soFar)),
    });
    return partial(results);
  } finally {
    await Promise.allSettled(laboratories.map((laboratory) => laboratory.close()));
  }
}

/** Those that the experiments need, and as they were edited since. */
async function sitesOf({ mode, only }: BenchOptions): Promise<{ readonly sites: Site[]; readonly edited: Site[] }> {
  const { gprsSites, hourly, outages, realPages } = EXTENTS[mode];
  const needs = (id: string): boolean => only.length === 0 || only.includes(id);
  const hourlySites: readonly SiteName[] = needs("D-day") ? hourly.sites : [];
  const names = new Set<SiteName>([
    "hundred-fifty",
    ...WARM_UP_SITES,
    ...gprsSites,
    ...Object.values(outages.sites),
    ...realPages.sites,
  ]);
  const [sites, edited]: [Site[], Site[]] = [[], []];
  for (const name of names) {
    sites.push(await makeSite(SITES_DIRECTORY, name, 0));
    const edits = hourlySites.includes(name) ? hourly.hours - 1 : 1;
    for (let version = 1; version <= edits; version++) edited.push(await makeSite(SITES_DIRECTORY, name, version));
  }
  return { sites, edited };
}

function plan(
  laboratory: Laboratory,
  classes: Awaited<ReturnType<typeof replayClasses>>,
  sites: readonly Site[],
  { mode, isHot }: BenchOptions,
): PlannedExperiment[] {
  const extent = EXTENTS[mode];
  const site = (name: SiteName): Site => {
    const found = sites.find((each) => each.name === name);
    if (found === undefined) throw new Error(`Cannot run the bench: the site ${name} was not made`);
    return found;
  };
  const gprsSites = extent.gprsSites.map(site);
  return [
    delayExperiment(laboratory, site("hundred-fifty"), extent.delays),
    thirdGenerationExperiment(laboratory, site("hundred-fifty")),
    websocketCostExperiment(laboratory.lab, mode),
    applicationExperiment(laboratory, { ...extent.replays, classes }),
    headCodingExperiment(["news-herald", "median-mobile"].map((name) => site(name as SiteName))),
    gprsExperiment(laboratory, gprsSites),
    sharedCacheExperiment(laboratory, gprsSites, isHot ? "hot" : "cold"),
    hourlyExperiment(laboratory, extent.hourly.sites.map(site), extent.hourly.hours),
    outageExperiment(laboratory, extent.outages, site),
    realPageExperiment(laboratory, { ...extent.realPages, sites: extent.realPages.sites.map(site) }),
    chaosExperiment(extent.cuts),
  ];
}

/** The part of the plan that the options ask for. */
function chosen(experiments: readonly PlannedExperiment[], options: BenchOptions): PlannedExperiment[] {
  const { only, mode, isUnquiet } = options;
  const wanted: readonly string[] = options.contestants.length === 0 && mode === "smoke" ? SMOKED : options.contestants;
  const plan = experiments
    .filter(({ id }) => only.length === 0 || only.includes(id))
    .map((experiment) => ({
      ...experiment,
      cells: experiment.cells
        .filter(({ id }) => isChosen(id, options.cells, experiment.cells))
        .map((cell) => {
          const some = cell.series.filter(({ contestant }) => wanted.includes(contestant));
          // Experiments without visits have contestants of their own.
          const isOwn = !cell.series.some(({ contestant }) => /^(http|ropeway (cold|open|warm))/.test(contestant));
          const series = wanted.length === 0 || isOwn ? cell.series : some;
          return { ...cell, needsQuiet: cell.needsQuiet && !isUnquiet, series };
        })
        .filter(({ series }) => series.length > 0),
    }))
    .filter(({ cells }) => cells.length > 0);
  if (plan.length > 0) return plan;
  throw new Error(`Cannot run the bench: nothing of this name; there are the experiments ${EXPERIMENTS.join(", ")}`);
}

const SMOKED: readonly string[] = ["http/1.0", "http/2", "ropeway open", "ropeway open transport alone"];

/** Where one cell has just a name that is given, it is meant; else all that have it in theirs. */
function isChosen(id: string, names: readonly string[], cells: readonly { readonly id: string }[]): boolean {
  if (names.length === 0) return true;
  return names.some((name) => {
    if (cells.some((cell) => cell.id === name)) return id === name;
    const parts = name.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(parts.join(".*")).test(id);
  });
}
