/** Pages without scripts (decision 28), for phones that have such pages: all are where the edge has only one host. */

import { later } from "../../../shared/errors.ts";
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { liteAddress } from "../../messages/lite-messages.ts";
import type { KeyPress, PageToShell } from "../../messages/page-messages.ts";
import { siteName } from "../../messages/tunnel-messages.ts";
import type {
  LitePlatform,
  OpenedPlaces,
  PageOrder,
  PagePlaces,
  PlaceSeeker,
  ServedPage,
  Slot,
} from "../frames/places.ts";
import { isControlled, LiteFrame } from "./lite-frame.ts";

const TOLD_KEY = "ropeway.lite-told";

const WHY_ONE_HOST = later("Scripts are off: your edge has only one host. docs/deploy.md says how to turn them on");
const WHY_CHOSEN = later("Scripts are off for this site, as you chose. Turn them on in the site information");
const PASSWORD = later(
  "This page asks for a password. The browser cannot tell sites apart here: let it neither save nor fill in any",
);
const DOWNLOAD = later("This is a file. To save it, hold a link to it and choose “Save link”");

/** A page in a frame of the app's own origin can be looked at, printed and filled in, and nothing else. */
const SANDBOX = "allow-same-origin allow-forms allow-modals";

/** @returns the places, and what begins to serve them when there is a tab. */
export function openLite({ storage, workers, slots, sites, bind }: LitePlatform): OpenedPlaces {
  const chosen = new Set(sites);
  const places = new LitePlaces({ workers, slots, isLite: (url) => chosen.has(siteName(url)) });
  const attach = ({ frame: { element }, tab, chrome, app }: ServedPage) => {
    if (slots === null) element.setAttribute("sandbox", SANDBOX);
    const say = (why: string) => app.notify({ kind: "lite", why });
    const hear = (message: PageToShell, slot: Slot | null) =>
      element.contentWindow && tab.onPageMessage(message, slot, element.contentWindow);
    const press = (press: KeyPress) => chrome.press(press);
    const onLoaded = (asksForPassword: boolean) => {
      if (asksForPassword) return say(PASSWORD);
      const why = slots === null ? WHY_ONE_HOST : WHY_CHOSEN;
      if (storage.getItem(TOLD_KEY) === why) return;
      storage.setItem(TOLD_KEY, why);
      say(why);
    };
    const reportsStart = slots === null;
    places.attach(
      new LiteFrame({ element, workers, bind, hear, press, onLoaded, onDownload: () => say(DOWNLOAD), reportsStart }),
    );
  };
  return { places, attach };
}

interface LitePlacesOptions {
  readonly workers: ServiceWorkerContainer;
  /** Places of pages with scripts; null where there are none. */
  readonly slots: PagePlaces | null;
  /** Whether the pages of a URL or an origin run no scripts. */
  readonly isLite: (url: string) => boolean;
}

/** Pages without scripts live on the base host, the others in slots. */
class LitePlaces implements PagePlaces {
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

  addressOf(url: string, isAgain: boolean, seeker: PlaceSeeker): ReturnType<PagePlaces["addressOf"]> {
    const slots = this.#slotsOf(url);
    if (slots !== null) {
      this.#frame?.leave();
      return slots.addressOf(url, isAgain, seeker);
    }
    this.#options.slots?.leave(seeker);
    this.#frame?.setOut(url);
    return { href: isAgain ? `${LITE_PATH}again?to=${encodeURIComponent(url)}` : liteAddress(url) };
  }

  leave(seeker: PlaceSeeker): void {
    this.#options.slots?.leave(seeker);
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

  tell(order: PageOrder, page: Window, url?: string): void {
    if (this.#frame?.isShown === true) this.#frame.tell(order);
    else this.#options.slots?.tell(order, page, url);
  }

  #slotsOf(url: string): PagePlaces | null {
    const { slots, isLite } = this.#options;
    return slots === null || isLite(url) ? null : slots;
  }
}
