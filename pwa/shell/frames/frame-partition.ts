import type { Slot } from "./slot-registry.ts";

/**
 * Under which top-level origin a frame is loaded. The page's own origin in a frame of another one is not the page: there
 * it has what that other one has, no cookies of the page's, and may refuse to be framed (as SameSite has it: RFC 6265bis
 * section 5.2.1, "site for cookies").
 *
 * @param asker the slot of the document that holds the frame's place.
 * @param isDeeper the frame is not the page's own.
 */
export function framePartition(
  origin: string,
  asker: Pick<Slot, "origin" | "topLevelOrigin">,
  isDeeper: boolean,
): string {
  const isForeign = asker.origin !== asker.topLevelOrigin;
  return isDeeper && isForeign && origin === asker.topLevelOrigin ? asker.origin : asker.topLevelOrigin;
}
