import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { deleteDB, openDB } from "idb";
import { ResponseStore } from "../database/response-store.ts";
import { openStoreDatabase, type StoreDatabase } from "../database/store-database.ts";
import type { StoreOptions } from "../database/store-options.ts";
import type { StoreNews, StorePlatform } from "../database/store-platform.ts";

/** A disk that several windows of the app share, and that a test can fill, spoil, or take away. */
export class FakeDisk<Meta> {
  readonly windows: ResponseStore<Meta>[] = [];
  /** Called before each write of a record; may throw what the browser would. */
  onPut: (value: unknown) => void = () => {};
  /** May throw what the browser would. */
  onDelete: () => void = () => {};
  /** What each opening of the database waits for. */
  opening: Promise<void> = Promise.resolve();
  #alive = new Set<string>();
  #transactions: IDBTransaction[] = [];
  #isDead = false;
  #count = 0;
  #time = 0;

  constructor() {
    globalThis.indexedDB = new IDBFactory();
  }

  open(options?: Partial<StoreOptions>): ResponseStore<Meta> {
    const writer = `w${this.#count++}`;
    const store: ResponseStore<Meta> = new ResponseStore<Meta>(
      this.#platform(writer, () => store),
      {
        bytes: 100_000,
        entries: 100,
        bodyBytes: 20_000,
        blockBytes: 1000,
        ...options,
      },
    );
    this.windows.push(store);
    return store;
  }

  /** The app is killed: what was not committed never was. */
  kill(): void {
    this.#isDead = true;
    this.#alive.clear();
    this.windows.length = 0;
    for (const transaction of this.#transactions.splice(0)) {
      try {
        transaction.abort();
      } catch {
        // It was over.
      }
    }
  }

  revive(): void {
    this.#isDead = false;
  }

  raw(): Promise<StoreDatabase> {
    return openStoreDatabase("test");
  }

  /** What a later release does. */
  async upgrade(version: number): Promise<void> {
    (await openDB("test", version)).close();
  }

  #platform(writer: string, self: () => ResponseStore<Meta>): StorePlatform {
    return {
      writer,
      openDatabase: async () => {
        await this.opening;
        return this.#watched(await openStoreDatabase("test"));
      },
      deleteDatabase: async () => {
        this.onDelete();
        await deleteDB("test");
      },
      hold: () => void this.#alive.add(writer),
      liveWriters: async () => this.#alive,
      // Later each time than any interval.
      now: () => (this.#time += 1e9),
      tellOthers: (news: StoreNews) => {
        for (const other of this.windows) if (other !== self()) other.hear(news);
      },
    };
  }

  /** Every `put` and `add` passes by the test. */
  #watched(database: StoreDatabase): StoreDatabase {
    const onWrite = (value: unknown) => {
      if (!this.#isDead) this.onPut(value);
      if (this.#isDead) throw new DOMException("Killed", "AbortError");
    };
    const store = <Store extends object>(target: Store): Store =>
      new Proxy(target, {
        get: (inner, name) => {
          const member: unknown = Reflect.get(inner, name);
          if (typeof member !== "function") return member;
          return (...args: unknown[]) => {
            if (name === "put" || name === "add") onWrite(args[0]);
            return member.apply(inner, args);
          };
        },
      });
    return new Proxy(database, {
      get: (inner, name) => {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (this.#isDead) throw new DOMException("Killed", "AbortError");
          if (name === "put") onWrite(args[1]);
          const result: unknown = member.apply(inner, args);
          if (name !== "transaction") return result;
          const transaction = result as { objectStore(name: string): object };
          this.#transactions.push(transaction as unknown as IDBTransaction);
          return new Proxy(transaction, {
            get: (within, key) => {
              if (key === "objectStore") return (each: string) => store(within.objectStore(each));
              const part: unknown = Reflect.get(within, key);
              return typeof part === "function" ? part.bind(within) : part;
            },
          });
        };
      },
    });
  }
}
