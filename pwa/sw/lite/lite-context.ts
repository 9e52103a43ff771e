import type { SlotContext } from "../slot-context.ts";

/** Of the pages of an origin on the base host, as of a slot: their paths on it are the real ones (`meantBy`). */
export function liteContext(base: string, origin: string): SlotContext {
  return {
    slotOrigin: base,
    realOrigin: origin,
    binding: { origin, topLevelOrigin: origin, topLevel: true },
    shellOrigin: base,
    // None: frames do not open.
    slotSources: base,
  };
}
