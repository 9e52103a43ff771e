/** Experiments that visit pages (A, A-3g, D, D-cache, D-day, R): their cells, and the numbers that a visit gives. */
import type { LinkSettings } from "../../lab/lab.ts";
import { delayOnly, PROFILES, type ProfileName } from "../../lab/profiles.ts";
import { ropewayContestant } from "../contestants/ropeway-contestant.ts";
import type { VisitWatcher } from "../contestants/visit.ts";
import { needsQuiet, type Outcome, type PlannedCell, type PlannedExperiment } from "../execute.ts";
import { visitFloor } from "../floor.ts";
import type { CongestionControl, Contestant, Metric, Run, Site, Visit } from "../model.ts";

/** The page was visited before with the same profile. */
export interface Revisit {
  /** Milliseconds since then. */
  readonly after: number;
  /** What is visited now: the page as it was, or as its site has edited it since. */
  readonly to: "same" | "edited";
}

export interface VisitOptions {
  /** Milliseconds until the person has given up. */
  readonly timeout: number;
  /** Null on a first visit. */
  readonly revisit: Revisit | null;
  readonly watcher?: VisitWatcher;
}

/** One round of a cell. */
export interface CellRound {
  readonly cell: string;
  readonly round: number;
}

/** What page experiments need of the laboratory. */
export interface PageVisitor {
  /** @param at whose losses the link is to have. */
  configure(link: LinkSettings, congestion: CongestionControl, at: CellRound, toOrigins?: number): Promise<void>;
  /**
   * @throws ContestantError when the page does not load whole and in time.
   * @throws HarnessError when the bench itself fails.
   */
  visit(contestant: Contestant, site: Site, options: VisitOptions): Promise<Visit>;
  visitHourly(contestant: Contestant, site: Site, hours: number, timeout: number): Promise<readonly Visit[]>;
}

interface PageCell {
  readonly id: string;
  readonly at: PlannedCell["at"];
  readonly site: Site;
  readonly link: LinkSettings;
  readonly congestion: CongestionControl;
  readonly contestants: readonly Contestant[];
  /** As of a visit; a first one by default. */
  readonly revisit?: Revisit | null;
  /** By default where the link is a fast one. */
  readonly needsQuiet?: boolean;
  /** Milliseconds one way between edge and origins; as in all other cells by default. */
  readonly toOrigins?: number;
}

/** Milliseconds. */
const MINUTE = 60 * 1000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Longest that anybody waits for a page, in milliseconds. */
const LONGEST_VISIT = 600_000;

const LOAD_METRICS: readonly Metric[] = [
  { name: "load", label: "load", unit: "ms", better: "lower" },
  { name: "firstContentfulPaint", label: "first contentful paint", unit: "ms", better: "lower" },
  { name: "largestContentfulPaint", label: "largest contentful paint", unit: "ms", better: "lower" },
  { name: "bytesDown", label: "bytes down", unit: "B", better: "lower" },
  { name: "bytesUp", label: "bytes up", unit: "B", better: "lower" },
  { name: "connections", label: "connections", unit: "", better: "lower" },
  { name: "drops", label: "packets lost", unit: "", better: "lower" },
  { name: "browserCpu", label: "CPU of the browser", unit: "s", better: "lower" },
  { name: "edgeCpu", label: "CPU of the edge", unit: "s", better: "lower" },
  { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" },
];

function planPageCell(visitor: PageVisitor, cell: PageCell): PlannedCell {
  const revisit = cell.revisit ?? null;
  const estimates = cell.contestants.map(
    (contestant) => estimateVisit(contestant, cell.link, cell.site) * (revisit === null ? 1 : 1.7),
  );
  // The same for all: who is thought to be slow gets no longer.
  const timeout = Math.min(LONGEST_VISIT, 30_000 + 6000 * Math.max(...estimates));
  return {
    id: cell.id,
    at: cell.at,
    // A cache may spare anything.
    floor: revisit === null ? visitFloor(cell.link, cell.site) : {},
    congestion: cell.congestion,
    needsQuiet: cell.needsQuiet ?? needsQuiet(cell.link),
    link: cell.link,
    prepare: (round) => visitor.configure(cell.link, cell.congestion, { cell: cell.id, round }, cell.toOrigins),
    series: cell.contestants.map((contestant, index) => ({
      contestant,
      estimate: estimates[index] ?? 0,
      run: async () => outcomeOf(await visitor.visit(contestant, cell.site, { revisit, timeout }), cell.site),
    })),
  };
}

function outcomeOf(visit: Visit, site: Site): Outcome {
  const { objects: _, ...measured } = visit;
  const all = { ...measured, throughput: (site.bytes * 8) / visit.load };
  return { values: Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== null)) as Run["values"] };
}

/** Seconds of one visit with all that goes before and after it, roughly. */
export function estimateVisit(contestant: Contestant, link: LinkSettings, site: Site): number {
  const roundTrip = link.delay / 500;
  const transfer = link.down === 0 ? 0 : (site.codedBytes * 8) / link.down / 1000;
  const { state } = ropewayContestant(contestant) ?? { state: contestant };
  const roundTrips: Readonly<Record<string, number>> = {
    "http/1.0": 4 + site.objects / 1.5,
    "http/1.1": 4 + site.objects / 5,
    cold: 7 + site.depth,
    open: 12 + site.depth,
    warm: 20 + site.depth,
  };
  return 3 + (roundTrips[state] ?? 6 + site.depth) * roundTrip + 1.1 * transfer;
}

const EVERYDAY = ["http/1.1", "http/2", "http/3", "ropeway cold", "ropeway open", "ropeway warm"] as const;

/** A: 150 small pictures, against delay (Nakajima, Isshiki, Takefuji). @param delays milliseconds one way. */
export function delayExperiment(visitor: PageVisitor, site: Site, delays: readonly number[]): PlannedExperiment {
  return experiment("A", "150 pictures of 1,517 bytes, against delay", [
    ...delays.map((delay) =>
      planPageCell(visitor, {
        id: `delay=${delay}`,
        at: { delay },
        site,
        link: delayOnly(delay),
        congestion: "bbr",
        contestants: [...EVERYDAY, "ropeway open 1 channel", "ropeway open 1 channel without push"],
      }),
    ),
  ]);
}

/** A's second experiment. */
export function thirdGenerationExperiment(visitor: PageVisitor, site: Site): PlannedExperiment {
  return experiment("A-3g", "150 pictures of 1,517 bytes, on 3G", [
    planPageCell(visitor, {
      id: "3g",
      at: { profile: "3g" },
      site,
      link: PROFILES["3g"],
      congestion: "bbr",
      contestants: [...EVERYDAY, "ropeway open 1 channel", "ropeway open 1 channel without push"],
    }),
  ]);
}

/** D: GPRSWeb's pages on its link (Chakravorty, Clark, Pratt); seen for the first time, or with all hits on the phone. */
export function gprsExperiment(visitor: PageVisitor, sites: readonly Site[]): PlannedExperiment {
  const cells = sites.flatMap((site) =>
    (["first", "stored"] as const).map((visit) =>
      planPageCell(visitor, {
        id: `page=${site.name} visit=${visit}`,
        at: { page: site.name, visit },
        site,
        link: PROFILES.gprs,
        congestion: "bbr",
        contestants:
          visit === "stored"
            ? ["http/1.1", "http/2", "ropeway open"]
            : ["http/1.0", ...EVERYDAY, "ropeway open without push", "ropeway open smaller pictures"],
        revisit: visit === "stored" ? { after: MINUTE, to: "same" } : null,
      }),
    ),
  );
  return experiment("D", "Pages as GPRSWeb used them, on GPRS", cells);
}

/** Milliseconds one way: 60 a round trip. */
const FAR_ORIGINS = 30;

/** D-cache: the same with origins far from the edge, and its shared cache. @param cache which of them this laboratory has. */
export function sharedCacheExperiment(
  visitor: PageVisitor,
  sites: readonly Site[],
  cache: "cold" | "hot",
): PlannedExperiment {
  const cells = sites.map((site) =>
    planPageCell(visitor, {
      id: `page=${site.name} cache=${cache}`,
      at: { page: site.name, cache },
      site,
      link: PROFILES.gprs,
      congestion: "bbr",
      contestants: ["ropeway open"],
      toOrigins: FAR_ORIGINS,
    }),
  );
  return experiment("D-cache", "The shared cache, with origins 60 ms from the edge, on GPRS", cells);
}

/** D-day: a page visited every hour of a day, edited meanwhile. @param hours visits, the first of which does not count. */
export function hourlyExperiment(visitor: PageVisitor, sites: readonly Site[], hours: number): PlannedExperiment {
  const link = PROFILES.gprs;
  const contestants: readonly Contestant[] = [
    "http/1.1",
    "ropeway open",
    "ropeway open without known bodies",
    "ropeway open transport alone",
  ];
  const cells = sites.map((site): PlannedCell => {
    const id = `page=${site.name} hours=${hours}`;
    return {
      id,
      at: { page: site.name, hours },
      floor: { load: 2 * link.delay },
      congestion: "bbr",
      link,
      needsQuiet: false,
      prepare: (round) => visitor.configure(link, "bbr", { cell: id, round }),
      series: contestants.map((contestant) => ({
        contestant,
        estimate: 0.8 * hours * estimateVisit(contestant, link, site),
        run: async () => {
          const visits = await visitor.visitHourly(contestant, site, hours, LONGEST_VISIT);
          const mean = (of: (visit: Visit) => number): number =>
            visits.reduce((sum, visit) => sum + of(visit), 0) / visits.length;
          const [load, bytesDown, bytesUp] = [
            mean((one) => one.load),
            mean((one) => one.bytesDown),
            mean((one) => one.bytesUp),
          ];
          return { values: { load, bytesDown, bytesUp } };
        },
      })),
    };
  });
  return experiment("D-day", "A page every hour of a day, on GPRS", cells);
}

/** Nobody publishes anything between two visits of the same day. */
const REVISITS = {
  first: null,
  "same day": { after: 3 * HOUR, to: "same" },
  "next day": { after: DAY, to: "edited" },
} as const satisfies Record<string, Revisit | null>;

export interface RealPageGrid {
  readonly sites: readonly Site[];
  readonly profiles: readonly ProfileName[];
  readonly visits: readonly (keyof typeof REVISITS)[];
}

/** A page that takes longer than this over its link, in seconds at best, is left out: nobody waits for it. */
const LONGEST_FLOOR = 100;

/** Kilobits per second. */
const FAST = 5_000;

/** R: real pages on today's links. */
export function realPageExperiment(visitor: PageVisitor, { sites, profiles, visits }: RealPageGrid): PlannedExperiment {
  const cells = profiles.flatMap((profile) =>
    sites.flatMap((site) => {
      const link = PROFILES[profile];
      if ((site.codedBytes * 8) / link.down / 1000 >= LONGEST_FLOOR) return [];
      return visits.map((visit) =>
        planPageCell(visitor, {
          id: `page=${site.name} profile=${profile} cc=bbr visit=${visit}`,
          at: { page: site.name, profile, visit },
          site,
          link,
          congestion: "bbr",
          contestants: EVERYDAY,
          revisit: REVISITS[visit],
          // Of a fast link the processor has to keep up with, however long it is.
          needsQuiet: link.down > FAST,
        }),
      );
    }),
  );
  return experiment("R", "Real pages", cells);
}

function experiment(id: string, title: string, cells: readonly PlannedCell[]): PlannedExperiment {
  return { id, title, metrics: LOAD_METRICS, headline: "load", cells };
}
