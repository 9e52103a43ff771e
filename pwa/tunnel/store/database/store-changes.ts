import type { Clock } from "../../../../shared/clock.ts";
import { FairShares, type Holding } from "../../../../shared/fair-shares.ts";
import type { KeptPage } from "../../../messages/tunnel-messages.ts";
import {
  isStoredBody,
  isStoredEntry,
  isStoreTotals,
  isVisitSized,
  NOTHING_STORED,
  type PartitionUse,
  type StoredBody,
  type StoredEntry,
  type StoredVisit,
  type StoreTotals,
  type StoreWrite,
  siteOf,
} from "./store-database.ts";

export interface StoreBounds {
  readonly bytes: number;
  readonly entries: number;
}

/** The use of an entry that was used so few turns ago is not written down again. */
const TOUCH_TURNS = 4;

/** Documents whose last visit is kept; some 10 KB each. */
const VISITS = 200;

/** The changes of one transaction: to the index, to the bodies, and to the sums of their sizes. */
export class StoreChanges {
  readonly #write: StoreWrite;
  readonly #uses = new Map<string, PartitionUse>();
  /** Partitions of which something was used that was stored before. */
  readonly #usedOnly = new Set<string>();
  /** Bodies of several blocks that no entry has any more: somebody may read them. */
  readonly unowned = new Set<string>();
  readonly #gone = new Set<number>();
  #totals: StoreTotals;

  private constructor(write: StoreWrite, totals: StoreTotals) {
    this.#write = write;
    this.#totals = totals;
  }

  static async begin(write: StoreWrite): Promise<StoreChanges> {
    const row: unknown = await write.objectStore("totals").get("totals");
    const isNew = row === undefined && (await write.objectStore("entries").count()) === 0;
    const totals = isStoreTotals(row) ? row : NOTHING_STORED;
    const changes = new StoreChanges(write, { ...totals, turn: totals.turn + 1 });
    if (!isNew && totals !== row) await changes.#beginAnew();
    return changes;
  }

  /** Numbers the transactions: entries keep that of their last use. */
  get turn(): number {
    return this.#totals.turn;
  }

  /** Changes when something is forgotten: a response that was asked for in an earlier one is not stored. */
  get era(): number {
    return this.#totals.era;
  }

  /** Partitions whose index is another now. */
  get partitions(): Iterable<string> {
    return this.#uses.keys();
  }

  /** Apart from what pages were kept with. */
  async find(partition: string, url: string): Promise<StoredEntry<unknown>[]> {
    const entries = await this.#write.objectStore("entries").index("url").getAll([partition, url]);
    return entries.filter(({ kept }) => kept === undefined);
  }

  /** @param last the body's last block; nobody needs its others where the body is stored already. */
  async add<Meta>(entry: Omit<StoredEntry<Meta>, "id" | "used">, last: Uint8Array): Promise<StoredEntry<Meta>> {
    const entries = this.#write.objectStore("entries");
    const twin = await this.#twinOf(entry);
    const body = twin ?? entry.body;
    const isNew = twin === null;
    if (isNew) await this.#write.objectStore("blocks").put(last, [body.id, body.blocks.length - 1]);
    const added = { ...entry, body, site: siteOf(entry.partition), used: this.turn };
    // The key is the database's to give.
    const id = await entries.add(added as StoredEntry<Meta>);
    await this.#account(entry.partition, isNew ? body.size : 0, 1);
    return { ...added, id };
  }

  /** The same body, where the partition has it already; a row that says so and is broken goes. */
  async #twinOf({ partition, body }: Pick<StoredEntry<unknown>, "partition" | "body">): Promise<StoredBody | null> {
    const copies = this.#write.objectStore("entries").index("copy");
    for (;;) {
      const twin = await copies.get([partition, body.hash]);
      if (twin === undefined) return null;
      if (isStoredBody(twin.body)) return twin.body;
      await this.remove(twin.id);
    }
  }

  /** A kept page whose document goes is not kept any more. */
  async remove(id: number): Promise<void> {
    const entry = await this.#remove(id);
    if (entry?.kept !== undefined && entry.kept === entry.url) await this.unkeep(entry.kept);
  }

  async #remove(id: number): Promise<StoredEntry<unknown> | undefined> {
    const entries = this.#write.objectStore("entries");
    const entry = await entries.get(id);
    if (entry === undefined) return undefined;
    await entries.delete(id);
    this.#gone.add(id);
    // Its blocks, if there are any, are found as those that no entry has.
    const partition = String(entry.partition);
    if (!isStoredBody(entry.body)) await this.#account(partition, 0, -1);
    else {
      const isLast = (await entries.index("body").count(entry.body.id)) === 0;
      if (isLast) await this.#disown(entry.body);
      await this.#account(partition, isLast ? -entry.body.size : 0, -1);
    }
    return entry;
  }

  /** Whether it was removed since. */
  isGone(id: number): boolean {
    return this.#gone.has(id);
  }

  /**
   * Keeps copies of these responses for a page, and nothing else: the page's former copies go. Their bodies are
   * stored once.
   *
   * @returns false where one of them is not stored any more.
   */
  async keep(page: KeptPage, ids: readonly number[]): Promise<boolean> {
    const entries = this.#write.objectStore("entries");
    const before = await entries.index("kept").getAllKeys(page.url);
    const rows = await Promise.all(ids.map((id) => entries.get(id)));
    if (rows.includes(undefined)) return false;
    for (const row of rows as StoredEntry<unknown>[]) {
      const { id: _, used: __, site: ___, ...rest } = row;
      // The key is the database's to give.
      await entries.add({ ...rest, kept: page.url } as StoredEntry<unknown>);
      await this.#account(row.partition, 0, 1);
    }
    for (const id of before) await this.#remove(id);
    await this.#write.objectStore("kept").put(page);
    return true;
  }

  /** @param url of a page that was kept. */
  async unkeep(url: string): Promise<void> {
    await this.#write.objectStore("kept").delete(url);
    for (const id of await this.#write.objectStore("entries").index("kept").getAllKeys(url)) await this.#remove(id);
  }

  async removeAll(entries: readonly StoredEntry<unknown>[]): Promise<void> {
    for (const { id } of entries) await this.remove(id);
  }

  /** Every response with this body. */
  async removeBody(bodyId: string): Promise<void> {
    for (const id of await this.#write.objectStore("entries").index("body").getAllKeys(bodyId)) await this.remove(id);
  }

  /** Responses that were asked for before are not to be stored any more, in any window. */
  async removePartitions(isOf: (partition: string) => boolean): Promise<void> {
    await this.beginAnewWhereLost();
    this.#totals = { ...this.#totals, era: this.era + 1 };
    const byPartition = this.#write.objectStore("entries").index("partition");
    for (const partition of await this.#write.objectStore("partitions").getAllKeys()) {
      if (!isOf(partition)) continue;
      for (const id of await byPartition.getAllKeys(partition)) await this.remove(id);
    }
    await this.dropVisits((visit) => isOf(visit.partition));
  }

  async dropVisits(isGone: (visit: StoredVisit) => boolean): Promise<void> {
    let visit = await this.#write.objectStore("visits").openCursor();
    for (; visit !== null; visit = await visit.continue()) if (isGone(visit.value)) await visit.delete();
  }

  /** The visit takes the place of the one before to the same document. */
  async keepVisit(visit: StoredVisit): Promise<void> {
    if (!isVisitSized(visit)) return;
    const visits = this.#write.objectStore("visits");
    const before = await visits.index("document").getKey([visit.partition, visit.document]);
    if (before !== undefined) await visits.delete(before);
    await visits.add(visit);
    for (let over = (await visits.count()) - VISITS; over > 0; over--) await visits.delete(await this.#oldestVisit());
  }

  /** Of the site that has most of them. */
  async #oldestVisit(): Promise<number> {
    const visits = this.#write.objectStore("visits");
    const bySite = new Map<string, number[]>();
    for (let row = await visits.index("document").openKeyCursor(); row !== null; row = await row.continue()) {
      const site = siteOf(row.key[0]);
      bySite.set(site, [...(bySite.get(site) ?? []), row.primaryKey]);
    }
    const holding = (keys: readonly number[]): Holding => ({ amount: keys.length, usedAt: Math.max(...keys) });
    const holdings = [...bySite].map(([site, keys]) => [site, holding(keys)] as const);
    const giver = new FairShares(VISITS, new Map(holdings)).giver();
    return Math.min(...(bySite.get(giver ?? "") ?? [(await visits.getKey(IDBKeyRange.lowerBound(0))) ?? 0]));
  }

  /** The entry gets another head, and its body stays. An entry that is gone, or was kept as it is, is left. */
  async update(entry: StoredEntry<unknown>): Promise<void> {
    const entries = this.#write.objectStore("entries");
    if (entry.kept !== undefined || (await entries.getKey(entry.id)) === undefined) return;
    await entries.put({ ...entry, used: this.turn });
    this.#usedOnly.add(entry.partition);
  }

  /** The entry was used, in this turn or a little before. */
  async touch(id: number): Promise<void> {
    const entry = await this.#write.objectStore("entries").get(id);
    if (entry?.used !== undefined && this.turn - entry.used > TOUCH_TURNS) await this.update(entry);
  }

  async #disown({ id, blocks }: StoredBody): Promise<void> {
    if (blocks.length > 1) this.unowned.add(id);
    else await this.#write.objectStore("blocks").delete([id, 0]);
  }

  /**
   * Until the rest is within bounds, the site that has most loses the response that it used longest ago. Responses that
   * pages were kept with stay. So a site that brings responses without end pushes out its own.
   */
  async makeRoom(bounds: StoreBounds): Promise<void> {
    for (const measure of ["bytes", "entries"] as const) {
      if (this.#totals[measure] <= bounds[measure]) continue;
      const order = this.#write.objectStore("entries").index("order");
      const shares = new FairShares(bounds[measure], await this.#holdings(measure));
      for (let before = this.#totals[measure]; before > bounds[measure]; before = this.#totals[measure]) {
        const site = shares.giver();
        if (site === undefined) return this.#lookForStrays();
        const oldest = await order.getKey(IDBKeyRange.bound([site], [site, []]));
        if (oldest === undefined) shares.excuse(site);
        else {
          await this.remove(oldest);
          shares.gave(site, before - this.#totals[measure]);
        }
      }
    }
  }

  /** The part of the room that each site has, by its name. */
  async #holdings(measure: "bytes" | "entries"): Promise<Map<string, Holding>> {
    const partitions = this.#write.objectStore("partitions");
    const [keys, rows] = await Promise.all([partitions.getAllKeys(), partitions.getAll()]);
    const uses = new Map([...keys.map((key, index) => [key, rows[index]] as const), ...this.#uses]);
    const holdings = new Map<string, Holding>();
    for (const [partition, use] of uses) {
      const site = siteOf(partition);
      const known = holdings.get(site);
      const used = this.#usedOnly.has(partition) ? this.turn : (use?.used ?? 0);
      holdings.set(site, {
        amount: (known?.amount ?? 0) + (use?.[measure] ?? 0),
        usedAt: Math.max(known?.usedAt ?? 0, used),
      });
    }
    return holdings;
  }

  /** Settles when all changes are made, or none. */
  async commit(): Promise<StoreTotals> {
    if (!isStoreTotals(this.#totals)) await this.#beginAnew();
    const partitions = this.#write.objectStore("partitions");
    for (const partition of this.#usedOnly) {
      const use = this.#uses.has(partition) ? undefined : await partitions.get(partition);
      if (use !== undefined) await partitions.put({ ...use, used: this.turn }, partition);
    }
    for (const [partition, use] of this.#uses) {
      if (use.entries > 0) await partitions.put(use, partition);
      else await partitions.delete(partition);
    }
    await this.#write.objectStore("totals").put(this.#totals, "totals");
    await this.#write.done;
    return this.#totals;
  }

  /** Only what was kept is left, or what takes the room has lost its place in the order. */
  async #lookForStrays(): Promise<void> {
    const kept = await this.#write.objectStore("entries").index("kept").count();
    if (kept !== this.#totals.entries) await this.#beginAnew();
  }

  /** A row that has lost its place in the index is found by nobody, and nobody would forget it. */
  async beginAnewWhereLost(): Promise<void> {
    const [entries, partitions] = [this.#write.objectStore("entries"), this.#write.objectStore("partitions")];
    const count = await entries.count();
    const placed = (await entries.index("order").count()) + (await entries.index("kept").count());
    let known = 0;
    for (const partition of new Set([...(await partitions.getAllKeys()), ...this.#uses.keys()])) {
      const found = await entries.index("partition").count(partition);
      const use = this.#uses.get(partition) ?? (await partitions.get(partition));
      // A number that differs makes the sum differ from all others.
      known += use?.entries === found ? found : Number.NaN;
    }
    if ([placed, known, this.#totals.entries].some((each) => each !== count)) await this.#beginAnew();
  }

  /** How much is stored cannot be told any more: nothing is but what pages were kept with. */
  async #beginAnew(): Promise<void> {
    const [entries, blocks] = [this.#write.objectStore("entries"), this.#write.objectStore("blocks")];
    for (const name of ["partitions", "totals", "visits"] as const) await this.#write.objectStore(name).clear();
    this.#uses.clear();
    this.#usedOnly.clear();
    // Windows that have an index in memory drop it when they see that this is another.
    const [era = 0] = crypto.getRandomValues(new Uint32Array(1));
    this.#totals = { ...NOTHING_STORED, turn: 1, era };
    const bodies = new Set<string>();
    for (const row of await entries.getAll()) {
      if (row.kept === undefined || !isStoredEntry(row, isAnything)) await entries.delete(row.id);
      else {
        await this.#account(row.partition, bodies.has(row.body.id) ? 0 : row.body.size, 1);
        bodies.add(row.body.id);
      }
    }
    for (const key of await blocks.getAllKeys()) if (!bodies.has(key[0])) await blocks.delete(key);
  }

  async #account(partition: string, bytes: number, entries: number): Promise<void> {
    const known = this.#uses.get(partition) ?? (await this.#write.objectStore("partitions").get(partition));
    this.#uses.set(partition, {
      bytes: (known?.bytes ?? 0) + bytes,
      entries: (known?.entries ?? 0) + entries,
      used: entries > 0 ? this.turn : (known?.used ?? 0),
    });
    this.#totals = {
      ...this.#totals,
      bytes: this.#totals.bytes + bytes,
      entries: this.#totals.entries + entries,
    };
  }
}

const isAnything = (_: unknown): _ is unknown => true;

/** Bytes of bodies that wait to be written, all together; further bodies are not stored. */
const QUEUE_BYTES = 4 * 1024 * 1024;

/** Bytes: when so much rests, it is written at once. */
const RESTING_BYTES = QUEUE_BYTES / 4;

/** Milliseconds: what rests is written when no change has come for PAUSE, at the latest REST_MAX after the first. */
const PAUSE = 300;
const REST_MAX = 3_000;

/** Changes in one transaction: readers wait for its end. */
const TOGETHER = 32;

/** A change to be written, and the step that tells memory of it. */
export interface Change {
  run(changes: StoreChanges): Promise<void>;
  readonly committed?: (changes: StoreChanges) => void;
  /** It is tried once more by itself, where others were written with it; then it is given up. */
  readonly failed?: (error: unknown) => void;
  /** Bytes of bodies that wait with it; none by default. */
  readonly bytes?: number;
}

interface Queued {
  readonly change: Change;
  readonly settle: () => void;
}

type QueueState =
  | { readonly kind: "empty" }
  | { readonly kind: "resting"; readonly since: number; readonly cancel: () => void }
  | { readonly kind: "writing" };

/**
 * Changes on their way to the disk, one transaction after the other. Changes that wait meanwhile go together. Changes that
 * nobody waits for rest until their page has its responses: the disk's work would slow those down.
 */
export class WriteQueue {
  readonly #write: (queued: readonly Change[], bytes: number) => Promise<void>;
  readonly #clock: Clock;
  #queue: Queued[] = [];
  #bytes = 0;
  #added = 0;
  #written = 0;
  /** How many of the queued changes are to be written without a rest. */
  #wanted = 0;
  #state: QueueState = { kind: "empty" };

  /**
   * @param write does not reject.
   * @param clock its zero may be anywhere.
   */
  constructor(write: (queued: readonly Change[], bytes: number) => Promise<void>, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  /** Settles when it is written, or will not be. */
  add(change: Change): Promise<void> {
    const written = this.#enqueue(change);
    this.hurry();
    return written;
  }

  /** As `add`, and begins when nothing else has come for a while. */
  addResting(change: Change): Promise<void> {
    const written = this.#enqueue(change);
    this.#rest();
    return written;
  }

  /** Somebody waits for changes that rest. */
  hurry(): void {
    this.#wanted = this.#added;
    if (this.#state.kind === "writing" || this.#wanted === this.#written) return;
    if (this.#state.kind === "resting") this.#state.cancel();
    this.#state = { kind: "writing" };
    void this.#writeWanted();
  }

  #enqueue(change: Change): Promise<void> {
    const { bytes = 0 } = change;
    if (this.#bytes + bytes > QUEUE_BYTES) return Promise.resolve();
    this.#bytes += bytes;
    this.#added += 1;
    return new Promise((settle) => this.#queue.push({ change, settle }));
  }

  #rest(): void {
    if (this.#state.kind === "writing" || this.#queue.length === 0) return;
    const now = this.#clock.now();
    const since = this.#state.kind === "resting" ? this.#state.since : now;
    if (this.#state.kind === "resting") this.#state.cancel();
    const left = this.#bytes < RESTING_BYTES ? Math.min(PAUSE, since + REST_MAX - now) : 0;
    if (left <= 0) return this.hurry();
    this.#state = { kind: "resting", since, cancel: this.#clock.setTimer(() => this.hurry(), left) };
  }

  async #writeWanted(): Promise<void> {
    while (this.#written < this.#wanted) {
      const queued = this.#queue.splice(0, TOGETHER);
      const changes = queued.map(({ change }) => change);
      const bytes = changes.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
      await this.#write(changes, bytes);
      this.#bytes -= bytes;
      this.#written += queued.length;
      for (const { settle } of queued) settle();
    }
    this.#state = { kind: "empty" };
    this.#rest();
  }
}
