import { LITE_PATH } from "../../../shared/subprotocol.ts";
import type { SlotContext } from "../slot-context.ts";

/**
 * Of the pages of an origin on the base host, as of a slot. In place of a host they have a place (`liteAddress`), below
 * which all addresses of the origin are.
 */
export function liteContext(base: string, origin: string): SlotContext {
  return {
    slotOrigin: base + LITE_PATH + origin.replace("//", ""),
    realOrigin: origin,
    binding: { origin, topLevelOrigin: origin, topLevel: true },
    shellOrigin: base,
    // None: frames do not open.
    slotSources: base,
  };
}
