/**
 * The blocks of bodies, which windows share: who reads or writes a body of several blocks holds it, and what no entry
 * has goes when nobody holds it. A body of one block needs no hold: its reader has all of it from the beginning, and it
 * is written with its entry.
 */
import { BodiesAhead } from "./bodies-ahead.ts";
import { BodyReader } from "./body-reader.ts";
import { beginRead, beginWrite, blocksOf, type StoreDatabase, type StoredBody } from "./store-database.ts";
import type { BodyHolds } from "./store-platform.ts";

/** Milliseconds between two searches for bodies of windows that were killed while they wrote, or read. */
export const SWEEP_INTERVAL = 600_000;

export class SharedBodies {
  readonly #database: () => Promise<StoreDatabase | null>;
  readonly #holds: BodyHolds;
  /** By bodies that are written here. */
  readonly #written = new Map<string, Promise<() => void>>();
  readonly #ahead = new BodiesAhead();

  constructor(database: () => Promise<StoreDatabase | null>, holds: BodyHolds) {
    this.#database = database;
    this.#holds = holds;
  }

  /** These bodies will be asked for soon, in this order. */
  async readAhead(bodies: readonly StoredBody[]): Promise<void> {
    const database = await this.#database();
    if (database !== null) this.#ahead.read(database, bodies);
  }

  /** What was read ahead and nobody wanted is let go. */
  endAhead(): void {
    this.#ahead.clear();
  }

  /** @returns null where it is not whole. What is returned has to be closed. */
  async read(body: StoredBody): Promise<BodyReader | null> {
    const database = await this.#database();
    if (database === null) return null;
    const release = body.blocks.length > 1 ? await this.#holds.hold(body.id) : null;
    const close = () => {
      if (release === null) return;
      release();
      void this.sweep([body.id]);
    };
    const reader = await BodyReader.open(database, body, this.#ahead.take(body.id), close).catch(() => null);
    if (reader === null) close();
    return reader;
  }

  /** @throws Error where its writing is over already. */
  async holdWritten(bodyId: string): Promise<void> {
    const held = this.#written.get(bodyId) ?? this.#holds.hold(bodyId);
    this.#written.set(bodyId, held);
    await held;
    if (this.#written.get(bodyId) !== held) throw new Error("Cannot store a body: it was given up");
  }

  /** Its entry is stored, or it is given up. */
  async endWriting(bodyId: string): Promise<void> {
    const held = this.#written.get(bodyId);
    if (held === undefined) return;
    this.#written.delete(bodyId);
    (await held)();
    await this.sweep([bodyId]);
  }

  /** Drops those that no entry has, and nobody holds: whoever does looks when that is over. */
  async sweep(bodyIds: Iterable<string>): Promise<void> {
    const database = await this.#database();
    if (database === null) return;
    const drop = (id: string) => this.#holds.unlessHeld(id, () => dropUnowned(database, id));
    // What fails is found by the next search.
    for (const id of bodyIds) await drop(id).catch(() => {});
  }

  /** Looks through all. */
  async sweepAll(): Promise<void> {
    const database = await this.#database();
    if (database !== null) await this.sweep(await unownedBodies(database).catch(() => []));
  }
}

async function unownedBodies(database: StoreDatabase): Promise<string[]> {
  const read = beginRead(database, "entries", "blocks");
  const ids = new Set((await read.objectStore("blocks").getAllKeys()).map(([id]) => id));
  const bodies = read.objectStore("entries").index("body");
  const unowned: string[] = [];
  for (const id of ids) if ((await bodies.count(id)) === 0) unowned.push(id);
  return unowned;
}

/** Unless an entry has it by now. */
async function dropUnowned(database: StoreDatabase, bodyId: string): Promise<void> {
  const write = beginWrite(database, "entries", "blocks");
  const isOwned = (await write.objectStore("entries").index("body").count(bodyId)) > 0;
  if (!isOwned) await write.objectStore("blocks").delete(blocksOf(bodyId));
  await write.done;
}
