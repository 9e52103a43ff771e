/**
 * Which requests that must not run twice were sent to their origins, so that a phone that lost its session can ask
 * again without fear. An entry is durable before the request leaves.
 */
import * as limits from "../../shared/limits.ts";

/** Where one phone's entries are kept. Times are milliseconds since the epoch. */
export interface SentLogStore {
  /** The log has an entry for each request that was sent after this time, if it is not too old. */
  coversFrom(): Promise<number>;
  has(id: string): Promise<boolean>;
  /** Resolves with false when it was there, else with true once it is durable. */
  add(id: string, time: number): Promise<boolean>;
  /** Drops entries of before `time`, and the oldest of those above `count`, which `coversFrom` accounts for. */
  prune(time: number, count: number): Promise<void>;
}

/** "new": it may be sent, and counts as sent from now on. */
export type SentLogAnswer = "new" | "sent" | "unknown";

/** Entries between two times that the log is pruned. */
const PRUNE_INTERVAL = 64;

export class SentLog {
  #store: SentLogStore;
  #now: () => number;
  #addedSincePrune = 0;

  constructor(store: SentLogStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** What `claim` would say of a repeated request now. */
  async find(id: string): Promise<SentLogAnswer> {
    if (await this.#store.has(id)) return "sent";
    return (await this.#store.coversFrom()) > this.#now() - limits.repeatWindow ? "unknown" : "new";
  }

  /** @param isRepeat an earlier attempt may have been sent, up to limits.repeatWindow ago. */
  async claim(id: string, isRepeat: boolean): Promise<SentLogAnswer> {
    if (isRepeat) {
      const found = await this.find(id);
      if (found !== "new") return found;
    }
    const now = this.#now();
    if (!(await this.#store.add(id, now))) return "sent";
    await this.#prune(now);
    return "new";
  }

  async #prune(now: number): Promise<void> {
    this.#addedSincePrune += 1;
    if (this.#addedSincePrune < PRUNE_INTERVAL) return;
    this.#addedSincePrune = 0;
    await this.#store.prune(now - limits.sentLogTime, limits.sentLogEntries);
  }
}

/** For an edge that has no store: what it sent before it started, it does not know. */
export function memorySentLogStore(startedAt: number): SentLogStore {
  /** In the order in which they were added. */
  const entries = new Map<string, number>();
  let coversFrom = startedAt;
  return {
    coversFrom: async () => coversFrom,
    has: async (id) => entries.has(id),
    async add(id, time) {
      if (entries.has(id)) return false;
      entries.set(id, time);
      return true;
    },
    async prune(time, count) {
      for (const [id, at] of entries) {
        const isEarly = at >= time;
        if (isEarly && entries.size <= count) break;
        entries.delete(id);
        if (isEarly) coversFrom = Math.max(coversFrom, at);
      }
    },
  };
}
