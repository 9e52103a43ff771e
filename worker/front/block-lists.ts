/** Which block lists an edge has. */

import { readPlan } from "./cloudflare-plan.ts";
import type { EdgeOptions } from "./environment.ts";

/** The list against trackers that browsers' blockers have on by default. */
const EASY_PRIVACY = "https://easylist.to/easylist/easyprivacy.txt";

/**
 * @returns their addresses; none where nothing is to be blocked, or the plan has no room for that.
 * @throws Error that says what to set instead.
 */
export function readBlockLists({ ROPEWAY_BLOCK_LISTS, ROPEWAY_PLAN }: EdgeOptions): readonly string[] {
  const text = ROPEWAY_BLOCK_LISTS?.trim() || EASY_PRIVACY;
  const urls = text === "0" ? [] : text.split(/\s+/);
  const wrong = urls.find((url) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ""));
  if (wrong !== undefined) {
    const mend = "set it to addresses of lists, https://…, with spaces between them, or to 0";
    throw new Error(`Cannot start: ROPEWAY_BLOCK_LISTS has "${wrong}": ${mend}`);
  }
  return readPlan(ROPEWAY_PLAN).blocksTrackers ? urls : [];
}
