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

export class PageLedger {
  #read: () => Counters;
  #start: Counters;

  constructor(read: () => Counters) {
    this.#read = read;
    this.#start = read();
  }

  /** A page begins: what follows is charged to it. */
  begin(): void {
    this.#start = this.#read();
  }

  progress(): PageProgress {
    const start = this.#start;
    const current = this.#read();
    return {
      requests: current.requests - start.requests,
      requestsDone: current.requestsDone + current.requestsFailed - start.requestsDone - start.requestsFailed,
      linkBytesUp: current.linkBytesUp - start.linkBytesUp,
      linkBytesDown: current.linkBytesDown - start.linkBytesDown,
      originBytes: current.originBytes - start.originBytes,
      expectedBytes: current.expectedBytes - start.expectedBytes,
    };
  }
}
