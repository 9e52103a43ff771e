/** What the page on screen has cost: the tunnel's counters since the page's navigation began. */
import type { PageProgress, PageStoreUse } from "../../messages/tunnel-messages.ts";

/** The counters that a page is charged for; they only grow, but what waits. Those of the store are null until it is there. */
export type Counters = Omit<PageProgress, keyof PageStoreUse> & {
  readonly [Name in keyof PageStoreUse]: number | null;
} & { readonly requestsFailed: number };

/** A page begins: what follows is charged to it. @returns what that is so far. */
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
