/**
 * Who sent frames of other origins where. The slot that such a frame goes to cannot say it of itself, and the one that
 * it is in could say anything: so the shell does, before the frame sets out.
 */
import type { FrameStart, SlotBinding } from "../../messages/tunnel-messages.ts";

type FrameSlot = Pick<SlotBinding, "origin" | "topLevelOrigin">;

/** A reload is sent as the first request was, so starts are kept; of old ones the referrer is lost. */
const KEPT = 256;

export class FrameStarts {
  readonly #starts = new Map<string, FrameStart>();

  /** @param url real, without a fragment. */
  add(slot: FrameSlot, url: string, start: FrameStart): void {
    const key = keyOf(slot, url);
    this.#starts.delete(key);
    this.#starts.set(key, start);
    const [oldest] = this.#starts.keys();
    if (this.#starts.size > KEPT && oldest !== undefined) this.#starts.delete(oldest);
  }

  find(slot: FrameSlot, url: string): FrameStart | null {
    return this.#starts.get(keyOf(slot, url)) ?? null;
  }
}

function keyOf({ origin, topLevelOrigin }: FrameSlot, url: string): string {
  return `${topLevelOrigin} ${origin} ${url}`;
}
