import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { deleteDB, openDB } from "idb";
import { type DiskPlatform, ResponseStore, type StoreOptions } from "../database/response-store.ts";
import type { BodyHolds } from "../database/shared-bodies.ts";
import { openStoreDatabase, type StoreDatabase } from "../database/store-database.ts";
import type { StoreNews } from "../store.ts";

/** Of one start of the app to its end. */
interface Life {
  isOver: boolean;
  readonly transactions: Set<IDBTransaction>;
}

/** One thing that a window does to its database. */
export interface DiskStep {
  /** Of the database, a transaction, an object store, an index or a cursor. */
  readonly method: string;
  readonly args: readonly unknown[];
  /** The transaction that it is part of. */
  readonly transaction: IDBTransaction | null;
}

/** A disk that several windows of the app share, and that a test can fill, spoil, or take away. */
export class FakeDisk<Meta> {
  readonly windows: ResponseStore<Meta>[] = [];
  /** Called before each step; may throw what the browser would, or kill the app. */
  onStep: (step: DiskStep) => void = () => {};
  /** What all windows did, in order, where a test wants to know. */
  steps: string[] | null = null;
  /** Called before each write of a record; may throw what the browser would. */
  onPut: (value: unknown) => void = () => {};
  /** May throw what the browser would. */
  onDelete: () => void = () => {};
  /** What each opening of the database waits for. */
  opening: Promise<void> = Promise.resolve();
  readonly #isMeta: (meta: unknown) => meta is Meta;
  #life: Life = { isOver: false, transactions: new Set() };
  #bodies = bodyHolds();
  /** Open connections, each with the callback for its end. */
  readonly #connections = new Map<StoreDatabase, () => void>();
  #count = 0;
  #time = 0;

  /** @param isMeta any is, by default. */
  constructor(isMeta: (meta: unknown) => meta is Meta = (_): _ is Meta => true) {
    this.#isMeta = isMeta;
    globalThis.indexedDB = new IDBFactory();
  }

  open(options?: Partial<StoreOptions>): ResponseStore<Meta> {
    const writer = `w${this.#count++}`;
    const store: ResponseStore<Meta> = new ResponseStore<Meta>(
      this.#platform(writer, () => store),
      this.#isMeta,
      {
        bytes: 100_000,
        entries: 100,
        bodyBytes: 20_000,
        blockBytes: 1000,
        backlogBytes: 4000,
        ...options,
      },
    );
    this.windows.push(store);
    return store;
  }

  /** The app is killed: what was not committed never was. What is opened from then on is its next start. */
  kill(): void {
    const { transactions } = this.#life;
    this.#life.isOver = true;
    this.#life = { isOver: false, transactions: new Set() };
    this.#bodies = bodyHolds();
    this.windows.length = 0;
    for (const transaction of transactions) abort(transaction);
  }

  /** The browser closes all connections. */
  closeConnections(): void {
    for (const [database, onClosed] of this.#connections) {
      this.#connections.delete(database);
      database.close();
      onClosed();
    }
  }

  raw(): Promise<StoreDatabase> {
    return openStoreDatabase("test");
  }

  /** What a later release does. */
  async upgrade(version: number): Promise<void> {
    (await openDB("test", version)).close();
  }

  #platform(writer: string, self: () => ResponseStore<Meta>): DiskPlatform {
    const life = this.#life;
    return {
      writer,
      openDatabase: async (onClosed) => {
        await this.opening;
        const heard = () => void (life.isOver || onClosed());
        const database = await openStoreDatabase("test", heard);
        this.#connections.set(database, heard);
        return this.#watched(database, life, null);
      },
      deleteDatabase: async () => {
        this.onDelete();
        await deleteDB("test");
      },
      bodies: this.#bodies,
      // Later each time than any interval.
      now: () => (this.#time += 1e9),
      setTimer: soon,
      tellOthers: (news: StoreNews) => {
        if (life.isOver) return;
        for (const other of this.windows) if (other !== self()) other.hear(news);
      },
    };
  }

  /** Every step passes by the test, those of what the steps give, too. */
  #watched<Target extends object>(target: Target, life: Life, transaction: IDBTransaction | null): Target {
    return new Proxy(target, {
      get: (inner, name) => {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          this.#step({ method: String(name), args, transaction }, life);
          const result: unknown = member.apply(inner, args);
          // Where the step after it in the same turn fails, nobody waits for it.
          if (result instanceof Promise) result.catch(() => {});
          if (name === "transaction") {
            const begun = result as IDBTransaction;
            life.transactions.add(begun);
            return this.#watched(begun, life, begun);
          }
          const isPart = name === "objectStore" || name === "index";
          return isPart ? this.#watched(result as object, life, transaction) : result;
        };
      },
    });
  }

  #step(step: DiskStep, life: Life): void {
    const [first, second] = step.args;
    this.steps?.push(`${life.isOver ? "killed" : "alive"} ${step.method} ${step.args.map(briefly).join()}`);
    if (!life.isOver) this.onStep(step);
    if (!life.isOver && (step.method === "put" || step.method === "add")) {
      this.onPut(step.transaction === null ? second : first);
    }
    if (life.isOver) throw new DOMException("Killed", "AbortError");
  }
}

/** So many turns later, whatever the clock says: timers and turns would follow each other in one order or another. */
const SOON = 5;

function soon(task: () => void): () => void {
  let left = SOON;
  const wait = () => {
    left -= 1;
    if (left < 0) return;
    if (left === 0) task();
    else setImmediate(wait);
  };
  setImmediate(wait);
  return () => {
    left = 0;
  };
}

/** Whatever a window may give to its database. */
function briefly(value: unknown): string {
  if (typeof value === "function") return "function";
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (value instanceof IDBKeyRange) return `from ${JSON.stringify(value.lower)} to ${JSON.stringify(value.upper)}`;
  return JSON.stringify(value);
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It was over.
  }
}

/** As Web Locks do it: `unlessHeld` is over before anybody else gets hold. */
function bodyHolds(): BodyHolds {
  const holds = new Map<string, number>();
  const dropping = new Map<string, Promise<void>>();
  return {
    async hold(bodyId) {
      await dropping.get(bodyId);
      holds.set(bodyId, (holds.get(bodyId) ?? 0) + 1);
      return () => {
        const left = (holds.get(bodyId) ?? 0) - 1;
        if (left > 0) holds.set(bodyId, left);
        else holds.delete(bodyId);
      };
    },
    async unlessHeld(bodyId, task) {
      if (holds.has(bodyId) || dropping.has(bodyId)) return;
      const dropped = task().finally(() => dropping.delete(bodyId));
      dropping.set(
        bodyId,
        dropped.catch(() => {}),
      );
      await dropped;
    },
  };
}
