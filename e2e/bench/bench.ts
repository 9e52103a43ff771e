/** One run of the bench, from nothing to its result. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { dist } from "../../scripts/build/paths.ts";
import { seededRandom } from "../demo/random.ts";
import { findChromium } from "../fixtures/chromium.ts";
import { EDGE_TO_ORIGINS, type LinkSettings } from "../lab/lab.ts";
import { delayOnly, PROFILES, paperC } from "../lab/profiles.ts";
import { replayClasses } from "./behaviours/classes.ts";
import { recordedClass } from "./behaviours/recorded-class.ts";
import { duration, execute } from "./execute.ts";
import { applicationExperiment } from "./experiments/applications.ts";
import { delayExperiment, thirdGenerationExperiment } from "./experiments/delay.ts";
import { gprsExperiment, gprsRevisitExperiment } from "./experiments/gprs.ts";
import { lossExperiment, lossyLink } from "./experiments/loss.ts";
import { outageExperiment } from "./experiments/outages.ts";
import { megabitLink, overtakingExperiment } from "./experiments/overtaking.ts";
import { makeOvertakingSite } from "./experiments/overtaking-site.ts";
import { realPageExperiment } from "./experiments/real-pages.ts";
import { scriptedPageExperiment } from "./experiments/scripted-pages.ts";
import { EXTENTS, type Extent } from "./extent.ts";
import { Laboratory, TRACE_STEP } from "./laboratory.ts";
import { describeMachine, describeVersions, readProcessorTime } from "./machine.ts";
import type { BenchResult, ExperimentResult, Site } from "./model.ts";
import type { BenchMode, BenchOptions } from "./options.ts";
import { type PlannedExperiment, planSteps, secondsLeft } from "./schedule.ts";
import { makeOtherPages, makeSite, type SiteName } from "./sites/make-sites.ts";
import { planTwice } from "./twice.ts";
import { GRIDS as WEBSOCKET_COST_GRIDS, websocketCostExperiment } from "./websocket-cost/experiment.ts";

/** Visited before a page where the app has to be warm, the largest first. */
const WARM_UP_SITES: readonly SiteName[] = ["median-mobile", "agency", "news-herald", "static-i"];

const SITES_DIRECTORY = join(dist, "bench", "sites");

export interface BenchRun {
  readonly tell: (line: string) => void;
  /** The result so far, after each cell. */
  readonly keep: (result: BenchResult) => Promise<void>;
}

/** @throws Error when the laboratory does not start, or no experiment is left by the options. */
export async function runBench(options: BenchOptions, { tell, keep }: BenchRun): Promise<BenchResult> {
  const startedAt = new Date();
  const extent = EXTENTS[options.mode];
  tell("Making the sites …");
  const sites = await makeSites(extent, 0);
  const editedAgain = await Promise.all(extent.scriptedPages.sites.map((name) => makeSite(SITES_DIRECTORY, name, 2)));
  const edited = [...(await makeSites(extent, 1)), ...editedAgain];
  const others = (
    await Promise.all(extent.realPages.sites.map((name) => makeOtherPages(SITES_DIRECTORY, name)))
  ).flat();
  const overtakingSite = await makeOvertakingSite(SITES_DIRECTORY);
  const site = siteByName(sites);
  const classes =
    options.recorded.length > 0
      ? await Promise.all(options.recorded.map(recordedClass))
      : (await replayClasses(options.replays)).slice(0, extent.replays.classes);
  const start = performance.now();
  const laboratories: Laboratory[] = [];
  try {
    for (let number = 1; number <= options.laboratories; number++) {
      const which = options.laboratories > 1 ? ` of laboratory ${number}` : "";
      tell(`Starting link, origins and edge${which} …`);
      laboratories.push(
        await Laboratory.open({
          sites: [...sites, overtakingSite],
          edited,
          others,
          warmUpSites: WARM_UP_SITES.map(site),
          replayClasses: classes,
          seed: options.seed,
          sharesCache: options.isHot,
          namesLearned: !options.isUnlearned,
          pictures: options.pictures,
        }),
      );
    }
    const plans = laboratories.map((laboratory) =>
      chosen(
        [
          delayExperiment(laboratory, site("hundred-fifty"), extent.delays),
          ...(extent.thirdGeneration ? [thirdGenerationExperiment(laboratory, site("hundred-fifty"))] : []),
          websocketCostExperiment(laboratory.lab, options.mode),
          applicationExperiment(laboratory, { ...extent.replays, classes }),
          gprsExperiment(laboratory, extent.gprsSites.map(site)),
          ...(extent.gprsRevisits ? [gprsRevisitExperiment(laboratory, extent.gprsSites.map(site))] : []),
          overtakingExperiment(laboratory, overtakingSite, extent.overtaking),
          lossExperiment(laboratory, site(extent.loss.site), extent.loss),
          outageExperiment(laboratory, extent.outages, site),
          realPageExperiment(laboratory, {
            ...extent.realPages,
            sites: extent.realPages.sites.map(site),
            siblings: others.map(({ name }) => name),
            traces: extent.realPages.traces.map((place) => ({ ...place, site: site(place.site) })),
          }),
          scriptedPageExperiment(laboratory, extent.scriptedPages.sites.map(site), extent.scriptedPages.profiles),
        ],
        extent,
        options,
      ),
    );
    const partial = (results: readonly ExperimentResult[]): BenchResult => ({
      schema: 1,
      startedAt: startedAt.toISOString(),
      seconds: (performance.now() - start) / 1000,
      mode: options.mode,
      seed: options.seed,
      rounds: options.rounds,
      mostRounds: options.mostRounds,
      warmUpRounds: options.warmUpRounds,
      laboratories: options.laboratories,
      options: options.given,
      machine: describeMachine(),
      versions,
      links: usedLinks(extent, options.mode),
      experiments: results,
    });
    const versions = await describeVersions(findChromium() ?? "chromium");
    const { rounds, mostRounds, precision, warmUpRounds, seed } = options;
    const steps = planSteps(plans[0] ?? [], rounds, warmUpRounds, seededRandom(seed));
    const seconds = secondsLeft(steps, () => false, 0, laboratories.length);
    const isOpen = mostRounds > rounds && steps.some(({ cell }) => cell.isPrecise);
    tell(`${steps.length} runs, about ${duration(seconds)}${isOpen ? ", and more where medians scatter" : ""}`);
    const results = await execute(plans, {
      rounds,
      mostRounds,
      precision,
      warmUpRounds,
      random: seededRandom(seed),
      now: () => performance.now(),
      processorTime: readProcessorTime,
      tell,
      keep: (soFar) => keep(partial(soFar)),
    });
    return partial(results);
  } finally {
    await Promise.allSettled(laboratories.map((laboratory) => laboratory.close()));
  }
}

async function makeSites(extent: Extent, version: number): Promise<Site[]> {
  const names = new Set<SiteName>([
    "hundred-fifty",
    ...WARM_UP_SITES,
    ...extent.gprsSites,
    extent.loss.site,
    ...Object.values(extent.outages.sites),
    ...extent.realPages.sites,
    ...extent.realPages.traces.map(({ site }) => site),
    ...extent.scriptedPages.sites,
  ]);
  const sites: Site[] = [];
  for (const name of names) sites.push(await makeSite(SITES_DIRECTORY, name, version));
  return sites;
}

function siteByName(sites: readonly Site[]): (name: SiteName) => Site {
  return (name) => {
    const site = sites.find((each) => each.name === name);
    if (site === undefined) throw new Error(`Cannot run the bench: the site ${name} was not made`);
    return site;
  };
}

/** The part of the plan that the options ask for. */
function chosen(experiments: readonly PlannedExperiment[], extent: Extent, options: BenchOptions): PlannedExperiment[] {
  const { only, cells, isUnquiet } = options;
  const plan = experiments
    .filter(({ id }) => only.length === 0 || only.includes(id))
    .map((experiment) => ({
      ...experiment,
      cells: experiment.cells
        .filter(({ id }) => cells.length === 0 || cells.some((name) => isCalled(id, name, experiment.cells)))
        .map((cell) => ({
          ...cell,
          needsQuiet: cell.needsQuiet && !isUnquiet,
          series: cell.series.filter(({ contestant }) => isChosen(experiment.id, contestant, extent, options)),
        })),
    }))
    .filter(({ cells }) => cells.length > 0);
  if (plan.length === 0) {
    const ids = experiments.map(({ id }) => id).join(", ");
    throw new Error(`Cannot run the bench: nothing of this name; there are the experiments ${ids}`);
  }
  return options.isTwice ? planTwice(plan) : plan;
}

/** Where one has just that name, it is meant; else all that have it in theirs. */
function isCalled(id: string, name: string, cells: readonly { readonly id: string }[]): boolean {
  return cells.some((cell) => cell.id === name) ? id === name : id.includes(name);
}

function isChosen(experiment: string, contestant: string, extent: Extent, { contestants }: BenchOptions): boolean {
  // B has contestants of its own.
  if (experiment === "B") return true;
  const inExtent = extent.contestants[experiment] ?? extent.contestants.most;
  const some = experiment === "A" ? contestants : contestants.filter((name) => inExtent.includes(name));
  return some.some((name) => name === contestant);
}

function usedLinks(extent: Extent, mode: BenchMode): BenchResult["links"] {
  const links: [string, LinkSettings][] = [
    ...extent.delays.map((delay): [string, LinkSettings] => [`A delay=${delay}`, delayOnly(delay)]),
    ...WEBSOCKET_COST_GRIDS[mode].delays.map((delay): [string, LinkSettings] => [`B delay=${delay}`, delayOnly(delay)]),
    ...extent.replays.delays.flatMap((delay) =>
      extent.replays.losses.map((loss): [string, LinkSettings] => [
        `C delay=${delay} loss=${loss}`,
        paperC(delay, loss),
      ]),
    ),
    ...extent.loss.delays.map((delay): [string, LinkSettings] => [`L delay=${delay}`, lossyLink(delay)]),
    ...extent.overtaking.delays.map((delay): [string, LinkSettings] => [`F delay=${delay}`, megabitLink(delay)]),
    ...Object.entries(PROFILES),
    ["edge to origins", EDGE_TO_ORIGINS],
  ];
  return Object.fromEntries(
    links.map(([name, { delay, down, up, downQueue, upQueue, loss, trace }]) => [
      name,
      { delay, down, up, downQueue, upQueue, loss, ...(trace === undefined ? {} : describeTrace(trace)) },
    ]),
  );
}

function describeTrace({ down, up }: NonNullable<LinkSettings["trace"]>): Readonly<Record<string, string | number>> {
  const digest = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
  const named = (file: string): string => `${basename(file)} (SHA-256 ${digest(file)})`;
  return { traceDown: named(down), traceUp: named(up), traceStep: TRACE_STEP };
}
