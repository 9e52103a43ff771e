/** `npm run bench -- --profile`: where the time of a visit goes, on the phone, on the link and at the edge. */
import { join } from "node:path";
import { dist } from "../../../scripts/build/paths.ts";
import { findChromium } from "../../fixtures/chromium.ts";
import { Laboratory } from "../laboratory.ts";
import { describeMachine, describeVersions } from "../machine.ts";
import type { Site } from "../model.ts";
import { makeSite, type SiteName } from "../sites/make-sites.ts";
import { type ProfileCell, profileCells } from "./cells.ts";
import { EdgeProfiler, INSPECTOR } from "./edge-profiler.ts";
import type { CellProfile, CodeCost, PhoneTime, ProfileResult } from "./model.ts";
import { SourceNames } from "./source-names.ts";
import {
  costsBySource,
  type ProfiledVisit,
  profilingWatcher,
  type TimedVisit,
  timingWatcher,
} from "./visit-profiler.ts";

export interface ProfileOptions {
  /** Texts that a cell's id has one of; all cells when empty. */
  readonly cells: readonly string[];
  /** Visits of each cell that are timed; one more is profiled. */
  readonly rounds: number;
  readonly seed: number;
}

const SITES_DIRECTORY = join(dist, "bench", "sites");
const WARM_UP_SITES: readonly SiteName[] = ["agency", "news-herald"];
const TIMEOUT = 120_000;
/** How many of the largest are written down. */
const SOURCES = 20;
const FUNCTIONS = 30;

/** @throws Error when the laboratory does not start or a visit fails: a profile has no use for half a visit. */
export async function runProfile(options: ProfileOptions, tell: (line: string) => void): Promise<ProfileResult> {
  const startedAt = new Date().toISOString();
  const cells = profileCells(options.cells);
  // The build has them from now on; names of functions come from them.
  process.env.ROPEWAY_SOURCEMAPS = "1";
  tell("Making the sites, starting link, origins and edge …");
  const sites = new Map<SiteName, Site>();
  for (const name of new Set([...cells.map(({ page }) => page), ...WARM_UP_SITES])) {
    sites.set(name, await makeSite(SITES_DIRECTORY, name, 0));
  }
  const edited = await Promise.all([...sites.keys()].map((name) => makeSite(SITES_DIRECTORY, name, 1)));
  const laboratory = await Laboratory.open({
    sites: [...sites.values()],
    edited,
    warmUpSites: WARM_UP_SITES.flatMap((name) => sites.get(name) ?? []),
    replayClasses: [],
    seed: options.seed,
    inspector: INSPECTOR,
  });
  const profiled: CellProfile[] = [];
  try {
    const edge = await EdgeProfiler.open(laboratory.lab, laboratory.directory);
    for (const [index, cell] of cells.entries()) {
      tell(`[${index + 1}/${cells.length}] ${cell.id}`);
      const site = sites.get(cell.page);
      if (site !== undefined) profiled.push(await profileCell(laboratory, edge, cell, site, options.rounds));
    }
    await edge.close();
  } finally {
    await laboratory.close();
  }
  return {
    schema: 1,
    startedAt,
    rounds: options.rounds,
    machine: describeMachine(),
    versions: await describeVersions(findChromium() ?? "chromium"),
    cells: profiled,
  };
}

async function profileCell(
  laboratory: Laboratory,
  edge: EdgeProfiler,
  cell: ProfileCell,
  site: Site,
  rounds: number,
): Promise<CellProfile> {
  const visit = { filmstrip: false, revisit: cell.revisit, timeout: TIMEOUT };
  const contestant = `ropeway ${cell.state}` as const;
  await laboratory.configure(cell.link, "bbr");
  const direct: TimedVisit[] = [];
  const timed: TimedVisit[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [who, visits] of [["http/2", direct] as const, [contestant, timed] as const]) {
      const watcher = timingWatcher(laboratory.lab, laboratory.edgePid, (seen) => visits.push(seen));
      await laboratory.visit(who, site, { ...visit, watcher });
    }
  }
  const seen: ProfiledVisit[] = [];
  const watcher = profilingWatcher(edge, new SourceNames(), (each) => seen.push(each));
  await laboratory.visit(contestant, site, { ...visit, watcher });
  const [typical, typicalDirect] = [medianVisit(timed), medianVisit(direct)];
  const [code] = seen;
  if (typical === undefined || typicalDirect === undefined || code === undefined)
    throw new Error(`Cannot profile ${cell.id}: no visit was seen`);
  const { load: _, compiling: __, ...parts } = typical;
  const named = (costs: readonly CodeCost[]): CodeCost[] => costs.slice(0, FUNCTIONS);
  return {
    id: cell.id,
    loads: timed.map(({ load }) => load),
    directLoads: direct.map(({ load }) => load),
    ...parts,
    phoneTimes: { ropeway: phoneTime(typical), direct: phoneTime(typicalDirect) },
    profiledLoad: code.load,
    phoneSources: costsBySource(code.phone).slice(0, SOURCES),
    phoneFunctions: named(code.phone),
    // All that count: their stages are made of them.
    edgeSources: costsBySource(code.edge).slice(0, 10 * SOURCES),
    edgeFunctions: named(code.edge),
  };
}

const medianVisit = (visits: readonly TimedVisit[]): TimedVisit | undefined =>
  visits.toSorted((one, other) => one.load - other.load)[Math.floor(visits.length / 2)];

const phoneTime = ({ phoneThreads, compiling }: TimedVisit): PhoneTime => ({
  all: phoneThreads.reduce((sum, { time }) => sum + time, 0),
  compiling,
});
