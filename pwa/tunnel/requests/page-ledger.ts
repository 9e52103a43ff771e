/** What the page on screen has cost: the tunnel's counters since the page's navigation began. */
import type { PageProgress, PageStoreUse, StoreStats } from "../../messages/tunnel-messages.ts";

/** The counters that a page is charged for; they only grow. Those of the store are null until it is there. */
export interface Counters extends Pick<StoreStats, keyof PageStoreUse> {
  readonly requests: number;
  readonly requestsDone: number;
  readonly requestsFailed: number;
  readonly trackersBlocked: number;
  readonly linkBytesUp: number;
  readonly linkBytesDown: number;
  readonly originBytes: number;
  readonly expectedBytes: number;
  /** As of `PageProgress`, now. */
  readonly roundTrip: number;
}

/** A page begins: what follows is charged to it. @returns what that is so far. */
export function openLedger(read: () => Counters): () => PageProgress {
  const start = read();
  return () => {
    const current = read();
    return {
      requests: current.requests - start.requests,
      requestsDone: current.requestsDone + current.requestsFailed - start.requestsDone - start.requestsFailed,
      trackersBlocked: current.trackersBlocked - start.trackersBlocked,
      linkBytesUp: current.linkBytesUp - start.linkBytesUp,
      linkBytesDown: current.linkBytesDown - start.linkBytesDown,
      originBytes: current.originBytes - start.originBytes,
      expectedBytes: current.expectedBytes - start.expectedBytes,
      roundTrip: start.roundTrip,
      storeAnswers: (current.storeAnswers ?? 0) - (start.storeAnswers ?? 0),
      storeValidations: (current.storeValidations ?? 0) - (start.storeValidations ?? 0),
      storeReferences: (current.storeReferences ?? 0) - (start.storeReferences ?? 0),
      storeBytes: (current.storeBytes ?? 0) - (start.storeBytes ?? 0),
    };
  };
}
