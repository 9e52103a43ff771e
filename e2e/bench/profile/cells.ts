/** What is profiled: the 150-image page and the median page, with the app closed, open and warm, and some the day after. */
import type { LinkSettings } from "../../lab/lab.ts";
import { delayOnly, PROFILES } from "../../lab/profiles.ts";
import { DAY, type Revisit } from "../experiments/page-visits.ts";
import type { SiteName } from "../sites/make-sites.ts";

/** The app is closed, open, or has shown another site before. */
type AppState = "cold" | "open" | "warm";

export interface ProfileCell {
  readonly id: string;
  readonly page: SiteName;
  readonly link: LinkSettings;
  readonly state: AppState;
  /** Null for a first visit. */
  readonly revisit: Revisit | null;
}

const PAGES: readonly { readonly page: SiteName; readonly at: string; readonly link: LinkSettings }[] = [
  { page: "hundred-fifty", at: "delay=5", link: delayOnly(5) },
  { page: "hundred-fifty", at: "delay=300", link: delayOnly(300) },
  { page: "median-mobile", at: "profile=lte", link: PROFILES.lte },
];
const STATES: readonly AppState[] = ["cold", "open", "warm"];
/** The last is nearly all scripts. */
const NEXT_DAY: readonly Pick<ProfileCell, "page" | "state">[] = [
  { page: "median-mobile", state: "warm" },
  { page: "spectre-docs", state: "warm" },
  { page: "median-mobile", state: "open" },
  { page: "swagger-ui", state: "open" },
];

/** @param parts texts that a cell's id has one of; all cells when empty. */
export function profileCells(parts: readonly string[]): ProfileCell[] {
  const cells: ProfileCell[] = PAGES.flatMap(({ page, at, link }) =>
    STATES.map((state) => ({ id: `page=${page} ${at} app=${state}`, page, link, state, revisit: null })),
  );
  for (const { page, state } of NEXT_DAY) {
    const id = `page=${page} profile=lte app=${state} visit=next day`;
    cells.push({ id, page, link: PROFILES.lte, state, revisit: { after: DAY, to: "edited" } });
  }
  const chosen = cells.filter(({ id }) => parts.length === 0 || parts.some((part) => id.includes(part)));
  if (chosen.length === 0) {
    throw new Error(`Cannot profile: no cell of this name; there are ${cells.map(({ id }) => id).join(", ")}`);
  }
  return chosen;
}
