/**
 * Who sent frames of other origins where. The slot that such a frame goes to cannot say it of itself, and the one that
 * it is in could say anything: so the shell does, before the frame sets out.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { SlotBinding } from "../../messages/port-messages.ts";
import type { FrameStart } from "../../messages/tunnel-messages.ts";

type FrameSlot = Pick<SlotBinding, "origin" | "topLevelOrigin">;

/** A reload is sent as the first request was, so starts are kept; of old ones the referrer is lost. */
const KEPT = 256;

export class FrameStarts {
  readonly #starts = new BoundedMap<string, FrameStart>(KEPT);

  /** @param url real, without a fragment. */
  add(slot: FrameSlot, url: string, start: FrameStart): void {
    const key = keyOf(slot, url);
    this.#starts.set(key, start);
  }

  find(slot: FrameSlot, url: string): FrameStart | null {
    return this.#starts.get(keyOf(slot, url)) ?? null;
  }
}

function keyOf({ origin, topLevelOrigin }: FrameSlot, url: string): string {
  return `${topLevelOrigin} ${origin} ${url}`;
}
