import type { BrowserState } from "../browser-state.ts";
import { DEFAULT_SEARCH_URL } from "./search-engines.ts";

/** The start page of a paired phone, with whatever a test wants to be different. */
export function testState(change: Partial<BrowserState> = {}): BrowserState {
  return {
    phase: "idle",
    url: "",
    title: "",
    icon: null,
    canGoBack: false,
    canGoForward: false,
    progress: null,
    link: { kind: "open" },
    cost: { requests: 0, requestsDone: 0, linkBytesUp: 0, linkBytesDown: 0, originBytes: 0, time: 0 },
    totals: null,
    error: null,
    notice: null,
    recent: [],
    pinned: [],
    settings: { theme: "system", searchUrl: DEFAULT_SEARCH_URL, waitTime: 120_000, takesPushes: true, channels: null },
    demoUrl: null,
    ...change,
  };
}
