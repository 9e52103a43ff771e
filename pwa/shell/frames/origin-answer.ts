/** What a page is told of slots: names, which it needs for messages between windows. */
import { MESSAGE_TAG, type ShellToPage } from "../../messages/page-messages.ts";
import type { SlotFrames } from "./slot-frames.ts";
import type { Slot } from "./slot-registry.ts";

/** A page asks for few; whatever asks for more is none. */
const ASKED_MAX = 16;

/**
 * Of a slot in the same page it may know the origin: the browser would tell it with each message. Elsewhere a slot tells
 * where the person was; hosts of a list are easily guessed. Of an origin it learns a slot only below its own top-level page.
 */
export function answerOrigins(
  wanted: unknown,
  asker: Slot,
  frames: Pick<SlotFrames, "slotOf" | "originOf" | "find">,
): ShellToPage {
  const asked = (Array.isArray(wanted) ? wanted : [])
    .filter((origin): origin is string => typeof origin === "string")
    .slice(0, ASKED_MAX);
  const inPage = (slot: Slot | null) =>
    slot !== null && [asker.topLevelOrigin, asker.origin].includes(slot.topLevelOrigin) ? slot : null;
  const slots = asked.map((origin) => inPage(frames.slotOf(origin)) ?? frames.find(origin, asker.topLevelOrigin));
  const origins = slots.flatMap((slot) => (slot === null ? [] : [[frames.originOf(slot), slot.origin] as const]));
  return { tag: MESSAGE_TAG, type: "origins", origins: Object.fromEntries(origins), asked };
}
