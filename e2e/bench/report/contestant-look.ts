/** How a contestant is drawn: the same in every plot, told apart by colour, marker and dash alike. */

import { hasFixedChannels } from "../contestants/ropeway-contestant.ts";

export type MarkerShape = "square" | "triangle" | "circle";

export interface ContestantLook {
  readonly contestant: string;
  readonly label: string;
  /**
   * Ropeway in one of its states: strong colours and filled markers; violet and dashed with a fixed number of channels.
   * Direct ones are muted and hollow.
   */
  readonly ours: boolean;
  /** A variable of the theme. */
  readonly colour: string;
  readonly marker: MarkerShape;
  /** stroke-dasharray; empty for a whole line. */
  readonly dash: string;
}

const MARKERS = ["square", "triangle", "circle"] as const;
const DASHES = { ours: ["", "", ""], direct: ["2 3", "6 4", ""], fixed: ["3 3", "8 3", "8 3 2 3"] } as const;

const KNOWN_PLACES: Readonly<Record<string, number>> = {
  "http/1.1": 0,
  "http/2": 1,
  "http/3": 2,
  "ropeway cold": 0,
  "ropeway open": 1,
  "ropeway warm": 2,
  "ropeway open 1 channel": 0,
  "ropeway open 3 channels": 1,
  "ropeway open 5 channels": 2,
};

export function isOurs(contestant: string): boolean {
  return contestant.toLowerCase().startsWith("ropeway");
}

export function contestantLabel(contestant: string): string {
  if (contestant.startsWith("http/")) return contestant.toUpperCase();
  return contestant.charAt(0).toUpperCase() + contestant.slice(1);
}

/**
 * @param contestants of one experiment, in its order; those that are not known take looks in that order, from the
 *   strongest.
 */
export function looksOf(contestants: readonly string[]): Map<string, ContestantLook> {
  const strangers = { ours: 0, direct: 0, fixed: 0 };
  return new Map(
    contestants.map((contestant) => {
      const side = hasFixedChannels(contestant) ? "fixed" : isOurs(contestant) ? "ours" : "direct";
      const known = KNOWN_PLACES[contestant];
      const stranger = known === undefined ? strangers[side]++ : 0;
      const place = known ?? 2 - (stranger % 3);
      // Colours come again after three strangers, with other markers and dashes.
      const shape = (place + Math.floor(stranger / 3)) % 3;
      const look: ContestantLook = {
        contestant,
        label: contestantLabel(contestant),
        ours: side !== "direct",
        colour: `var(--${side}-${place + 1})`,
        marker: MARKERS[shape] ?? "circle",
        dash: DASHES[side][shape] ?? "",
      };
      return [contestant, look];
    }),
  );
}
