/** What one transaction does to the index, the bodies, and what is known of their size. */
import {
  NOTHING_STORED,
  type PartitionUse,
  STORES,
  type StoredBody,
  type StoredEntry,
  type StoredVisit,
  type StoreTotals,
  type StoreWrite,
} from "./store-database.ts";
import { isStoredBody, isStoreTotals, isVisitSized } from "./store-rows.ts";

export interface StoreBounds {
  readonly bytes: number;
  readonly entries: number;
}

/** What was used so few turns ago is not written down again. */
const TOUCH_TURNS = 4;

/** Documents whose last visit is kept; some 10 KB each. */
const VISITS = 200;

export class StoreChanges {
  readonly #write: StoreWrite;
  readonly #uses = new Map<string, PartitionUse>();
  /** Bodies of several blocks that no entry has any more: somebody may read them. */
  readonly unowned = new Set<string>();
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

  get turn(): number {
    return this.#totals.turn;
  }

  get era(): number {
    return this.#totals.era;
  }

  /** Partitions whose index is another now. */
  get partitions(): Iterable<string> {
    return this.#uses.keys();
  }

  find(partition: string, url: string): Promise<StoredEntry<unknown>[]> {
    return this.#write.objectStore("entries").index("url").getAll([partition, url]);
  }

  /** @param last the body's last block; nobody needs its others where the body is stored already. */
  async add<Meta>(entry: Omit<StoredEntry<Meta>, "id" | "used">, last: Uint8Array): Promise<StoredEntry<Meta>> {
    const entries = this.#write.objectStore("entries");
    const twin = await entries.index("copy").get([entry.partition, entry.body.hash]);
    const body = twin?.body ?? entry.body;
    const isNew = twin === undefined;
    if (isNew) await this.#write.objectStore("blocks").put(last, [body.id, body.blocks.length - 1]);
    const added = { ...entry, body, used: this.turn };
    // The key is the database's to give.
    const id = await entries.add(added as StoredEntry<Meta>);
    await this.#account(entry.partition, isNew ? body.size : 0, 1);
    return { ...added, id };
  }

  async remove(id: number): Promise<void> {
    const entries = this.#write.objectStore("entries");
    const entry = await entries.get(id);
    if (entry === undefined) return;
    await entries.delete(id);
    // Its blocks, if there are any, are found as those that no entry has.
    if (!isStoredBody(entry.body)) return this.#account(String(entry.partition), 0, -1);
    const isLast = (await entries.index("body").count(entry.body.id)) === 0;
    if (isLast) await this.#disown(entry.body);
    await this.#account(entry.partition, isLast ? -entry.body.size : 0, -1);
  }

  /** Every response with this body. */
  async removeBody(bodyId: string): Promise<void> {
    for (const id of await this.#write.objectStore("entries").index("body").getAllKeys(bodyId)) await this.remove(id);
  }

  /** What was asked for before is not to be stored any more, in any window. */
  async removePartitions(isOf: (partition: string) => boolean): Promise<void> {
    this.#totals = { ...this.#totals, era: this.era + 1 };
    const byPartition = this.#write.objectStore("entries").index("partition");
    for (const partition of await this.#write.objectStore("partitions").getAllKeys()) {
      if (!isOf(partition)) continue;
      for (const id of await byPartition.getAllKeys(partition)) await this.remove(id);
    }
    let visit = await this.#write.objectStore("visits").openCursor();
    for (; visit !== null; visit = await visit.continue()) if (isOf(visit.value.partition)) await visit.delete();
  }

  /** In the place of that before. */
  async keepVisit(visit: StoredVisit): Promise<void> {
    if (!isVisitSized(visit)) return;
    const visits = this.#write.objectStore("visits");
    const before = await visits.index("document").getKey([visit.partition, visit.document]);
    if (before !== undefined) await visits.delete(before);
    await visits.add(visit);
    for (let over = (await visits.count()) - VISITS; over > 0; over--) {
      const oldest = await visits.getKey(IDBKeyRange.lowerBound(0));
      if (oldest !== undefined) await visits.delete(oldest);
    }
  }

  /** Its body stays. Nothing where it is gone. */
  async update(entry: StoredEntry<unknown>): Promise<void> {
    const entries = this.#write.objectStore("entries");
    if ((await entries.getKey(entry.id)) !== undefined) await entries.put({ ...entry, used: this.turn });
  }

  /** It was used, in this turn or a little before. */
  async touch(id: number): Promise<void> {
    const entry = await this.#write.objectStore("entries").get(id);
    if (entry !== undefined && this.turn - entry.used > TOUCH_TURNS) await this.update(entry);
  }

  async #disown({ id, blocks }: StoredBody): Promise<void> {
    if (blocks.length > 1) this.unowned.add(id);
    else await this.#write.objectStore("blocks").delete([id, 0]);
  }

  /** Drops what was used longest ago until the rest is within bounds. */
  async makeRoom(bounds: StoreBounds): Promise<void> {
    const isOver = () => this.#totals.bytes > bounds.bytes || this.#totals.entries > bounds.entries;
    while (isOver()) {
      const oldest = await this.#write.objectStore("entries").index("used").getKey(IDBKeyRange.lowerBound(0));
      // What takes the room has lost its place in the order.
      if (oldest === undefined) return this.#beginAnew();
      await this.remove(oldest);
    }
  }

  /** Settles when all of it is done, or none. */
  async commit(): Promise<StoreTotals> {
    if (!isStoreTotals(this.#totals)) await this.#beginAnew();
    const partitions = this.#write.objectStore("partitions");
    for (const [partition, use] of this.#uses) {
      if (use.entries > 0) await partitions.put(use, partition);
      else await partitions.delete(partition);
    }
    await this.#write.objectStore("totals").put(this.#totals, "totals");
    await this.#write.done;
    return this.#totals;
  }

  /** How much is stored cannot be told any more: nothing is. */
  async #beginAnew(): Promise<void> {
    for (const name of STORES) await this.#write.objectStore(name).clear();
    this.#uses.clear();
    // Windows that have an index in memory drop it when they see that this is another.
    const era = Math.floor(Math.random() * 2 ** 32);
    this.#totals = { ...NOTHING_STORED, turn: 1, era };
  }

  async #account(partition: string, bytes: number, entries: number): Promise<void> {
    const known = this.#uses.get(partition) ?? (await this.#write.objectStore("partitions").get(partition));
    this.#uses.set(partition, {
      bytes: (known?.bytes ?? 0) + bytes,
      entries: (known?.entries ?? 0) + entries,
    });
    this.#totals = {
      ...this.#totals,
      bytes: this.#totals.bytes + bytes,
      entries: this.#totals.entries + entries,
    };
  }
}
