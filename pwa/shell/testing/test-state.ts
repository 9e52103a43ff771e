import type { BrowserState } from "../app/browser-state.ts";
import { initialState } from "../app/initial-state.ts";
import { DEFAULT_SEARCH_URL } from "../app/search-engines.ts";

const SETTINGS = {
  theme: "system",
  searchUrl: DEFAULT_SEARCH_URL,
  waitTime: 120_000,
  takesPushes: true,
  channels: null,
} as const;

/** The start page of a paired phone, with whatever a test wants to be different. */
export function testState(change: Partial<BrowserState> = {}): BrowserState {
  const fresh = initialState({
    sites: { recent: [], pinned: [] },
    settings: { current: SETTINGS },
    totals: { current: null },
    demoUrl: null,
  });
  return { ...fresh, link: { kind: "open" }, ...change };
}
