/** Experiment A: 150 small pictures, against delay (Nakajima, Isshiki, Takefuji), and on 3G. */
import { delayOnly, PROFILES } from "../../lab/profiles.ts";
import { CONTESTANTS, type Metric, type Site } from "../model.ts";
import type { PlannedExperiment } from "../schedule.ts";
import { LOAD_METRICS, type PageVisitor, planPageCell } from "./page-visits.ts";

/** Milliseconds one way, as in the paper. */
export const PAPER_DELAYS = [5, 25, 50, 100, 150, 200, 300] as const;

const THROUGHPUT: Metric = { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" };
const METRICS = [...LOAD_METRICS, THROUGHPUT];

export function delayExperiment(
  visitor: PageVisitor,
  site: Site,
  delays: readonly number[] = PAPER_DELAYS,
): PlannedExperiment {
  return {
    id: "A",
    title: "150 pictures of 1,517 bytes, against delay",
    paper: "At 300 ms one way: 60 kbit/s over 6 HTTP/1.1 connections, 162 kbit/s over one WebSocket (2.7 times).",
    metrics: METRICS,
    headline: "load",
    cells: delays.map((delay) =>
      planPageCell(visitor, {
        id: `delay=${delay}`,
        at: { delay },
        site,
        link: delayOnly(delay),
        congestion: "bbr",
        contestants: CONTESTANTS,
        // Its medians have to be the same another time.
        needsQuiet: true,
        isPrecise: true,
      }),
    ),
  };
}

export function thirdGenerationExperiment(visitor: PageVisitor, site: Site): PlannedExperiment {
  return {
    id: "A-3g",
    title: "150 pictures of 1,517 bytes, on 3G",
    paper: "On a real 3G network: 242 kbit/s over HTTP/1.1, 1,358 kbit/s over one WebSocket (5.6 times).",
    metrics: METRICS,
    headline: "load",
    cells: [
      planPageCell(visitor, {
        id: "3g",
        at: { profile: "3g" },
        site,
        link: PROFILES["3g"],
        congestion: "bbr",
        contestants: CONTESTANTS,
        needsQuiet: true,
      }),
    ],
  };
}
