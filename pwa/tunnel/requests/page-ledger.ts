/** What the page on screen has cost: the tunnel's counters since the page's navigation began. */
import type { PageProgress } from "../../messages/tunnel-messages.ts";

/** The counters that a page is charged for; they only grow. */
export interface Counters {
  readonly requests: number;
  readonly requestsDone: number;
  readonly requestsFailed: number;
  readonly linkBytesUp: number;
  readonly linkBytesDown: number;
  readonly originBytes: number;
  readonly expectedBytes: number;
}

/** A page begins: what follows is charged to it. @returns what that is so far. */
export function openLedger(read: () => Counters): () => PageProgress {
  const start = read();
  return () => {
    const current = read();
    return {
      requests: current.requests - start.requests,
      requestsDone: current.requestsDone + current.requestsFailed - start.requestsDone - start.requestsFailed,
      linkBytesUp: current.linkBytesUp - start.linkBytesUp,
      linkBytesDown: current.linkBytesDown - start.linkBytesDown,
      originBytes: current.originBytes - start.originBytes,
      expectedBytes: current.expectedBytes - start.expectedBytes,
    };
  };
}
