/** What Ropeway has moved since it was set up on this phone: what earlier starts left, plus this one's counters. */
import type { TunnelStats } from "../../messages/tunnel-messages.ts";
import type { Totals } from "./app-state.ts";
import type { KeyValueStorage } from "./key-value-storage.ts";

const STORAGE_KEY = "ropeway.totals";

export class TotalsStore {
  #storage: KeyValueStorage;
  #last: Totals = { linkBytes: 0, originBytes: 0 };

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
  }

  /** Null until something was moved. */
  get current(): Totals | null {
    return read(this.#storage.getItem(STORAGE_KEY));
  }

  /** Adds what was moved since the last call. Another window adds its own. */
  add(stats: TunnelStats): Totals {
    const now = { linkBytes: stats.linkBytesUp + stats.linkBytesDown, originBytes: stats.originBytes };
    const before = this.current ?? { linkBytes: 0, originBytes: 0 };
    const totals = {
      linkBytes: before.linkBytes + now.linkBytes - this.#last.linkBytes,
      originBytes: before.originBytes + now.originBytes - this.#last.originBytes,
    };
    this.#last = now;
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(totals));
    return totals;
  }
}

function read(json: string | null): Totals | null {
  try {
    const value = JSON.parse(json ?? "null") as Partial<Record<keyof Totals, unknown>> | null;
    if (typeof value?.linkBytes !== "number" || typeof value.originBytes !== "number") return null;
    return { linkBytes: value.linkBytes, originBytes: value.originBytes };
  } catch {
    return null;
  }
}
