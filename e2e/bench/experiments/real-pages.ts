/** Experiment R: real pages on today's links, first visit, later that day, the day after, and a second page of the site. */
import { PROFILES, type ProfileName } from "../../lab/profiles.ts";
import { CONTESTANTS, type CongestionControl, type Site } from "../model.ts";
import type { PlannedExperiment } from "../schedule.ts";
import {
  DAY,
  HOUR,
  LOAD_METRICS,
  MINUTE,
  type PageVisitor,
  planPageCell,
  type Revisit,
  SPEED_INDEX,
} from "./page-visits.ts";

/** Nobody publishes anything between two visits of the same day. */
const REVISITS = {
  first: null,
  "same day": { after: 3 * HOUR, to: "same" },
  "next day": { after: DAY, to: "edited" },
  sibling: { after: MINUTE, to: "other" },
} as const satisfies Record<string, Revisit | null>;

type RealPageVisit = keyof typeof REVISITS;

export interface RealPageGrid {
  readonly sites: readonly Site[];
  readonly profiles: readonly ProfileName[];
  readonly congestion: readonly CongestionControl[];
  readonly visits: readonly RealPageVisit[];
  /** Names of those that have another page. */
  readonly siblings: readonly string[];
  /** First visits also where the rate comes and goes. */
  readonly traces: readonly { readonly site: Site; readonly profile: ProfileName }[];
}

/** A page that takes longer than this over its link, in seconds at best, is left out: nobody waits for it. */
const LONGEST_FLOOR = 100;

/** Kilobits per second. */
const FAST = 5_000;

export function realPageExperiment(visitor: PageVisitor, grid: RealPageGrid): PlannedExperiment {
  const places = grid.profiles.flatMap((profile) =>
    grid.sites.map((site) => ({ profile, site, link: PROFILES[profile], visits: grid.visits })),
  );
  const onTraces = grid.traces.map((place) => ({
    ...place,
    link: PROFILES[place.profile],
    visits: ["first"] as const,
  }));
  const cells = [...places, ...onTraces].flatMap(({ visits, ...place }) =>
    grid.congestion.flatMap((congestion) => visits.map((visit) => ({ ...place, congestion, visit }))),
  );
  return {
    id: "R",
    title: "Real pages",
    paper: "No paper: the pages of today on the links of today.",
    metrics: [...LOAD_METRICS, SPEED_INDEX],
    headline: "load",
    cells: cells
      .filter(({ visit, site }) => visit !== "sibling" || grid.siblings.includes(site.name))
      .filter(({ link, site }) => (site.codedBytes * 8) / link.down / 1000 < LONGEST_FLOOR)
      .map(({ profile, site, congestion, visit, link }) =>
        planPageCell(visitor, {
          id: `page=${site.name} profile=${profile} cc=${congestion} visit=${visit}`,
          at: { page: site.name, profile, congestion, visit },
          site,
          link,
          congestion,
          contestants: CONTESTANTS,
          filmstrip: true,
          revisit: REVISITS[visit],
          // Of a fast link the processor has to keep up with, however long it is.
          needsQuiet: link.down > FAST,
        }),
      ),
  };
}
