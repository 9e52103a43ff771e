/** What the name of a Ropeway contestant says. */

/** The app is closed, it is open and has shown nothing yet, or it has shown another site before. */
export type AppState = "cold" | "open" | "warm";

export interface RopewayContestant {
  readonly state: AppState;
  /** Null where the app chooses. */
  readonly channels: number | null;
}

const NAME = /^ropeway (cold|open|warm)(?: (\d+) channels?)?$/;

/** Null for every other contestant. */
export function ropewayContestant(name: string): RopewayContestant | null {
  const [, state, channels] = NAME.exec(name) ?? [];
  if (state === undefined) return null;
  return { state: state as AppState, channels: channels === undefined ? null : Number(channels) };
}

/** Whether it has a set number of channels: an experiment's, not what a person uses. */
export function hasFixedChannels(name: string): boolean {
  return (ropewayContestant(name)?.channels ?? null) !== null;
}
