import type { App } from "../app/app.ts";
import type { PageFrame } from "../tab/page-frame.ts";
import type { Tab } from "../tab/tab.ts";
import type { Chrome } from "../views/mount.tsx";
import type { PagePlaces } from "./page-places.ts";

export interface OpenedPlaces {
  /** Null where no page can be shown. */
  readonly places: PagePlaces | null;
  /** Begins to serve the frame, before it loads anything. */
  attach(frame: PageFrame, tab: Tab, chrome: Pick<Chrome, "press">, app: Pick<App, "notify">): void;
}
