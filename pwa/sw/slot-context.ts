/** What a slot's service worker knows about its slot: the host it runs on, and what the tunnel bound its port to. */

import type { SlotBinding } from "../messages/port-messages.ts";
import type { SlotIdentity } from "../slot/slot-url.ts";

export interface SlotContext extends SlotIdentity {
  readonly binding: SlotBinding;
  /** `http://localhost:8787`: where the shell is. */
  readonly shellOrigin: string;
  /** CSP source of all slots: `http://*.localhost:8787`. */
  readonly slotWildcard: string;
}

/** @param slot location of the service worker. */
export function slotContext(
  slot: { readonly origin: string; readonly protocol: string; readonly host: string },
  binding: SlotBinding,
): SlotContext {
  const baseHost = slot.host.slice(slot.host.indexOf(".") + 1);
  return {
    slotOrigin: slot.origin,
    realOrigin: binding.origin,
    binding,
    shellOrigin: `${slot.protocol}//${baseHost}`,
    slotWildcard: `${slot.protocol}//*.${baseHost}`,
  };
}
