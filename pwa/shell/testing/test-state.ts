import { DEFAULT_SEARCH_URL } from "../app/settings.ts";
import type { BrowserState } from "../app/state.ts";
import { draw, START } from "../tab/navigation.ts";
import { NO_COST } from "../tab/page-meter.ts";

/** The start page of a paired phone, with whatever a test wants to be different. */
export function testState(change: Partial<BrowserState> = {}): BrowserState {
  return {
    ...draw(START),
    canGoBack: false,
    canGoForward: false,
    progress: null,
    cost: NO_COST,
    storedAt: null,
    hasNewer: false,
    openedBy: null,
    tabs: [],
    signIn: null,
    held: null,
    question: null,
    hasUpdate: false,
    link: { kind: "open" },
    pairing: "idle",
    totals: null,
    notice: null,
    recent: [],
    pinned: [],
    readable: null,
    settings: {
      theme: "system",
      language: "system",
      searchUrl: DEFAULT_SEARCH_URL,
      waitTime: 120_000,
      takesPushes: true,
      storeBytes: 200_000_000,
      pictures: "off",
      pageBudget: null,
      pixelReaders: [],
      blocksTrackers: false,
      savesData: null,
      trackerExceptions: [],
      warmsLinks: false,
      windowOpeners: [],
      sizes: [],
    },
    demoUrl: null,
    ...change,
  };
}
