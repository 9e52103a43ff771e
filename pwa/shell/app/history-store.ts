/**
 * Where the person is, written down continually for when the app is opened again after it was killed: the entries of the
 * tab's history, in synchronous storage on this phone. One window has it: whoever holds the lock of its name, which the
 * browser releases however a window ends.
 */
import type { SetTimer } from "../../../shared/clock.ts";
import type { KeptEntry } from "../tab/session-history.ts";
import type { KeyValueStorage } from "./settings.ts";

export const HISTORY_KEY = "ropeway.history";

/** Milliseconds between two times that it is written. */
const PAUSE = 250;
/** Milliseconds. A page that was opened again and is there for so long does not take the app down. */
const PROBATION = 3_000;
/** If the app ended before that so often in a row, it opens the page once more; if more often, it does not. */
const FAILED_STARTS = 1;
/** Characters of all addresses: addresses can be of any length, and this storage is small. */
const CHARACTERS = 50_000;

/** The part of `LockManager` that is used. */
export interface HistoryLocks {
  request<T>(name: string, options: LockOptions, callback: (lock: Lock | null) => Promise<T>): Promise<T>;
}

interface KeptHistory {
  readonly entries: readonly KeptEntry[];
  /** Starts in a row that opened the page and are not known to have lasted. */
  readonly starts: number;
}

const NOTHING: KeptHistory = { entries: [], starts: 0 };

const START: KeptEntry = { url: "", isRepeatable: true, scroll: { x: 0, y: 0 } };

export class HistoryStore {
  readonly #storage: KeyValueStorage;
  readonly #locks: HistoryLocks | null;
  readonly #setTimer: SetTimer;
  /** Its lock is released by the call; null while another window may have it. */
  #release: (() => void) | null = null;
  #current = NOTHING;
  #written = NOTHING;
  #isScheduled = false;
  #isOnProbation = false;

  /** @param locks null where the browser has none: then each window writes, and the last one counts. */
  constructor(storage: KeyValueStorage, locks: HistoryLocks | null, setTimer: SetTimer) {
    this.#storage = storage;
    this.#locks = locks;
    this.#setTimer = setTimer;
  }

  /**
   * Takes the history over where no other window has it, else when that is closed.
   *
   * @param atStart the start page is to be shown, and Back leads to where the person was.
   * @returns what was kept before; empty where no page is among it, and while another window has it.
   */
  async take(atStart = false): Promise<readonly KeptEntry[]> {
    if (this.#locks === null) {
      this.#release = () => {};
    } else if (!(await this.#lock(this.#locks, { ifAvailable: true }))) {
      void this.#lock(this.#locks, {}).then(() => this.write());
      return [];
    }
    const { entries, starts } = this.#read();
    this.#current = { entries, starts };
    if (entries.every(({ url }) => url === "")) return [];
    return atStart || starts > FAILED_STARTS ? [...entries.filter(({ isAhead }) => !isAhead), START] : entries;
  }

  /** The last of the entries is opened: until `lasts` is called, and a while later, it counts as a start that failed. */
  begin(): void {
    this.#current = { ...this.#current, starts: this.#current.starts + 1 };
    this.write();
  }

  /** The page that was opened is there. */
  lasts(): void {
    if (this.#current.starts === 0 || this.#isOnProbation) return;
    this.#isOnProbation = true;
    this.#setTimer(() => {
      this.#isOnProbation = false;
      this.#current = { ...this.#current, starts: 0 };
      this.write();
    }, PROBATION);
  }

  save(entries: readonly KeptEntry[]): void {
    this.#current = { ...this.#current, entries };
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#setTimer(() => {
      this.#isScheduled = false;
      this.write();
    }, PAUSE);
  }

  /** At once, if this window has it. */
  write(): void {
    if (this.#release !== null) this.#put(this.#current);
  }

  /** At once, whichever window has it. @param isOf says of URLs whether they go. */
  forget(isOf: (url: string) => boolean): void {
    const isLeft = ({ url }: KeptEntry) => url === "" || !isOf(url);
    const kept = this.#read();
    this.#current = { ...this.#current, entries: this.#current.entries.filter(isLeft) };
    this.#put({ ...kept, entries: kept.entries.filter(isLeft) });
  }

  /** @returns whether a URL is one that another window has forgotten. */
  forgotten(): (url: string) => boolean {
    const left = new Set(this.#read().entries.map(({ url }) => url));
    const gone = new Set(this.#written.entries.map(({ url }) => url).filter((url) => !left.has(url)));
    return (url) => gone.has(url);
  }

  /** This window is closed, or left; what it has is written. */
  close(): void {
    this.write();
    this.#release?.();
    this.#release = null;
  }

  /** @returns whether this window has it now. */
  #lock(locks: HistoryLocks, options: LockOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const request = locks.request(HISTORY_KEY, options, (lock) => {
        if (lock === null) return Promise.resolve(resolve(false));
        return new Promise<void>((release) => {
          this.#release = release;
          resolve(true);
        });
      });
      request.catch(() => resolve(false));
    });
  }

  #put({ entries, starts }: KeptHistory): void {
    this.#written = { entries: bounded(entries), starts };
    try {
      if (entries.length === 0) this.#storage.removeItem(HISTORY_KEY);
      else this.#storage.setItem(HISTORY_KEY, JSON.stringify(this.#written));
    } catch {
      // Storage is full: what was written before counts.
    }
  }

  #read(): KeptHistory {
    try {
      const { entries, starts } = JSON.parse(this.#storage.getItem(HISTORY_KEY) ?? "{}") as Partial<KeptHistory>;
      return { entries: entries?.filter(isEntry) ?? [], starts: Number(starts ?? 0) };
    } catch {
      return NOTHING;
    }
  }
}

function isEntry({ url, isRepeatable, scroll }: Partial<KeptEntry>): boolean {
  const isPage = typeof url === "string" && (url === "" || /^https?:/.test(url));
  return isPage && typeof isRepeatable === "boolean" && Number.isFinite(scroll?.x) && Number.isFinite(scroll?.y);
}

/** The latest of them. */
function bounded(entries: readonly KeptEntry[]): readonly KeptEntry[] {
  let left = CHARACTERS;
  const first = entries.findLastIndex(({ url }) => {
    left -= url.length;
    return left < 0;
  });
  return entries.slice(first + 1);
}
