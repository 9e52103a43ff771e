import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { liteAddress } from "../../messages/lite-address.ts";
import type { PageOrder, PagePlaces } from "../frames/page-places.ts";
import type { Slot } from "../frames/slot-registry.ts";
import { isControlled, type LiteFrame } from "./lite-frame.ts";

export interface LitePlacesOptions {
  readonly workers: ServiceWorkerContainer;
  /** Places of pages with scripts; null where there are none. */
  readonly slots: PagePlaces | null;
  /** Whether the pages of a URL or an origin run no scripts. */
  readonly isLite: (url: string) => boolean;
}

/** Pages without scripts live on the base host, the others in slots. */
export class LitePlaces implements PagePlaces {
  readonly #options: LitePlacesOptions;
  #frame: LiteFrame | null = null;

  constructor(options: LitePlacesOptions) {
    this.#options = options;
  }

  attach(frame: LiteFrame): void {
    this.#frame = frame;
  }

  hasPlaceFor(url: string): boolean {
    return this.#slotsOf(url)?.hasPlaceFor(url) !== false;
  }

  addressOf(url: string, isAgain: boolean): string | null {
    const slots = this.#slotsOf(url);
    if (slots !== null) return slots.addressOf(url, isAgain);
    this.#frame?.setOut(url);
    return isAgain ? `${LITE_PATH}again?to=${encodeURIComponent(url)}` : liteAddress(url);
  }

  needsBootPage(url: string): boolean {
    return this.#slotsOf(url)?.needsBootPage(url) === true;
  }

  isBooted(origin: string): boolean {
    return this.#slotsOf(origin)?.isBooted(origin) ?? isControlled(this.#options.workers);
  }

  standIn(url: string): boolean {
    return this.#slotsOf(url)?.standIn(url) === true;
  }

  endStandIns(): void {
    this.#options.slots?.endStandIns();
  }

  toReal(url: string, slot: Slot): string {
    return this.#options.slots?.toReal(url, slot) ?? url;
  }

  tell(order: PageOrder, page: Window): void {
    if (this.#frame?.isShown === true) this.#frame.tell(order);
    else this.#options.slots?.tell(order, page);
  }

  #slotsOf(url: string): PagePlaces | null {
    const { slots, isLite } = this.#options;
    return slots === null || isLite(url) ? null : slots;
  }
}
