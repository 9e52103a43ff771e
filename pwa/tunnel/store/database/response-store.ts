import { BoundedMap } from "../../../../shared/bounded-map.ts";
import { type Clock, monotonicClock } from "../../../../shared/clock.ts";
import { DEFAULT_STORE_BYTES } from "../../../messages/tunnel-messages.ts";
import { deleteStoreDatabase, STORE_NAME, type StoreNews } from "../store.ts";
import {
  BodyCopy,
  type BodyHolds,
  BodyReader,
  type DiskBacklog,
  SharedBodies,
  SWEEP_INTERVAL,
} from "./shared-bodies.ts";
import { type Change, type StoreBounds, StoreChanges, WriteQueue } from "./store-changes.ts";
import {
  abortWrite,
  beginRead,
  beginWrite,
  byUse,
  isEntrySized,
  isStoredEntry,
  isStoreTotals,
  NOTHING_STORED,
  openStoreDatabase,
  type PartitionUse,
  STORES,
  type StoreDatabase,
  type StoredEntry,
  type StoredVisit,
  type StoreTotals,
  type StoreWrite,
} from "./store-database.ts";

/** Its milliseconds are of any beginning. */
export interface DiskPlatform extends Clock {
  /** @param onClosed as of `openStoreDatabase`. */
  openDatabase(onClosed: () => void): Promise<StoreDatabase>;
  /** Deletes all rows, too; windows that have the database open close it. */
  deleteDatabase(): Promise<void>;
  /** Names whoever writes here, among all windows. */
  readonly writer: string;
  readonly bodies: BodyHolds;
  tellOthers(news: StoreNews): void;
}

/** Partitions whose index is in memory: a page and its frames, and the page before. */
const INDEXES = 8;

/** Responses to one URL in a partition: origins that vary without end, or pages that ask in ever new ways. */
const VARIANTS = 16;

interface KnownIndex<Meta> {
  /** A promise while it is read. */
  index: PartitionIndex<Meta> | Promise<PartitionIndex<Meta>>;
}

/**
 * The phone's store of responses: bodies by their hash, one copy for any number of URLs of a partition, and an index that
 * is kept in memory for the partitions in use. Bounded; the entry used longest ago goes first. All windows of the app share
 * it. The store never fails a request: an entry that cannot be read is not there, a response that cannot be written is not
 * stored.
 */
export class ResponseStore<Meta> {
  readonly #platform: DiskPlatform;
  readonly #isMeta: (meta: unknown) => meta is Meta;
  readonly #options: StoreOptions;
  #database: Promise<StoreDatabase | null>;
  /** How often it was opened. */
  #openings = 0;
  #totals: StoreTotals = NOTHING_STORED;
  /** Partitions that have entries; null until they are known. */
  #partitions: Set<string> | null = null;
  readonly #indexes = new BoundedMap<string, KnownIndex<Meta>>(INDEXES);
  readonly #bodies: SharedBodies;
  readonly #backlog: DiskBacklog;
  readonly #queue: WriteQueue;
  /** Bodies that are about to be queued. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #touched = new Set<number>();
  #copies = 0;
  #era = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** @param isMeta whether what was kept with a response is of this release. */
  constructor(platform: DiskPlatform, isMeta: (meta: unknown) => meta is Meta, options: StoreOptions = STORE_OPTIONS) {
    this.#platform = platform;
    this.#isMeta = isMeta;
    this.#options = options;
    this.#queue = new WriteQueue((queued, bytes) => this.#writeQueued(queued, bytes), platform);
    this.#database = this.#open();
    this.#bodies = new SharedBodies(() => this.#database, platform.bodies);
    this.#backlog = { bytes: 0, maxBytes: options.backlogBytes };
  }

  get isOpen(): boolean {
    return this.#partitions !== null;
  }

  /** Settles when it is known what is stored. */
  get opened(): Promise<unknown> {
    return this.#database;
  }

  get bytesMax(): number {
    return this.#options.bytes;
  }

  /** Bytes of bodies, and responses. */
  get use(): PartitionUse {
    return { bytes: this.#totals.bytes, entries: this.#totals.entries };
  }

  /** Grows when something is forgotten. */
  get era(): number {
    return this.#era;
  }

  /** A promise only where it has to be read first. Empty as long as the store is not open: no request waits for that. */
  index(partition: string): PartitionIndex<Meta> | Promise<PartitionIndex<Meta>> {
    if (this.#partitions === null) return new PartitionIndex([]);
    const used = this.#indexes.use(partition);
    if (used !== undefined) return used.index;
    const known: KnownIndex<Meta> = { index: new PartitionIndex([]) };
    this.#indexes.set(partition, known);
    if (this.#partitions.has(partition)) {
      known.index = this.#load(partition).then((loaded) => {
        // The next request reads it again.
        if (loaded === null && this.#indexes.get(partition) === known) this.#indexes.delete(partition);
        const index = loaded ?? new PartitionIndex<Meta>([]);
        known.index = index;
        return index;
      });
    }
    return known.index;
  }

  /**
   * The body stays whole until its reader is closed.
   *
   * @returns null where the body is not there, or not whole: then the entry is gone, too. Or where nobody can read it just now.
   */
  async read(entry: StoredEntry<Meta>): Promise<BodyReader | null> {
    const reader = await this.#bodies.read(entry.body);
    if (reader instanceof BodyReader) this.#touched.add(entry.id);
    if (reader !== "broken") return reader;
    this.dropBody(entry);
    return null;
  }

  /** Their bodies will be read soon, in this order. */
  readAhead(entries: readonly StoredEntry<Meta>[]): void {
    void this.#bodies.readAhead(entries.map(({ body }) => body)).catch(() => {});
  }

  startCopy(): ResponseCopy {
    const id = `${this.#platform.writer}/${this.#copies++}`;
    const body = new BodyCopy({
      id,
      blockBytes: this.#options.blockBytes,
      maxBytes: this.#options.bodyBytes,
      backlog: this.#backlog,
      writeBlock: (index, block) => this.#writeBlock([id, index], block),
      dropBlocks: () => void this.#bodies.endWriting(id),
    });
    return { era: this.#era, body };
  }

  /** Stores what was copied, now that it is whole, when the disk is free for it. Settles when it is stored, or is not to be. */
  async add(fresh: NewEntry<Meta>, copy: ResponseCopy): Promise<void> {
    const ending = copy.body.end().catch(() => null);
    this.#ending.add(ending);
    const copied = await ending;
    this.#ending.delete(ending);
    if (copied === null) return;
    const { body, last } = copied;
    const { partition, url, meta } = fresh;
    if (!isEntrySized(fresh)) return this.#bodies.endWriting(body.id);
    let gone: StoredEntry<Meta>[] = [];
    let added: StoredEntry<Meta> | null = null;
    await this.#queue.addResting({
      bytes: last.length,
      run: async (changes) => {
        added = null;
        if (this.#isForgotten(copy.era, changes)) return;
        const rows: readonly StoredEntry<unknown>[] = await changes.find(partition, url);
        const before = rows.filter((row) => isStoredEntry(row, this.#isMeta));
        const others = before.filter((old) => !fresh.replaces(old)).sort(byUse);
        const kept = new Set(others.slice(0, VARIANTS - 1));
        gone = before.filter((old) => !kept.has(old));
        await changes.removeAll(rows.filter((row) => !kept.has(row as StoredEntry<Meta>)));
        added = await changes.add({ partition, url, meta, body }, last);
      },
      committed: (changes) => {
        const isStored = added !== null && !changes.isGone(added.id);
        if (added !== null) this.#learn(partition, gone, isStored ? added : null);
      },
    });
    await this.#bodies.endWriting(body.id);
  }

  /** Somebody waits for the changes that were added. */
  hurry(): void {
    this.#queue.hurry();
    for (const ending of this.#ending) void ending.then(() => this.#queue.hurry());
  }

  /** The same body goes on under another head. */
  refresh(entry: StoredEntry<Meta>, meta: Meta): Promise<void> {
    const fresh = { ...entry, meta };
    if (!isEntrySized(fresh)) return this.remove([entry]);
    this.#learn(entry.partition, [entry], fresh);
    const era = this.#era;
    // In a database that was made anew meanwhile its place is another's.
    return this.#queue.addResting({
      run: async (changes) => {
        if (!this.#isForgotten(era, changes)) await changes.update(fresh);
      },
    });
  }

  remove(entries: readonly StoredEntry<Meta>[]): Promise<void> {
    for (const entry of entries) this.#learn(entry.partition, [entry], null);
    return this.#queue.add({ run: (changes) => changes.removeAll(entries) });
  }

  /** The entry's body is broken: all entries with that body go. */
  dropBody(entry: StoredEntry<Meta>): void {
    this.#learn(entry.partition, [entry], null);
    void this.#queue.add({ run: (changes) => changes.removeBody(entry.body.id) });
  }

  /**
   * Settles when what is in these partitions is gone, and nothing that is under way can come to it. If it cannot be taken
   * out alone, all goes with it.
   *
   * @returns false where it is still there.
   */
  async forget(isOf: (partition: string) => boolean): Promise<boolean> {
    this.#forgetMemory();
    let isGone = false;
    const takeOut = (): Promise<void> =>
      this.#queue.add({
        run: (changes) => changes.removePartitions(isOf),
        committed: () => {
          isGone = true;
          this.#platform.tellOthers({ kind: "forgotten", isDatabaseNew: false });
        },
      });
    await takeOut();
    if (isGone) return true;
    if (!(await this.#isConnected())) {
      this.#reopen();
      await takeOut();
      if (isGone) return true;
    }
    try {
      await this.#platform.deleteDatabase();
    } catch {
      return false;
    }
    this.#platform.tellOthers({ kind: "forgotten", isDatabaseNew: true });
    this.#reopen();
    return true;
  }

  /** Undefined where there was none, or nobody knows. */
  async visit(partition: string, document: string): Promise<StoredVisit | undefined> {
    const database = await this.#database;
    return database?.getFromIndex("visits", "document", [partition, document]).catch(() => undefined);
  }

  /** @param era in which the visit began. */
  keepVisit(visit: StoredVisit, era: number): Promise<void> {
    return this.#queue.addResting({
      run: async (changes) => {
        if (!this.#isForgotten(era, changes)) await changes.keepVisit(visit);
      },
    });
  }

  /** @param run is not called where something was forgotten since `era`; else it may be called again. */
  async change(era: number, run: (changes: StoreChanges) => Promise<void>): Promise<ChangeOutcome> {
    let outcome: ChangeOutcome = "failed";
    let isForgotten = false;
    await this.#queue.add({
      run: async (changes) => {
        isForgotten = this.#isForgotten(era, changes);
        if (!isForgotten) await run(changes);
      },
      committed: ({ partitions }) => {
        outcome = isForgotten ? "forgotten" : "written";
        for (const partition of partitions) this.#indexes.delete(partition);
      },
      failed: (error) => {
        outcome = (error as Error).name === "QuotaExceededError" ? "full" : "failed";
      },
    });
    return outcome;
  }

  /** Another window did this. */
  hear(news: StoreNews): void {
    if (news.kind === "forgotten") return news.isDatabaseNew ? this.#reopen() : this.#forgetMemory();
    for (const partition of news.partitions) {
      this.#indexes.delete(partition);
      this.#partitions?.add(partition);
    }
  }

  /** While nobody waits: writes down what was used, and drops what no entry has, or nobody finds. */
  async upkeep(): Promise<void> {
    this.#bodies.endAhead();
    const database = await this.#database;
    if (this.#touched.size > 0) await this.#queue.add({ run: async () => {} });
    if (this.#platform.now() - this.#sweptAt < SWEEP_INTERVAL) return;
    this.#sweptAt = this.#platform.now();
    // Storage was closed to us, and may be open again.
    if (database === null) return this.#reopen();
    await this.#queue.add({ run: (changes) => changes.beginAnewWhereLost() });
    await this.#bodies.sweepAll();
  }

  async #open(): Promise<StoreDatabase | null> {
    const opening = ++this.#openings;
    const onClosed = (): void => {
      if (opening === this.#openings) this.#reopen();
    };
    try {
      const database = await this.#platform.openDatabase(onClosed);
      const read = beginRead(database, "partitions", "totals");
      const [partitions, totals] = await Promise.all([
        read.objectStore("partitions").getAllKeys(),
        read.objectStore("totals").get("totals"),
      ]);
      this.#partitions = new Set(partitions);
      this.#totals = isStoreTotals(totals) ? totals : NOTHING_STORED;
      return database;
    } catch {
      // Storage is closed to us.
      this.#partitions = new Set();
      return null;
    }
  }

  /** Null where it cannot be read. */
  async #load(partition: string): Promise<PartitionIndex<Meta> | null> {
    const database = await this.#database;
    if (database === null) return null;
    try {
      const rows = await database.getAllFromIndex("entries", "partition", partition);
      const entries = rows.filter((row) => isStoredEntry(row, this.#isMeta));
      const broken = rows.filter((row) => !isStoredEntry(row, this.#isMeta));
      if (broken.length > 0) void this.#queue.add({ run: (changes) => changes.removeAll(broken) });
      return new PartitionIndex(entries);
    } catch {
      return null;
    }
  }

  #learn(partition: string, gone: readonly StoredEntry<Meta>[], added: StoredEntry<Meta> | null): void {
    if (added !== null) this.#partitions?.add(partition);
    const index = this.#indexes.get(partition)?.index;
    if (index instanceof PartitionIndex) {
      for (const entry of gone) index.remove(entry);
      if (added !== null) index.add(added);
    } else {
      // The index that is being read may be the former one.
      this.#indexes.delete(partition);
    }
  }

  #isForgotten(era: number, changes: StoreChanges): boolean {
    return era !== this.#era || changes.era !== this.#totals.era;
  }

  async #isConnected(): Promise<boolean> {
    try {
      const database = await this.#database;
      return database !== null && beginRead(database, "totals") !== null;
    } catch {
      return false;
    }
  }

  /** The connection is closed, or of no use. */
  #reopen(): void {
    this.#forgetMemory();
    this.#totals = NOTHING_STORED;
    this.#partitions = null;
    const former = this.#database;
    this.#database = this.#open();
    void former.then((database) => database?.close());
  }

  #forgetMemory(): void {
    this.#era += 1;
    this.#bodies.endAhead();
    this.#indexes.clear();
  }

  async #writeBlock(key: [string, number], block: Uint8Array): Promise<void> {
    await this.#bodies.holdWritten(key[0]);
    const database = await this.#database;
    if (database === null) throw new Error("Cannot store a body: storage is closed");
    try {
      await database.put("blocks", block, key);
    } catch {
      await this.#makeRoom(database, block.length);
      await database.put("blocks", block, key);
    }
  }

  /** The disk is full before the bounds are reached. */
  async #makeRoom(database: StoreDatabase, bytes: number): Promise<void> {
    const left = Math.max(0, (this.#totals.bytes * 15) / 16 - 2 * bytes);
    await this.#writeAll(database, [], { ...this.#options, bytes: left });
  }

  async #writeQueued(queued: readonly Change[], bytes: number): Promise<void> {
    const database = await this.#database;
    if (database === null || (await this.#writeAll(database, queued))) return;
    // Or one of them cannot be written: so each for itself.
    await this.#makeRoom(database, bytes);
    for (const change of queued) await this.#writeAll(database, [change]);
  }

  /** @returns false where nothing was written. */
  async #writeAll(
    database: StoreDatabase,
    queued: readonly Change[],
    bounds: StoreBounds = this.#options,
  ): Promise<boolean> {
    const touched = [...this.#touched];
    let write: StoreWrite;
    try {
      write = beginWrite(database, ...STORES);
    } catch {
      return false;
    }
    try {
      const changes = await StoreChanges.begin(write);
      for (const id of touched) await changes.touch(id);
      for (const change of queued) await change.run(changes);
      await changes.makeRoom(bounds);
      this.#committed(await changes.commit());
      for (const id of touched) this.#touched.delete(id);
      for (const change of queued) change.committed?.(changes);
      const partitions = [...changes.partitions];
      if (partitions.length > 0) this.#platform.tellOthers({ kind: "changed", partitions });
      await this.#bodies.sweep(changes.unowned);
      return true;
    } catch (error) {
      // Where the browser takes a transaction back, its requests fail with that, and the transaction says why.
      const reason = write.error ?? error;
      abortWrite(write);
      for (const change of queued) change.failed?.(reason);
      return false;
    }
  }

  #committed(totals: StoreTotals): void {
    // Another window has forgotten something, and its word is on the way.
    if (totals.era !== this.#totals.era) this.#forgetMemory();
    this.#totals = totals;
  }
}

/** The stored responses of one partition, in memory, by URL; apart from them those that pages were kept with. */
export class PartitionIndex<Meta> {
  readonly #byUrl = new Map<string, StoredEntry<Meta>[]>();
  readonly #kept = new Map<number, StoredEntry<Meta>>();

  constructor(entries: readonly StoredEntry<Meta>[]) {
    for (const entry of entries) this.add(entry);
  }

  get isEmpty(): boolean {
    return this.#byUrl.size === 0;
  }

  find(url: string): readonly StoredEntry<Meta>[] {
    return this.#byUrl.get(url) ?? [];
  }

  all(): StoredEntry<Meta>[] {
    return [...this.#byUrl.values()].flat();
  }

  /** The entries that were kept with any page. */
  allKept(): StoredEntry<Meta>[] {
    return [...this.#kept.values()];
  }

  /** @param page URL of the page that it was kept with. */
  findKept(page: string, url: string): StoredEntry<Meta>[] {
    return this.allKept().filter((entry) => entry.kept === page && entry.url === url);
  }

  add(entry: StoredEntry<Meta>): void {
    if (entry.kept !== undefined) this.#kept.set(entry.id, entry);
    else this.#byUrl.set(entry.url, [...this.find(entry.url).filter(({ id }) => id !== entry.id), entry]);
  }

  remove({ id, url }: StoredEntry<Meta>): void {
    this.#kept.delete(id);
    const left = this.find(url).filter((entry) => entry.id !== id);
    if (left.length > 0) this.#byUrl.set(url, left);
    else this.#byUrl.delete(url);
  }
}

/** A response that is asked for now, and may be stored when it is there. */
export interface ResponseCopy {
  /** A response that was asked for before something was forgotten is not stored. */
  readonly era: number;
  readonly body: BodyCopy;
}

/** What has become of a change. "full": the disk has no room for it. */
type ChangeOutcome = "written" | "forgotten" | "full" | "failed";

interface NewEntry<Meta> {
  readonly partition: string;
  readonly url: string;
  readonly meta: Meta;
  /** Whether it takes the place of one with the same URL. */
  replaces(old: StoredEntry<Meta>): boolean;
}

/** How much is stored. */
export interface StoreOptions extends StoreBounds {
  /** Largest body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies that may wait for the disk; a body that finds no room is not stored. */
  readonly backlogBytes: number;
  readonly blockBytes: number;
}

/** @param bytes of bodies, as of now. */
export function storeOptions(bytes: () => number): StoreOptions {
  return {
    get bytes() {
      return bytes();
    },
    get bodyBytes() {
      return bytes() / 8;
    },
    // About 1 KB each; a hundred sites of eighty resources.
    entries: 8192,
    blockBytes: 256 * 1024,
    // Several of the largest scripts that pages have, at once.
    backlogBytes: 8 * 1024 * 1024,
  };
}

const STORE_OPTIONS = storeOptions(() => DEFAULT_STORE_BYTES);

/** Part of the browser's quota for the app that bodies may take. */
const QUOTA_SHARE = 0.8;

/** Bytes of bodies that the store may have: what the person chose, or less where the browser gives less. */
export class StoreLimit {
  readonly #chosen: () => number;
  #quota = Number.POSITIVE_INFINITY;

  /** @param chosen by the person, as of now. */
  constructor(chosen: () => number) {
    this.#chosen = chosen;
  }

  get bytes(): number {
    return Math.min(this.#chosen(), Math.floor(this.#quota * QUOTA_SHARE));
  }

  /** Where the browser does not tell its quota, writing fails when the disk is full. */
  async measure(estimate: () => Promise<StorageEstimate>): Promise<void> {
    const { quota } = await estimate().catch((): StorageEstimate => ({}));
    if (quota !== undefined && quota > 0) this.#quota = quota;
  }
}

/** The store where there is a browser. */
export function openResponseStore<Meta>(
  isMeta: (meta: unknown) => meta is Meta,
  options: StoreOptions,
): ResponseStore<Meta> {
  const channel = new BroadcastChannel(STORE_NAME);
  const writer = crypto.randomUUID();
  const platform: DiskPlatform = {
    openDatabase: (onClosed) => openStoreDatabase(STORE_NAME, onClosed),
    deleteDatabase: deleteStoreDatabase,
    writer,
    ...monotonicClock,
    bodies: { hold: holdBody, unlessHeld: unlessBodyHeld },
    tellOthers: (news) => channel.postMessage(news),
  };
  const store = new ResponseStore(platform, isMeta, options);
  channel.onmessage = (event: MessageEvent<StoreNews>) => store.hear(event.data);
  return store;
}

const lockOf = (bodyId: string): string => `${STORE_NAME}/${bodyId}`;

function holdBody(bodyId: string): Promise<() => void> {
  return new Promise((resolve) => {
    const isHeld = () => new Promise<void>((release) => resolve(release));
    void navigator.locks.request(lockOf(bodyId), { mode: "shared" }, isHeld);
  });
}

async function unlessBodyHeld(bodyId: string, task: () => Promise<void>): Promise<void> {
  await navigator.locks.request(lockOf(bodyId), { ifAvailable: true }, async (lock) => lock !== null && task());
}
