/** Links of the page that a person may follow next, for the shell to warm if the person has chosen that. */
import type { PageContext } from "../page-context.ts";
import { navigationGoal } from "./navigation-goal.ts";

const MOST = 3;
/** Some pages hide links that only robots find. */
const SEEN = { opacityProperty: true, visibilityProperty: true };

/** @returns slot URLs of what can be seen, the largest first; none where the page wants its links left alone. */
export function likelyLinks({ config }: PageContext): string[] {
  const meta = document.querySelector("meta[name=robots i]:is([content*=nofollow i], [content*=none i])");
  if (meta !== null) return [];
  const seen = new Map<string, number>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>(
    "a[href]:not([download], [target], [rel~=nofollow i])",
  )) {
    const goal = navigationGoal(String(link.href), "page", config);
    if (goal.kind !== "slot" || goal.url.includes("?") || link.checkVisibility?.(SEEN) === false) continue;
    const address = goal.url.split("#", 1)[0] ?? "";
    const { left, right, top, bottom } = link.getBoundingClientRect();
    const width = Math.min(right, innerWidth) - Math.max(left, 0);
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
    if (width <= 0 || height <= 0 || address === location.href.split("#", 1)[0]) continue;
    seen.set(address, Math.max(seen.get(address) ?? 0, width * height));
  }
  const links = [...seen].sort(([, a], [, b]) => b - a);
  return links.slice(0, MOST).map(([url]) => url);
}
