import { committed, databaseOpener } from "../../platform/platform.ts";

const NAME = "ropeway.library";
const CHANNEL = "ropeway.library";
const STORES = { visits: ["day", "url"], icons: null, bookmarks: "id" } as const;

export type StoreName = keyof typeof STORES;
export type StoresOf<Names extends StoreName> = Readonly<Record<Names, IDBObjectStore>>;

/**
 * The library as it is stored, beside the lists of the start page: a window of another release may have those open, and would
 * hold up a change of their database.
 */
export class LibraryDatabase {
  readonly #open = databaseOpener(askForLibrary);
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #onChange: () => void;

  /** @param onChange something has been changed, here or in another window. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#channel.onmessage = onChange;
  }

  /** In one transaction. @returns null where storage is closed to us, or full: then nothing has changed. */
  async change<Result, Names extends StoreName>(
    names: readonly Names[],
    task: (stores: StoresOf<Names>) => Promise<Result>,
  ): Promise<Result | null> {
    try {
      const transaction = (await this.#open()).transaction([...names], "readwrite");
      const [result] = await Promise.all([task(storesOf(transaction, names)), committed(transaction)]);
      this.#onChange();
      this.#channel.postMessage(null);
      return result;
    } catch {
      return null;
    }
  }

  /** @returns null where storage is closed to us. */
  async read<Result, Names extends StoreName>(
    names: readonly Names[],
    task: (stores: StoresOf<Names>) => Promise<Result>,
  ): Promise<Result | null> {
    try {
      return await task(storesOf((await this.#open()).transaction([...names]), names));
    } catch {
      return null;
    }
  }

  /** For tests. */
  async close(): Promise<void> {
    this.#channel.close();
    (await this.#open()).close();
  }
}

function askForLibrary(): IDBOpenDBRequest {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    for (const [name, keyPath] of Object.entries(STORES))
      request.result.createObjectStore(name, keyPath === null ? {} : { keyPath: keyPath as string | string[] });
  };
  return request;
}

function storesOf<Names extends StoreName>(transaction: IDBTransaction, names: readonly Names[]): StoresOf<Names> {
  const stores = names.map((name) => [name, transaction.objectStore(name)] as const);
  return Object.fromEntries(stores) as StoresOf<Names>;
}

/**
 * A part of the library in memory: read when somebody looks, and anew when somebody looks after a change, or after it could not
 * be read.
 */
export class Shelf<Value> {
  readonly #read: () => Promise<Value | null>;
  readonly #empty: Value;
  readonly #onRead: () => void;
  #value: Value | null = null;
  #isStale = true;
  #latest: Promise<Value | null> | null = null;

  /** @param read gives null where storage is closed to us. @param empty stands where nothing was ever read. */
  constructor(read: () => Promise<Value | null>, empty: Value, onRead: () => void) {
    this.#read = read;
    this.#empty = empty;
    this.#onRead = onRead;
  }

  /** As of when it was read last; null before the first time. Reads it where it has changed since. */
  look(): Value | null {
    if (this.#isStale) void this.read();
    return this.#value;
  }

  /** As it is now; null where that cannot be read. */
  async read(): Promise<Value | null> {
    if (!this.#isStale && this.#latest !== null) return this.#latest;
    this.#isStale = false;
    const reading = this.#read();
    this.#latest = reading;
    const value = await reading;
    if (this.#latest !== reading) return value;
    this.#isStale ||= value === null;
    const former = this.#value;
    this.#value = value ?? former ?? this.#empty;
    if (value !== null || former === null) this.#onRead();
    return value;
  }

  /** @returns whether somebody has looked at it, and may want to see it anew. */
  isChanged(): boolean {
    this.#isStale = true;
    return this.#value !== null;
  }
}
