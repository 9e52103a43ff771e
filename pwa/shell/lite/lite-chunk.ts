/** Pages without scripts (decision 28), for phones that have such pages: all are where the edge has only one host. */

import type { KeyPress, PageToShell } from "../../messages/page-messages.ts";
import { siteName } from "../../messages/site-name.ts";
import type { KeyValueStorage } from "../app/key-value-storage.ts";
import { liteSites } from "../app/lite-sites.ts";
import type { OpenedPlaces } from "../frames/opened-places.ts";
import type { PagePlaces } from "../frames/page-places.ts";
import type { Slot } from "../frames/slot-registry.ts";
import { LiteFrame } from "./lite-frame.ts";
import { LitePlaces } from "./lite-places.ts";

const TOLD_KEY = "ropeway.lite-told";

const WHY_ONE_HOST = "Scripts are off: your edge has only one host. docs/deploy.md says how to turn them on";
const WHY_CHOSEN = "Scripts are off for this site, as you chose. Turn them on in the site information";
const PASSWORD =
  "This page asks for a password. The browser cannot tell sites apart here: let it neither save nor fill in any";
const DOWNLOAD = "This is a file to be saved. With scripts off there is no way to do that yet";

/** What a page cannot be in a frame of its own origin: anything but looked at and filled in. */
const SANDBOX = "allow-same-origin allow-forms";

export interface LitePlatform {
  readonly storage: KeyValueStorage;
  readonly workers: ServiceWorkerContainer;
  /** As of `LitePlacesOptions`. */
  readonly slots: PagePlaces | null;
  readonly bind: (slot: Slot) => MessagePort;
}

/** @returns the places, and what begins to serve them when there is a tab. */
export function openLite({ storage, workers, slots, bind }: LitePlatform): OpenedPlaces {
  const chosen = new Set(liteSites(storage));
  const places = new LitePlaces({ workers, slots, isLite: (url) => chosen.has(siteName(url)) });
  const attach: OpenedPlaces["attach"] = ({ element }, tab, chrome, app) => {
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
