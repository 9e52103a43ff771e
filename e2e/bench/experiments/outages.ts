/**
 * Experiment O: the link goes away without a word once half of a page's bytes have come, and comes back. A contestant that
 * does not finish by itself within two minutes of the return, or loses part of the page, is reloaded once.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Frame } from "@playwright/test";
import type { LinkSettings } from "../../lab/lab.ts";
import { PROFILES, type ProfileName } from "../../lab/profiles.ts";
import type { Arrivals } from "../contestants/arrivals.ts";
import { type OutageRecord, OutageWatch } from "../contestants/outage-watch.ts";
import type { Load, Loaded } from "../contestants/visit.ts";
import { needsQuiet, type Outcome, type PlannedExperiment } from "../execute.ts";
import { ContestantError, HarnessError } from "../failure.ts";
import { transferTime, visitFloor } from "../floor.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Contestant, Metric, Site } from "../model.ts";
import { estimateVisit } from "./pages.ts";

export interface OutageGrid<Name extends string> {
  /** The page that is visited over each link. */
  readonly sites: Readonly<Partial<Record<ProfileName, Name>>>;
  /** Lengths of the outages. */
  readonly seconds: readonly number[];
}

/** A person who opens a page and goes into a tunnel: the app is open, direct browsers need nothing opened. */
const CONTESTED = ["http/1.1", "http/2", "http/3", "ropeway open"] as const satisfies readonly Contestant[];

/** Milliseconds after the link's return until the person asks again for a page that has neither loaded nor failed. */
const PATIENCE = 120_000;
/** The whole visit, in milliseconds. */
const LONGEST_VISIT = 900_000;

const METRICS: readonly Metric[] = [
  { name: "sinceReturn", label: "link's return to load", unit: "ms", better: "lower" },
  { name: "load", label: "load", unit: "ms", better: "lower" },
  { name: "reloaded", label: "reloads by the person", unit: "", better: "lower" },
  { name: "bytesDown", label: "bytes down", unit: "B", better: "lower" },
];

export function outageExperiment<Name extends string>(
  laboratory: Laboratory,
  grid: OutageGrid<Name>,
  siteNamed: (name: Name) => Site,
): PlannedExperiment {
  const profiles = Object.entries(grid.sites) as [ProfileName, Name][];
  return {
    id: "O",
    title: "An outage in mid-page",
    metrics: METRICS,
    headline: "sinceReturn",
    cells: profiles.flatMap(([profile, name]) =>
      grid.seconds.map((outage) => {
        const [link, site] = [PROFILES[profile], siteNamed(name)];
        const id = `page=${name} profile=${profile} outage=${outage}`;
        return {
          id,
          at: { page: name, profile, outage },
          floor: visitFloor(link, site),
          congestion: "bbr",
          link,
          needsQuiet: needsQuiet(link),
          prepare: (round) => laboratory.configure(link, "bbr", { cell: id, round }),
          series: CONTESTED.map((contestant) => ({
            contestant,
            estimate: outage * 1.5 + estimateVisit(contestant, link, site),
            run: () => visitThroughOutage(laboratory, { contestant, link, site, outage: outage * 1000 }),
          })),
        };
      }),
    ),
  };
}

interface OutageVisit {
  readonly contestant: Contestant;
  readonly link: LinkSettings;
  readonly site: Site;
  /** Milliseconds. */
  readonly outage: number;
}

async function visitThroughOutage(
  laboratory: Laboratory,
  { contestant, link, site, outage }: OutageVisit,
): Promise<Outcome> {
  const whole = transferTime(link, site.codedBytes);
  const plan = { afterBytes: (whole * link.down) / 8 / 2, duration: outage };
  const outcomes: Outcome[] = [];
  const visit = await laboratory.visitThrough(contestant, site, LONGEST_VISIT, async (load, arrivals) => {
    const watch = new OutageWatch(laboratory.lab, plan);
    try {
      const { loaded, reason, record } = await loadOnceOrTwice(load, arrivals, site, watch);
      const loadedAt = await endOfLoad(loaded.frame);
      const sinceReturn = loadedAt - record.returnedAt;
      outcomes.push({
        values: { sinceReturn, load: loadedAt - watch.startedAt, reloaded: reason === null ? 0 : 1 },
      });
      return loaded;
    } finally {
      await watch.stop();
    }
  });
  const [outcome] = outcomes;
  if (outcome === undefined) throw new HarnessError("Cannot tell what the outage did: the visit ended without it");
  return { ...outcome, values: { ...outcome.values, bytesDown: visit.bytesDown } };
}

/** @throws ContestantError when a second asking does not help either. */
async function loadOnceOrTwice(
  load: Load,
  arrivals: Arrivals,
  site: Site,
  watch: OutageWatch,
): Promise<{ readonly loaded: Loaded; readonly reason: string | null; readonly record: OutageRecord }> {
  const first = await tryLoad(load, arrivals, site, watch);
  const record = await Promise.race([watch.returned, neverCut(watch, first)]);
  if (typeof first !== "string") return { loaded: first, reason: null, record };
  const second = await tryLoad(load, arrivals, site, watch);
  if (typeof second !== "string") return { loaded: second, reason: first, record };
  throw new ContestantError(`Cannot load ${site.url} after an outage: ${first}; a reload did not help: ${second}`);
}

/** @returns what is wrong, in the contestant's words where it has some, unless the page has loaded whole. */
async function tryLoad(load: Load, arrivals: Arrivals, site: Site, watch: OutageWatch): Promise<Loaded | string> {
  const whole = async (): Promise<Loaded | string> => {
    const loaded = await load();
    await arrivals.settled(site.objects);
    if (arrivals.whole >= site.objects) return loaded;
    return `${arrivals.whole} of ${site.objects} objects; ${arrivals.failures}`;
  };
  const patience = new AbortController();
  const outOfPatience = async (): Promise<string> => {
    await watch.returned;
    await wait(PATIENCE, undefined, { signal: patience.signal });
    return `still loading ${PATIENCE / 1000} s after the link's return; ${arrivals.failures}`;
  };
  const hanging = outOfPatience();
  hanging.catch(() => {});
  try {
    return await Promise.race([whole().catch(reasonOf), hanging]);
  } finally {
    patience.abort();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof HarnessError) throw error;
  return (error instanceof Error ? error.message.split("\n")[0] : String(error)) ?? "";
}

/** Milliseconds that a page which failed in an outage may take until the link is back. */
const LONGEST_OUTAGE = 60_000;

async function neverCut(watch: OutageWatch, loaded: Loaded | string): Promise<never> {
  await wait(typeof loaded === "string" ? LONGEST_OUTAGE : 0, undefined, { ref: false });
  throw new HarnessError(`Cannot have an outage: the page ended before, after ${watch.elapsed()} ms`);
}

/** Milliseconds since 1970. */
function endOfLoad(frame: Frame): Promise<number> {
  return frame.evaluate(async () => {
    const navigation = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
    while (navigation.loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return performance.timeOrigin + navigation.loadEventEnd;
  });
}
