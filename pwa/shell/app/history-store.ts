/**
 * Where the person is, written down continually for when the app is opened again after it was killed: the entries of the
 * history of the tab shown, and those of the others, in synchronous storage on this phone. One window has it: whoever holds the lock of its name, which the
 * browser releases however a window ends.
 */
import type { SetTimer } from "../../../shared/clock.ts";
import { type KeptEntry, START } from "../tab/session-history.ts";
import type { KeptTab, OtherTabs } from "../tab/tabs.ts";
import type { KeyValueStorage } from "./settings.ts";

export const HISTORY_KEY = "ropeway.history";

/** Milliseconds between two times that it is written. */
const PAUSE = 250;
/** Milliseconds between two looks whether another window still has it: longer than a window takes to be loaded again. */
const HANDOVER = 10_000;
/** Milliseconds. A page that was opened again and is there for so long does not take the app down. */
const PROBATION = 3_000;
/** If the app ended before that so often in a row, it opens the page once more; if more often, it does not. */
const FAILED_STARTS = 1;
/**
 * Characters of all addresses of a tab, and of what was typed into its pages: both can be of any length, and this storage is
 * small.
 */
const CHARACTERS = 50_000;
/** Likewise, of a tab that is not shown; and so many of those are kept. */
const CHARACTERS_BEHIND = 10_000;
const MOST_TABS = 100;
/** Characters of such a tab's title, and of its picture's address: pages choose both. */
const [MOST_TITLE, MOST_ADDRESS] = [300, 2_000];

/** The part of `LockManager` that is used. */
export interface HistoryLocks {
  request<T>(name: string, options: LockOptions, callback: (lock: Lock | null) => Promise<T>): Promise<T>;
}

interface KeptHistory {
  readonly entries: readonly KeptEntry[];
  readonly others: OtherTabs;
  /** Starts in a row that opened the page and are not known to have lasted. */
  readonly starts: number;
}

const NO_OTHERS: OtherTabs = { tabs: [], at: 0 };
const NOTHING: KeptHistory = { entries: [], others: NO_OTHERS, starts: 0 };

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
   * Takes the history over where no other window has it, else a while after the other has ended. So a window that is loaded
   * again has its own back.
   *
   * @param atStart the start page is to be shown, and Back leads to where the person was.
   * @param onLeft gets the tabs of a window that has ended, where this one has the history from then on.
   * @returns what was kept before; empty where no page is among it, and while another window has it.
   */
  async take(atStart = false, onLeft: (left: OtherTabs) => void = () => {}): Promise<readonly KeptEntry[]> {
    if (this.#locks === null) {
      this.#release = () => {};
    } else if (!(await this.#lock(this.#locks))) {
      this.#await(this.#locks, onLeft);
      return [];
    }
    this.#current = this.#read();
    const { entries, starts } = this.#current;
    if (entries.every(({ url }) => url === "")) return [];
    return atStart || starts > FAILED_STARTS ? [...entries.filter(({ isAhead }) => !isAhead), START] : entries;
  }

  #await(locks: HistoryLocks, onLeft: (left: OtherTabs) => void): void {
    this.#setTimer(() => void this.#takeOver(locks, onLeft), HANDOVER);
  }

  async #takeOver(locks: HistoryLocks, onLeft: (left: OtherTabs) => void): Promise<void> {
    // A window that was left and came back has asked for it again.
    if (this.#release) return;
    if (!(await this.#lock(locks))) return this.#await(locks, onLeft);
    const { entries, others } = this.#read();
    const tabs = others.tabs.toSpliced(others.at, 0, { entries, title: "" });
    onLeft({ tabs: tabs.filter((tab) => tab.entries.some(({ url }) => url !== "")), at: 0 });
    this.write();
  }

  /** The tabs that were not shown, once this window has the history. */
  get others(): OtherTabs {
    return this.#current.others;
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

  /** Entries that are forgotten are not written. */
  save(entries: readonly KeptEntry[], others: OtherTabs = NO_OTHERS): void {
    this.#current = { ...this.#current, entries, others };
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

  /** At once, whichever window has it. Entries that `save` was given are marked by then. @param isOf says of URLs whether they go. */
  forget(isOf: (url: string) => boolean): void {
    this.#put(without(this.#read(), ({ url }) => url === "" || !isOf(url)));
  }

  /** @returns whether a URL is one that another window has forgotten. */
  forgotten(): (url: string) => boolean {
    const left = new Set(urlsOf(this.#read()));
    const gone = new Set(urlsOf(this.#written).filter((url) => !left.has(url)));
    return (url) => gone.has(url);
  }

  /** This window is closed, or left; what it has is written. */
  close(): void {
    this.write();
    this.#release?.();
    this.#release = null;
  }

  /** @returns whether this window has it now. */
  #lock(locks: HistoryLocks): Promise<boolean> {
    return new Promise((resolve) => {
      const request = locks.request(HISTORY_KEY, { ifAvailable: true }, (lock) => {
        if (lock === null) return Promise.resolve(resolve(false));
        return new Promise<void>((release) => {
          this.#release = release;
          resolve(true);
        });
      });
      request.catch(() => resolve(false));
    });
  }

  #put(history: KeptHistory): void {
    const { entries, others, starts } = without(history, ({ forgottenBy }) => !forgottenBy);
    const tabs = others.tabs.slice(0, MOST_TABS).map(({ entries, title, picture }) => ({
      entries: bounded(entries, CHARACTERS_BEHIND),
      title: title.slice(0, MOST_TITLE),
      picture: (picture?.length ?? 0) > MOST_ADDRESS ? null : picture,
    }));
    this.#written = { entries: bounded(entries, CHARACTERS), others: { ...others, tabs }, starts };
    try {
      if (entries.length === 0 && tabs.length === 0) this.#storage.removeItem(HISTORY_KEY);
      else this.#storage.setItem(HISTORY_KEY, JSON.stringify(this.#written));
    } catch {
      // Storage is full: what was written before counts.
    }
  }

  #read(): KeptHistory {
    try {
      const { entries, others, starts } = JSON.parse(
        this.#storage.getItem(HISTORY_KEY) ?? "{}",
      ) as Partial<KeptHistory>;
      // Releases of before 2026-12 wrote no others.
      const { tabs, at } = others ?? NO_OTHERS;
      const kept = tabs.map((tab) => ({
        entries: tab.entries.filter(isEntry),
        title: String(tab.title),
        picture: tab.picture,
      }));
      return {
        entries: entries?.filter(isEntry) ?? [],
        others: { tabs: kept, at: Number(at) },
        starts: Number(starts ?? 0),
      };
    } catch {
      return NOTHING;
    }
  }
}

function isEntry({ url, isRepeatable, scroll }: Partial<KeptEntry>): boolean {
  const isPage = typeof url === "string" && (url === "" || /^https?:/.test(url));
  return isPage && typeof isRepeatable === "boolean" && Number.isFinite(scroll?.x) && Number.isFinite(scroll?.y);
}

function without({ entries, others, starts }: KeptHistory, isLeft: (entry: KeptEntry) => boolean): KeptHistory {
  const leftOf = (tabs: readonly KeptTab[]) =>
    tabs.flatMap((tab) => {
      const left = tab.entries.filter(isLeft);
      if (left.length === tab.entries.length) return [tab];
      // Title and picture may be those of a page that goes.
      return left.some(({ url }) => url !== "") ? [{ entries: left, title: "" }] : [];
    });
  const before = leftOf(others.tabs.slice(0, others.at));
  const tabs = [...before, ...leftOf(others.tabs.slice(others.at))];
  return { entries: entries.filter(isLeft), others: { tabs, at: before.length }, starts };
}

function urlsOf({ entries, others }: KeptHistory): readonly string[] {
  return [...entries, ...others.tabs.flatMap((tab) => tab.entries)].map(({ url }) => url);
}

/** The latest entries that fit; of these, only the latest keep their fields. */
function bounded(entries: readonly KeptEntry[], characters: number): readonly KeptEntry[] {
  let left = characters;
  const first = entries.findLastIndex(({ url }) => {
    left -= url.length;
    return left < 0;
  });
  left = characters;
  const withFields = entries.findLastIndex(({ fields = [] }) => {
    left -= JSON.stringify(fields).length;
    return left < 0;
  });
  return entries
    .slice(first + 1)
    .map((entry, at) => (first + 1 + at > withFields ? entry : { ...entry, fields: undefined }));
}
