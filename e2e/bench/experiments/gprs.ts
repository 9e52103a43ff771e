/** Experiment D: GPRSWeb's pages on its link (Chakravorty, Clark, Pratt), and the same an hour later. */
import { PROFILES } from "../../lab/profiles.ts";
import { CONTESTANTS, type Site } from "../model.ts";
import type { PlannedCell, PlannedExperiment } from "../schedule.ts";
import { HOUR, LOAD_METRICS, type PageVisitor, planPageCell, type Revisit } from "./page-visits.ts";

export function gprsExperiment(visitor: PageVisitor, sites: readonly Site[]): PlannedExperiment {
  return {
    id: "D",
    title: "Pages as GPRSWeb used them, on GPRS",
    paper:
      "Against HTTP/1.0 and 1.1, with a cold server cache: page time 40 to 45 % less (STATIC-I), 26 to 29 % less (STATIC-II), 26 to 55 % less (news, shop).",
    metrics: LOAD_METRICS,
    headline: "load",
    cells: sites.map((site) => gprsCell(visitor, site, null)),
  };
}

export function gprsRevisitExperiment(visitor: PageVisitor, sites: readonly Site[]): PlannedExperiment {
  return {
    id: "D-hour",
    title: "The same pages an hour later, edited meanwhile",
    paper: "On hourly revisits, known contents and deltas took another 3 to 8 % off the page time.",
    metrics: LOAD_METRICS,
    headline: "load",
    cells: sites.map((site) => gprsCell(visitor, site, { after: HOUR, to: "edited" })),
  };
}

function gprsCell(visitor: PageVisitor, site: Site, revisit: Revisit | null): PlannedCell {
  return planPageCell(visitor, {
    id: `page=${site.name}`,
    at: { page: site.name, profile: "gprs" },
    site,
    link: PROFILES.gprs,
    congestion: "bbr",
    contestants: CONTESTANTS,
    revisit,
  });
}
