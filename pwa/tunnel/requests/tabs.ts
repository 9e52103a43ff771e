/** What the tunnel keeps for each tab of its window. */
import type { PageProgress } from "../../messages/tunnel-messages.ts";
import type { HeldResponse } from "./held-response.ts";
import { type Counters, openLedger } from "./page-ledger.ts";

interface TabEntry {
  /** Of its page. The tunnel's counters are for all tabs: what others load meanwhile counts, too. */
  readonly progress: () => PageProgress;
  /** The latest navigation may be given up at any time; those before it were, or are a page by now. */
  readonly navigation: HeldResponse | undefined;
}

/** By their numbers. */
export type Tabs = Map<number, TabEntry>;

/** A page begins in a tab: costs are counted from here. @param navigation where the shell has asked for it. */
export function beginPage(tabs: Tabs, tab: number, read: () => Counters, navigation = tabs.get(tab)?.navigation): void {
  tabs.set(tab, { progress: openLedger(read), navigation });
}

/** The navigation is not wanted any more. */
export function abandon(tabs: Tabs, id: number): void {
  for (const { navigation } of tabs.values()) if (navigation?.id === id) navigation.cancel();
}
