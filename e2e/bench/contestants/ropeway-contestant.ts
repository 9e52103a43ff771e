/** What the name of a Ropeway contestant says. */
import type { AppExperiment } from "../../fixtures/app-page.ts";
import { CHANGES, type Change } from "../model.ts";

/** The app is closed, it is open and has shown nothing yet, or it has shown another site before. */
export type AppState = "cold" | "open" | "warm";

export interface RopewayContestant {
  readonly state: AppState;
  /** Null where the app chooses. */
  readonly channels: number | null;
  readonly change: Change | null;
}

const NAME = new RegExp(`^ropeway (cold|open|warm)(?: (\\d+) channels?)?(?: (${CHANGES.join("|")}))?$`);

/** Null for every other contestant. */
export function ropewayContestant(name: string): RopewayContestant | null {
  const [, state, channels, change] = NAME.exec(name) ?? [];
  if (state === undefined) return null;
  return {
    state: state as AppState,
    channels: channels === undefined ? null : Number(channels),
    change: (change as Change | undefined) ?? null,
  };
}

/** What the app is started with for that. */
export function experimentOf({ channels, change }: Pick<RopewayContestant, "channels" | "change">): AppExperiment {
  return {
    ...(channels === null ? {} : { channels }),
    ...(change === "without push" || change === "transport alone" ? { takesPushes: false } : {}),
    ...(change === "without known bodies" || change === "transport alone" ? { namesBodies: false } : {}),
  };
}
