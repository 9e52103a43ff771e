/** The tunnel's entries for the tabs of its window. */
import type { PageProgress, PageStoreUse } from "../../messages/tunnel-messages.ts";
import type { HeldResponse, HeldResponses } from "./held-responses.ts";

interface TabEntry {
  /** The costs of its page. The tunnel's counters are for all tabs, so loads of other tabs meanwhile count, too. */
  readonly progress: () => PageProgress;
  /** The latest navigation may be given up at any time; those before it were, or are a page by now. */
  readonly navigation: HeldResponse | undefined;
  /** Real URL of the document that it leaves its page for, without a fragment; null where there is no page to stay on. */
  readonly leavesFor: string | null;
}

/** By their numbers. */
export type Tabs = Map<number, TabEntry>;

/**
 * A page begins in a tab: costs are counted from here.
 *
 * @param leavesFor as of `TabEntry`.
 * @param navigation where the shell has asked for it.
 */
export function beginPage(
  tabs: Tabs,
  tab: number,
  read: () => Counters,
  leavesFor: string | null,
  navigation = tabs.get(tab)?.navigation,
): void {
  tabs.set(tab, { progress: openLedger(read), navigation, leavesFor });
}

/** Whether a page stays where it is if a document of this URL fails to come. */
export function isKeptFrom(tabs: Tabs, url: string): boolean {
  return [...tabs.values()].some(({ leavesFor }) => leavesFor === url);
}

/** Another navigation takes the place of the tab's: the response to the former one, or its failure, is for nobody. */
export function dropFormer(tabs: Tabs, tab: number, held: Pick<HeldResponses, "drop">): void {
  const former = tabs.get(tab)?.navigation;
  held.drop((each) => each === former);
}

/** The navigation is not wanted any more. */
export function abandon(tabs: Tabs, id: number): void {
  for (const { navigation } of tabs.values()) if (navigation?.id === id) navigation.cancel();
}

/** The counters that a page is charged for; they only grow, but what waits. Those of the store are null until it is there. */
export type Counters = Omit<PageProgress, keyof PageStoreUse> & {
  readonly [Name in keyof PageStoreUse]: number | null;
} & { readonly requestsFailed: number };

/** A page begins: later costs are charged to it. @returns the costs so far. */
export function openLedger(read: () => Counters): () => PageProgress {
  const start = read();
  return () => {
    const current = read();
    const since = (name: Exclude<keyof Counters, "waiting">): number => (current[name] ?? 0) - (start[name] ?? 0);
    return {
      requests: since("requests"),
      requestsDone: since("requestsDone") + since("requestsFailed"),
      trackersBlocked: since("trackersBlocked"),
      linkBytesUp: since("linkBytesUp"),
      linkBytesDown: since("linkBytesDown"),
      originBytes: since("originBytes"),
      expectedBytes: since("expectedBytes"),
      roundTrip: start.roundTrip,
      storeAnswers: since("storeAnswers"),
      storeValidations: since("storeValidations"),
      storeReferences: since("storeReferences"),
      storeBytes: since("storeBytes"),
      pagesWarmed: since("pagesWarmed"),
      pagesWarmedUsed: since("pagesWarmedUsed"),
      // The wishes count anew for each page.
      waiting: current.waiting,
    };
  };
}
