import type { BrowserState } from "./browser-state.ts";
import type { SettingsStore } from "./settings-store.ts";
import type { SiteStore } from "./site-store.ts";
import type { TotalsStore } from "./totals-store.ts";

export const NO_COST = { requests: 0, requestsDone: 0, linkBytesUp: 0, linkBytesDown: 0, originBytes: 0, time: 0 };

/** Of an app that has just been opened. */
export function initialState(stored: {
  readonly sites: Pick<SiteStore, "recent" | "pinned">;
  readonly settings: Pick<SettingsStore, "current">;
  readonly totals: Pick<TotalsStore, "current">;
  readonly demoUrl: string | null;
}): BrowserState {
  return {
    phase: "idle",
    url: "",
    title: "",
    icon: null,
    canGoBack: false,
    canGoForward: false,
    progress: null,
    link: { kind: "unpaired" },
    cost: NO_COST,
    totals: stored.totals.current,
    error: null,
    destination: null,
    isFrameEmpty: false,
    notice: null,
    recent: stored.sites.recent,
    pinned: stored.sites.pinned,
    settings: stored.settings.current,
    demoUrl: stored.demoUrl,
  };
}
