/** What a slot's service worker knows about its slot: the host it runs on, and what the tunnel bound its port to. */

import type { SlotBinding } from "../messages/port-messages.ts";
import { shellOriginOf } from "../slot/documents/shell-origin.ts";
import type { SlotIdentity } from "../slot/slot-url.ts";

export interface SlotContext extends SlotIdentity {
  readonly binding: SlotBinding;
  /** `http://localhost:8787`: where the shell is. */
  readonly shellOrigin: string;
  /** CSP sources of all slots: `http://*.localhost:8787`, or a list. */
  readonly slotSources: string;
}

/** What the edge puts before the slot's worker where slots have a list of hosts (`worker/front/hosts.ts`). */
export interface ToldHosts {
  readonly ropewayShell?: string;
  /** Origins, between spaces. */
  readonly ropewaySlots?: string;
}

/** Whether this host is one of a list, which other origins had before and others will have. */
export function isListed(told: ToldHosts = globalThis as ToldHosts): boolean {
  return told.ropewaySlots !== undefined;
}

/** @param slot location of the service worker. */
export function slotContext(
  slot: { readonly origin: string; readonly protocol: string; readonly host: string },
  binding: SlotBinding,
  told: ToldHosts = globalThis as ToldHosts,
): SlotContext {
  const shellOrigin = told.ropewayShell ?? shellOriginOf(slot.origin);
  return {
    slotOrigin: slot.origin,
    realOrigin: binding.origin,
    binding,
    shellOrigin,
    slotSources: told.ropewaySlots ?? shellOrigin.replace("//", "//*."),
  };
}
