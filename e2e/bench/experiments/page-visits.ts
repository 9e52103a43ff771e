/** Experiments that visit pages: the plan of one cell, and the numbers that a visit gives. */
import type { LinkSettings } from "../../lab/lab.ts";
import type { VisitWatcher } from "../contestants/visit.ts";
import { otherPageFloor, revisitFloor, visitFloor } from "../floor.ts";
import type { CongestionControl, Contestant, Metric, Site, Visit } from "../model.ts";
import { needsQuiet, type Outcome, type PlannedCell } from "../schedule.ts";

/** The page was visited before with the same profile. */
export interface Revisit {
  /** Milliseconds since then, and between visits before that. */
  readonly after: number;
  /**
   * What is visited now: the page as it was, as its site has edited it since, or the last of the site's other pages. What
   * came before that, of edits or pages, was visited before.
   */
  readonly to: "same" | "edited" | "other";
}

export interface VisitOptions {
  /** Pictures for Speed Index and filmstrip; they cost CPU. */
  readonly filmstrip: boolean;
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
  configure(link: LinkSettings, congestion: CongestionControl, at: CellRound): Promise<void>;
  /**
   * @throws ContestantError when the page does not load whole and in time.
   * @throws HarnessError when the bench itself fails.
   */
  visit(contestant: Contestant, site: Site, options: VisitOptions): Promise<Visit>;
}

export interface PageCell {
  readonly id: string;
  readonly at: PlannedCell["at"];
  readonly site: Site;
  readonly link: LinkSettings;
  readonly congestion: CongestionControl;
  readonly contestants: readonly Contestant[];
  readonly filmstrip?: boolean;
  /** As of a visit; a first one by default. */
  readonly revisit?: Revisit | null;
  /** By default where the link is a fast one. */
  readonly needsQuiet?: boolean;
  /** As of a planned cell. */
  readonly isPrecise?: boolean;
}

/** Milliseconds. */
export const MINUTE = 60 * 1000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Longest that anybody waits for a page, in milliseconds. */
const LONGEST_VISIT = 600_000;

export const LOAD_METRICS: readonly Metric[] = [
  { name: "load", label: "load", unit: "ms", better: "lower" },
  { name: "firstContentfulPaint", label: "first contentful paint", unit: "ms", better: "lower" },
  { name: "largestContentfulPaint", label: "largest contentful paint", unit: "ms", better: "lower" },
  { name: "bytesDown", label: "bytes down", unit: "B", better: "lower" },
  { name: "bytesUp", label: "bytes up", unit: "B", better: "lower" },
  { name: "connections", label: "connections", unit: "", better: "lower" },
  { name: "drops", label: "packets lost", unit: "", better: "lower" },
  { name: "browserCpu", label: "CPU of the browser", unit: "s", better: "lower" },
  { name: "edgeCpu", label: "CPU of the edge", unit: "s", better: "lower" },
];

export const SPEED_INDEX: Metric = { name: "speedIndex", label: "Speed Index", unit: "ms", better: "lower" };

export function planPageCell(visitor: PageVisitor, cell: PageCell): PlannedCell {
  const revisit = cell.revisit ?? null;
  const options = { filmstrip: cell.filmstrip ?? false, revisit };
  const estimates = cell.contestants.map(
    (contestant) => estimateVisit(contestant, cell.link, cell.site) * (revisit === null ? 1 : 1.7),
  );
  // The same for all: who is thought to be slow gets no longer.
  const timeout = Math.min(LONGEST_VISIT, 30_000 + 6000 * Math.max(...estimates));
  return {
    id: cell.id,
    at: cell.at,
    floor: floorOf(cell, revisit),
    congestion: cell.congestion,
    needsQuiet: cell.needsQuiet ?? needsQuiet(cell.link),
    isPrecise: cell.isPrecise ?? false,
    prepare: (round) => visitor.configure(cell.link, cell.congestion, { cell: cell.id, round }),
    series: cell.contestants.map((contestant, index) => ({
      contestant,
      estimate: estimates[index] ?? 0,
      run: async () => outcomeOf(await visitor.visit(contestant, cell.site, { ...options, timeout }), cell.site),
    })),
  };
}

function floorOf({ link, site }: PageCell, revisit: Revisit | null): PlannedCell["floor"] {
  if (revisit === null) return visitFloor(link, site);
  return revisit.to === "other" ? otherPageFloor(link) : revisitFloor(link, site, revisit.after);
}

function outcomeOf(visit: Visit, site: Site): Outcome {
  const { filmstrip, objects: _, drops, ...rest } = visit;
  const measured = { ...rest, drops, throughput: (site.bytes * 8) / visit.load };
  const values = Object.entries(measured).filter((entry): entry is [string, number] => entry[1] !== null);
  return { values: Object.fromEntries(values), ...(filmstrip.length > 0 ? { filmstrip } : {}) };
}

/** Seconds of one visit with all that goes before and after it, roughly. */
export function estimateVisit(contestant: Contestant, link: LinkSettings, site: Site): number {
  const roundTrip = link.delay / 500;
  const transfer = link.down === 0 ? 0 : (site.codedBytes * 8) / link.down / 1000;
  const roundTrips: Readonly<Record<Contestant, number>> = {
    "http/1.1": 4 + site.objects / 5,
    "http/2": 6 + site.depth,
    "http/3": 5 + site.depth,
    "ropeway cold": 7 + site.depth,
    "ropeway open": 12 + site.depth,
    "ropeway warm": 20 + site.depth,
    "ropeway open 1 channel": 12 + site.depth,
    "ropeway open 3 channels": 12 + site.depth,
    "ropeway open 5 channels": 12 + site.depth,
  };
  return 3 + roundTrips[contestant] * roundTrip + 1.1 * transfer;
}
