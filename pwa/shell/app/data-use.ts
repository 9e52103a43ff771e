/** What the link has carried, day by day, and what it would have been as sites sent it. */
import type { TunnelStats } from "../../messages/tunnel-messages.ts";
import type { KeyValueStorage } from "./key-value-storage.ts";

const STORAGE_KEY = "ropeway.data-use";

/** Days that are kept: two months, and those of the plot. */
const DAYS_KEPT = 62;
/** Days that the plot shows. */
const DAYS_SHOWN = 30;
const DAY = 86_400_000;

export interface Use {
  /** WebSocket payload, both directions. */
  readonly linkBytes: number;
  /** Body bytes that origins sent. */
  readonly originBytes: number;
}

export const NOTHING: Use = { linkBytes: 0, originBytes: 0 };

export class DataUse {
  readonly #storage: KeyValueStorage;
  readonly #now: () => number;
  #last = NOTHING;

  /** @param now milliseconds since the epoch; days begin at the phone's midnight. */
  constructor(storage: KeyValueStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Counts what was moved since the last call. Another window adds its own. */
  add({ linkBytesUp, linkBytesDown, originBytes }: Pick<TunnelStats, "linkBytesUp" | "linkBytesDown" | "originBytes">) {
    const now = { linkBytes: linkBytesUp + linkBytesDown, originBytes };
    const days = this.#read();
    const today = dayOf(this.#now());
    const before = days.get(today) ?? NOTHING;
    days.set(today, {
      linkBytes: before.linkBytes + now.linkBytes - this.#last.linkBytes,
      originBytes: before.originBytes + now.originBytes - this.#last.originBytes,
    });
    this.#last = now;
    const kept = [...days].sort(([a], [b]) => a.localeCompare(b)).slice(-DAYS_KEPT);
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(kept));
  }

  /** The last thirty days, today last. */
  get days(): readonly Use[] {
    const days = this.#read();
    const noon = new Date(this.#now()).setHours(12);
    return Array.from({ length: DAYS_SHOWN }, (_, i) => days.get(dayOf(noon - (DAYS_SHOWN - 1 - i) * DAY)) ?? NOTHING);
  }

  /** Since the first of the month. */
  get month(): Use {
    const month = dayOf(this.#now()).slice(0, -2);
    const days = [...this.#read()].filter(([day]) => day.startsWith(month)).map(([, use]) => use);
    return {
      linkBytes: days.reduce((sum, use) => sum + use.linkBytes, 0),
      originBytes: days.reduce((sum, use) => sum + use.originBytes, 0),
    };
  }

  #read(): Map<string, Use> {
    try {
      const entries = JSON.parse(this.#storage.getItem(STORAGE_KEY) ?? "[]") as readonly (readonly [string, Use])[];
      return new Map(entries.filter(([day, use]) => /^\d{4}-\d\d-\d\d$/.test(day) && isUse(use)));
    } catch {
      return new Map();
    }
  }
}

function isUse({ linkBytes, originBytes }: Use): boolean {
  return Number.isFinite(linkBytes) && Number.isFinite(originBytes);
}

/** In the phone's time zone: 2026-11-23. */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
