import type { PageOrder, PagePlaces } from "./page-places.ts";
import type { SlotFrames } from "./slot-frames.ts";
import type { Slot } from "./slot-registry.ts";

/** Each site's pages live in the slot of its own. */
export class SlotPlaces implements PagePlaces {
  readonly #slots: SlotFrames;

  constructor(slots: SlotFrames) {
    this.#slots = slots;
  }

  hasPlaceFor(url: string): boolean {
    return this.#slotOf(url) !== null;
  }

  addressOf(url: string, isAgain: boolean): string | null {
    const slot = this.#slotOf(url);
    return slot && this.#slots.slotUrl(slot, url, isAgain);
  }

  needsBootPage(url: string): boolean {
    const { origin } = new URL(url);
    const slot = this.#slots.find(origin, origin);
    return slot === null || this.#slots.needsBootPage(slot);
  }

  isBooted(origin: string): boolean {
    const slot = this.#slots.find(origin, origin);
    return slot !== null && this.#slots.isBooted(slot);
  }

  standIn(url: string): boolean {
    const slot = this.#slotOf(url);
    return slot !== null && this.#slots.standIn(slot);
  }

  endStandIns(): void {
    this.#slots.endStandIns();
  }

  tell(message: PageOrder, page: Window): void {
    page.postMessage(message, "*");
  }

  /** A slot's own URL as the real one; any other as it is. */
  toReal(url: string, slot: Slot): string {
    const slotOrigin = this.#slots.originOf(slot);
    return url === slotOrigin || url.startsWith(`${slotOrigin}/`) ? slot.origin + url.slice(slotOrigin.length) : url;
  }

  #slotOf(url: string): Slot | null {
    return this.#slots.slotFor(new URL(url).origin);
  }
}
