/** How much of each experiment a full, a quick and a smoke run have. */
import type { ProfileName } from "../lab/profiles.ts";
import { PAPER_GRID } from "./experiments/applications.ts";
import { PAPER_DELAYS } from "./experiments/delay.ts";
import { LOSS_GRID, type LossGrid } from "./experiments/loss.ts";
import type { OutageGrid } from "./experiments/outages.ts";
import { OVERTAKING_GRID, type OvertakingGrid } from "./experiments/overtaking.ts";
import type { RealPageGrid } from "./experiments/real-pages.ts";
import { ALL_CONTESTANTS, type CongestionControl, type Contestant } from "./model.ts";
import type { BenchMode } from "./options.ts";
import { GPRSWEB_SITES, REAL_SITES, SCRIPTED_SITES, type SiteName } from "./sites/make-sites.ts";

export interface Extent {
  /** Those of all experiments but A and B, if not all; of some, by their names, others. */
  readonly contestants: { readonly most: readonly Contestant[]; readonly [experiment: string]: readonly Contestant[] };
  /** A: milliseconds one way. */
  readonly delays: readonly number[];
  readonly thirdGeneration: boolean;
  readonly replays: {
    /** C: how many of the application classes. */
    readonly classes: number;
    readonly delays: readonly number[];
    readonly losses: readonly number[];
    readonly congestion: readonly CongestionControl[];
  };
  readonly gprsSites: readonly SiteName[];
  readonly gprsRevisits: boolean;
  readonly overtaking: OvertakingGrid;
  readonly loss: LossGrid & { readonly site: SiteName };
  readonly outages: OutageGrid<SiteName>;
  readonly realPages: Pick<RealPageGrid, "profiles" | "congestion" | "visits"> & {
    readonly sites: readonly SiteName[];
    readonly traces: readonly { readonly site: SiteName; readonly profile: ProfileName }[];
  };
  readonly scriptedPages: { readonly sites: readonly SiteName[]; readonly profiles: readonly ProfileName[] };
}

export const EXTENTS: Readonly<Record<BenchMode, Extent>> = {
  full: {
    contestants: { most: ALL_CONTESTANTS },
    delays: PAPER_DELAYS,
    thirdGeneration: true,
    replays: { classes: 4, ...PAPER_GRID },
    gprsSites: GPRSWEB_SITES,
    gprsRevisits: true,
    overtaking: OVERTAKING_GRID,
    loss: { site: "median-mobile", ...LOSS_GRID },
    outages: { sites: { gprs: "static-ii", "3g": "median-mobile" }, seconds: [5, 15, 40] },
    realPages: {
      sites: REAL_SITES,
      profiles: ["gprs", "3g", "lte", "sat"],
      // C, F and L compare the two; here it would be five hours more.
      congestion: ["bbr"],
      visits: ["first", "same day", "next day", "sibling"],
      traces: [
        { site: "impress-deck", profile: "gprs-trace" },
        { site: "median-mobile", profile: "3g-trace" },
        { site: "median-mobile", profile: "lte-trace" },
      ],
    },
    scriptedPages: { sites: SCRIPTED_SITES, profiles: ["3g", "lte"] },
  },
  quick: {
    // Five minutes in all: where a visit takes half of one, the direct contestant that was best there, and ours.
    contestants: {
      most: ["http/1.1", "http/2", "http/3", "ropeway open"],
      D: ["http/3", "ropeway open"],
      F: ["http/3", "ropeway open"],
      O: ["http/3", "ropeway open"],
    },
    delays: [100],
    thirdGeneration: false,
    replays: { classes: 1, delays: [100], losses: [2], congestion: ["bbr"] },
    gprsSites: ["static-i"],
    gprsRevisits: false,
    overtaking: { delays: [300], congestion: ["cubic"], waits: [3] },
    loss: { site: "static-i", delays: [100], congestion: ["bbr"], contestants: ["http/2", "ropeway open"] },
    outages: { sites: { "3g": "agency" }, seconds: [5] },
    realPages: { sites: ["median-mobile"], profiles: ["lte"], congestion: ["bbr"], visits: ["first"], traces: [] },
    scriptedPages: { sites: [], profiles: [] },
  },
  smoke: {
    contestants: { most: ["http/2", "ropeway open"] },
    delays: [25],
    thirdGeneration: true,
    replays: { classes: 1, delays: [0], losses: [2], congestion: ["cubic"] },
    gprsSites: ["static-i"],
    gprsRevisits: true,
    overtaking: { delays: [50], congestion: ["bbr"], waits: [2] },
    loss: { site: "static-i", delays: [25], congestion: ["cubic"], contestants: ["http/2", "ropeway open"] },
    outages: { sites: { "3g": "spectre-docs" }, seconds: [3] },
    realPages: {
      sites: ["spectre-docs"],
      profiles: ["lte"],
      congestion: ["bbr"],
      visits: ["first", "next day"],
      traces: [],
    },
    scriptedPages: { sites: ["timeline"], profiles: ["lte"] },
  },
};
