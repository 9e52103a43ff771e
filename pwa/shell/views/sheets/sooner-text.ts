import type { PageCost } from "../../tab/tab-state.ts";
import { formatTime } from "./format-time.ts";

/** Milliseconds below which nobody sees a difference. */
const SEEN = 100;

/** Why a page was sooner. */
export const REACHED = "A browser would have looked up the site’s name, connected and encrypted first.";

/** What a page of few bytes gains; null where that is not much. */
export function soonerText({ reachTime, linkBytesDown }: Pick<PageCost, "reachTime" | "linkBytesDown">): string | null {
  return reachTime >= SEEN && linkBytesDown > 0 ? `About ${formatTime(reachTime)} sooner` : null;
}
