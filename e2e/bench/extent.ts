/** How much of each experiment a full, a quick and a smoke run have. */
import { PAPER_GRID } from "./experiments/applications.ts";
import { PAPER_DELAYS } from "./experiments/delay.ts";
import type { RealPageGrid } from "./experiments/real-pages.ts";
import { CONTESTANTS, type CongestionControl, type Contestant } from "./model.ts";
import type { BenchMode } from "./options.ts";
import { GPRSWEB_SITES, REAL_SITES, type SiteName } from "./sites/make-sites.ts";

export interface Extent {
  /** Those of all experiments but A and B, if not all. */
  readonly contestants: readonly Contestant[];
  /** A: milliseconds one way. */
  readonly delays: readonly number[];
  readonly thirdGeneration: boolean;
  readonly replays: {
    readonly variant: "full" | "short";
    /** C: how many of the application classes. */
    readonly classes: number;
    readonly delays: readonly number[];
    readonly losses: readonly number[];
    readonly congestion: readonly CongestionControl[];
  };
  readonly gprsSites: readonly SiteName[];
  readonly realPages: Omit<RealPageGrid, "sites"> & { readonly sites: readonly SiteName[] };
}

export const EXTENTS: Readonly<Record<BenchMode, Extent>> = {
  full: {
    contestants: CONTESTANTS,
    delays: PAPER_DELAYS,
    thirdGeneration: true,
    replays: { variant: "full", classes: 4, ...PAPER_GRID },
    gprsSites: GPRSWEB_SITES,
    realPages: {
      sites: REAL_SITES,
      profiles: ["gprs", "3g", "lte", "sat"],
      congestion: ["bbr", "cubic"],
      visits: ["first", "next day"],
    },
  },
  quick: {
    contestants: CONTESTANTS,
    delays: [100],
    thirdGeneration: false,
    replays: { variant: "short", classes: 1, delays: [100], losses: [2], congestion: ["bbr"] },
    gprsSites: ["static-i"],
    realPages: { sites: ["median-mobile"], profiles: ["lte"], congestion: ["bbr"], visits: ["first"] },
  },
  smoke: {
    contestants: ["http/2", "ropeway open"],
    delays: [25],
    thirdGeneration: false,
    replays: { variant: "short", classes: 1, delays: [0], losses: [2], congestion: ["cubic"] },
    gprsSites: ["static-i"],
    realPages: { sites: ["spectre-docs"], profiles: ["lte"], congestion: ["bbr"], visits: ["next day"] },
  },
};
