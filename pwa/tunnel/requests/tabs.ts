/** What the tunnel keeps for each tab of its window. */
import type { PageProgress } from "../../messages/tunnel-messages.ts";
import type { HeldResponse } from "./held-response.ts";
import { type Counters, openLedger } from "./page-ledger.ts";

interface TabEntry {
  /** What its page has cost. The tunnel's counters are for all tabs, so what others load meanwhile counts, too. */
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

/** The navigation is not wanted any more. */
export function abandon(tabs: Tabs, id: number): void {
  for (const { navigation } of tabs.values()) if (navigation?.id === id) navigation.cancel();
}
