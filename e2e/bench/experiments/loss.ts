/**
 * Experiment L: a page over a link that loses packets, with as many channels as the app chooses and with fixed numbers
 * of them. Loss makes TCP send less than the link carries, so several connections may do better than one.
 */
import type { LinkSettings } from "../../lab/lab.ts";
import { paperC } from "../../lab/profiles.ts";
import { type CongestionControl, type Contestant, FIXED_CHANNEL_CONTESTANTS, type Site } from "../model.ts";
import type { PlannedExperiment } from "../schedule.ts";
import { LOAD_METRICS, type PageVisitor, planPageCell } from "./page-visits.ts";

export interface LossGrid {
  /** Milliseconds one way. */
  readonly delays: readonly number[];
  readonly congestion: readonly CongestionControl[];
  readonly contestants: readonly Contestant[];
}

/** Percent each way. */
const LOSS = 2;

export const LOSS_GRID = {
  delays: [100, 300],
  congestion: ["bbr", "cubic"],
  contestants: ["http/1.1", "http/2", "http/3", "ropeway open", ...FIXED_CHANNEL_CONTESTANTS],
} as const satisfies LossGrid;

export function lossyLink(delay: number): LinkSettings {
  return paperC(delay, LOSS);
}

export function lossExperiment(visitor: PageVisitor, site: Site, grid: LossGrid): PlannedExperiment {
  return {
    id: "L",
    title: "A page over a link that loses packets, by number of channels",
    paper: "HTTP/2-Advance: 3 channels were best for three of four application classes, 5 for heavy persistent flows.",
    metrics: [
      ...LOAD_METRICS,
      { name: "channels", label: "channels", unit: "", better: "lower" },
      { name: "socketsOpened", label: "WebSockets opened", unit: "", better: "lower" },
    ],
    headline: "load",
    cells: grid.delays.flatMap((delay) =>
      grid.congestion.map((congestion) =>
        planPageCell(visitor, {
          id: `page=${site.name} delay=${delay} loss=${LOSS} cc=${congestion}`,
          at: { page: site.name, delay, loss: LOSS, congestion },
          site,
          link: paperC(delay, LOSS),
          congestion,
          contestants: grid.contestants,
        }),
      ),
    ),
  };
}
