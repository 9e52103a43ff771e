/** Experiment R-scripts: pages whose scripts ask for what they show, visited the third day in a row. */
import { PROFILES, type ProfileName } from "../../lab/profiles.ts";
import { CONTESTANTS, type Site } from "../model.ts";
import type { PlannedExperiment } from "../schedule.ts";
import { DAY, LOAD_METRICS, type PageVisitor, planPageCell } from "./page-visits.ts";

/** @param sites that were edited twice: what scripts fetch is learned at two visits. */
export function scriptedPageExperiment(
  visitor: PageVisitor,
  sites: readonly Site[],
  profiles: readonly ProfileName[],
): PlannedExperiment {
  return {
    id: "R-scripts",
    title: "Pages that scripts fill, visited the third day in a row",
    paper: "No paper: what scripts will ask for is pushed (issue 22, bar 5). With --unlearned it is not.",
    metrics: [
      { name: "complete", label: "all loaded", unit: "ms", better: "lower" },
      ...LOAD_METRICS,
      { name: "pushes", label: "pushes", unit: "", better: "higher" },
      { name: "pushesOfUse", label: "part of the pushes that was of use", unit: "", better: "higher" },
    ],
    // The load event does not wait for what scripts fetch.
    headline: "complete",
    cells: profiles.flatMap((profile) =>
      sites.map((site) =>
        planPageCell(visitor, {
          id: `page=${site.name} profile=${profile}`,
          at: { page: site.name, profile },
          site,
          link: PROFILES[profile],
          congestion: "bbr",
          contestants: CONTESTANTS,
          revisit: { after: DAY, to: "edited" },
        }),
      ),
    ),
  };
}
