/**
 * The log of pairings: which device, what became of it, and when. It has nothing of what devices looked at, nor of
 * where they were.
 */
import type { DeviceEvent } from "../../shared/devices.ts";
import type { RecordStore } from "./record-store.ts";

/** Events that are kept, the oldest dropped first: enough for a year of a household. Deno KV takes 64 KiB a value. */
const MOST_EVENTS = 200;

/** Milliseconds between two writes of refusals, so that somebody who guesses keys does not make a row with each. */
const REFUSALS_STEP = 10_000;
/** Milliseconds: those that follow each other within this count as one event. */
const REFUSALS_TIME = 600_000;

const RECORD = "events";

/** One event of the log, with the id of its device: for later events of a device that is not listed any more. */
type KeptEvent = DeviceEvent & { readonly deviceId?: string };

export class AuditLog {
  #store: RecordStore;
  #now: () => number;
  #refusals = 0;
  #refusalsWrittenAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds since the epoch. */
  constructor(store: RecordStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  note(
    event: KeptEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never,
  ): Promise<void> {
    return this.#change((events) => [...events, { ...event, at: this.#now() } as KeptEvent]);
  }

  /** Somebody showed a key or a code that is none. */
  async refused(): Promise<void> {
    this.#refusals += 1;
    const now = this.#now();
    if (now - this.#refusalsWrittenAt < REFUSALS_STEP) return;
    this.#refusalsWrittenAt = now;
    const count = this.#refusals;
    this.#refusals = 0;
    await this.#change((events) => {
      const last = events.at(-1);
      if (last?.kind !== "refused" || now - last.at > REFUSALS_TIME)
        return [...events, { kind: "refused", at: now, count }];
      return [...events.slice(0, -1), { kind: "refused", at: now, count: last.count + count }];
    });
  }

  /** The name that a device had last. */
  async nameOf(deviceId: string): Promise<string | null> {
    const known = (await this.#read()).findLast((event) => event.deviceId === deviceId);
    return known !== undefined && "name" in known ? known.name : null;
  }

  /** Newest first. */
  async list(): Promise<DeviceEvent[]> {
    return (await this.#read()).map(({ deviceId: _, ...event }) => event as DeviceEvent).reverse();
  }

  async #read(): Promise<readonly KeptEvent[]> {
    return (await this.#store.get<readonly KeptEvent[]>(RECORD)) ?? [];
  }

  #change(change: (events: readonly KeptEvent[]) => readonly KeptEvent[]): Promise<void> {
    return this.#store.update<readonly KeptEvent[]>(RECORD, (events = []) => change(events).slice(-MOST_EVENTS));
  }
}
