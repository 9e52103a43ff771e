import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../../shared/base-encodings.ts";
import { concat } from "../../../../shared/wire/frame.ts";
import { beginRead, beginWrite, blocksOf, type StoreDatabase, type StoredBody } from "./store-database.ts";

/** Milliseconds between two searches for bodies of windows that were killed while they wrote, or read. */
export const SWEEP_INTERVAL = 600_000;

/**
 * The blocks of bodies, which windows share: a window that reads or writes a body of several blocks holds it, and a body
 * without an entry goes when no window holds it. A body of one block needs no hold: its reader has all of it from the
 * beginning, and it is written with its entry.
 */
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

  /** Bodies that were read ahead and not wanted are let go. */
  endAhead(): void {
    this.#ahead.clear();
  }

  /** @returns null where nobody can read just now. The reader has to be closed. */
  async read(body: StoredBody): Promise<BodyReader | "broken" | null> {
    const database = await this.#database();
    if (database === null) return null;
    const release = body.blocks.length > 1 ? await this.#holds.hold(body.id) : null;
    const close = () => {
      if (release === null) return;
      release();
      void this.sweep([body.id]);
    };
    const reader = await BodyReader.open(database, body, this.#ahead.take(body.id), close).catch(() => null);
    if (!(reader instanceof BodyReader)) close();
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

  /** Drops bodies that no entry has, and no window holds: a holder sweeps when its hold is over. */
  async sweep(bodyIds: Iterable<string>): Promise<void> {
    const database = await this.#database();
    if (database === null) return;
    const drop = (id: string) => this.#holds.unlessHeld(id, () => dropUnowned(database, id));
    // The next search finds a body that fails here.
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

/** The bodies that wait for the disk: a claimed push comes in one burst, faster than any disk. */
export interface DiskBacklog {
  /** Bytes of all bodies. */
  bytes: number;
  readonly maxBytes: number;
}

interface BodyCopyOptions {
  readonly id: string;
  readonly blockBytes: number;
  readonly maxBytes: number;
  readonly backlog: DiskBacklog;
  /** Settles when the block is stored. A body without its entry in the index is swept one day. */
  readonly writeBlock: (index: number, block: Uint8Array) => Promise<void>;
  readonly dropBlocks: () => void;
}

interface CopiedBody {
  readonly body: StoredBody;
  /** Not stored yet: it goes together with the index. */
  readonly last: Uint8Array;
}

type CopyState =
  | {
      readonly kind: "copying";
      readonly chunks: Uint8Array<ArrayBuffer>[];
      bytes: number;
      /** Settles when all blocks up to now are stored, or it was given up. */
      written: Promise<void>;
    }
  | { readonly kind: "over" };

/** A body that is stored while its page reads it. The page never waits for it: a copy that cannot keep up is given up. */
export class BodyCopy {
  readonly #options: BodyCopyOptions;
  readonly #hash = new BodyHash();
  #state: CopyState = { kind: "copying", chunks: [], bytes: 0, written: Promise.resolve() };
  readonly #blocks: Promise<string>[] = [];
  #size = 0;

  constructor(options: BodyCopyOptions) {
    this.#options = options;
  }

  /** @param chunk stays the caller's. */
  write(chunk: Uint8Array): void {
    const state = this.#state;
    if (state.kind === "over") return;
    this.#size += chunk.length;
    if (this.#size > this.#options.maxBytes) return this.giveUp();
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.slice(at, at + this.#options.blockBytes - state.bytes);
      at += part.length;
      state.chunks.push(part);
      state.bytes += part.length;
      if (state.bytes < this.#options.blockBytes) return;
      const { backlog, blockBytes } = this.#options;
      if (backlog.bytes + blockBytes > backlog.maxBytes) return this.giveUp();
      this.#writeBlock(state, concat(...state.chunks.splice(0)) as Uint8Array<ArrayBuffer>);
    }
  }

  /** Nothing is stored. */
  giveUp(): void {
    if (this.#state.kind === "over") return;
    this.#state = { kind: "over" };
    if (this.#blocks.length > 0) this.#options.dropBlocks();
  }

  /** @returns null where it was given up. */
  async end(): Promise<CopiedBody | null> {
    const state = this.#state;
    if (state.kind === "over") return null;
    await state.written;
    if (this.#state.kind === "over") return null;
    const last = concat(...state.chunks) as Uint8Array<ArrayBuffer>;
    const hash = await this.#hash.end(last);
    // The hash of a body of one block is the hash of that block.
    const blocks = this.#blocks.length === 0 ? [hash] : await Promise.all([...this.#blocks, blockHash(last)]);
    return { body: { id: this.#options.id, hash, size: this.#size, blocks }, last };
  }

  #writeBlock(state: CopyState & { kind: "copying" }, block: Uint8Array<ArrayBuffer>): void {
    state.bytes = 0;
    this.#hash.update(block);
    const index = this.#blocks.push(blockHash(block)) - 1;
    const { backlog, writeBlock } = this.#options;
    backlog.bytes += block.length;
    state.written = state.written
      .then(() => (this.#state === state ? writeBlock(index, block) : undefined))
      .catch(() => this.giveUp())
      .finally(() => {
        backlog.bytes -= block.length;
      });
  }
}

/** A stored body, block by block. A block that was lost, cut short or changed is found out before it is used. */
export class BodyReader {
  readonly #database: StoreDatabase;
  readonly #body: StoredBody;
  readonly #release: () => void;
  readonly #blockBytes: number;
  #first: Uint8Array | null;
  #next = 0;
  #isClosed = false;
  /** A block is known to be gone, or to be another: not only that it could not be read. */
  isBroken = false;

  private constructor(database: StoreDatabase, body: StoredBody, first: Uint8Array, release: () => void) {
    this.#database = database;
    this.#body = body;
    this.#release = release;
    this.#first = first;
    this.#blockBytes = first.length;
  }

  /**
   * @param ahead its only block, if that was read ahead.
   * @param release called when the body is not read any more.
   * @throws DOMException where it cannot be read.
   */
  static async open(
    database: StoreDatabase,
    body: StoredBody,
    ahead: Promise<unknown> | null,
    release: () => void,
  ): Promise<BodyReader | "broken"> {
    const [first, count] = ahead === null ? await readFirst(database, body) : [await ahead, 1];
    if (!(first instanceof Uint8Array) || count !== body.blocks.length) return "broken";
    const reader = new BodyReader(database, body, first, release);
    return (await reader.#isSound(first, 0)) ? reader : "broken";
  }

  /**
   * @returns null after the last block; what it gives is the caller's.
   * @throws Error where a block is gone since, or is not what was stored, or cannot be read.
   */
  async next(): Promise<Uint8Array | null> {
    const index = this.#next;
    if (index === this.#body.blocks.length) return null;
    this.#next += 1;
    const first = this.#first;
    this.#first = null;
    if (first !== null) return first;
    const block = await this.#database.get("blocks", [this.#body.id, index]);
    if (block !== undefined && (await this.#isSound(block, index))) return block;
    this.isBroken = true;
    throw new Error("Cannot read a stored body: a block of it is gone or broken");
  }

  /**
   * All blocks from here on; then it is closed.
   *
   * @throws Error as `next` does.
   */
  async whole(): Promise<Uint8Array<ArrayBuffer>[]> {
    try {
      const blocks: Uint8Array[] = [];
      for (let block = await this.next(); block !== null; block = await this.next()) blocks.push(block);
      return blocks as Uint8Array<ArrayBuffer>[];
    } finally {
      this.close();
    }
  }

  /** The body is not read any more. */
  close(): void {
    if (!this.#isClosed) this.#release();
    this.#isClosed = true;
  }

  async #isSound(block: unknown, index: number): Promise<boolean> {
    if (!(block instanceof Uint8Array)) return false;
    const { size, blocks } = this.#body;
    const length = index < blocks.length - 1 ? this.#blockBytes : size - this.#blockBytes * (blocks.length - 1);
    return block.length === length && (await blockHash(block as Uint8Array<ArrayBuffer>)) === blocks[index];
  }
}

/** The first block, and how many there are. */
function readFirst(database: StoreDatabase, { id, blocks }: StoredBody): Promise<[unknown, number]> {
  const read = beginRead(database, "blocks").objectStore("blocks");
  return Promise.all([read.get([id, 0]), blocks.length === 1 ? 1 : read.count(blocksOf(id))]);
}

/** Bytes of bodies; further bodies are read when they are asked for. */
const BYTES = 2 * 1024 * 1024;

/**
 * Bodies of one block that a page will ask for soon, read together while nobody waits for them yet. Those of one page at a
 * time.
 */
class BodiesAhead {
  readonly #blocks = new Map<string, Promise<unknown>>();

  /** Drops what was read ahead before. @param bodies those that are wanted first come first. */
  read(database: StoreDatabase, bodies: readonly StoredBody[]): void {
    this.clear();
    const short = bodies.filter((body) => body.blocks.length === 1);
    if (short.length === 0) return;
    const blocks = beginRead(database, "blocks").objectStore("blocks");
    let left = BYTES;
    for (const { id, size } of short) {
      if (this.#blocks.has(id)) continue;
      left -= size;
      if (left < 0) return;
      const block = blocks.get([id, 0]);
      block.catch(() => {});
      this.#blocks.set(id, block);
    }
  }

  /** Once for each; null where it was not read ahead. */
  take(bodyId: string): Promise<unknown> | null {
    const block = this.#blocks.get(bodyId) ?? null;
    this.#blocks.delete(bodyId);
    return block;
  }

  clear(): void {
    this.#blocks.clear();
  }
}

type Hasher = ReturnType<typeof sha256.create>;

/** SHA-256 of a body of one block or many. The browser's own takes no streams, and is 30 times as fast for what is whole. */
class BodyHash {
  #many: Hasher | null = null;

  /** A block that others follow. */
  update(block: Uint8Array): void {
    this.#many ??= sha256.create();
    this.#many.update(block);
  }

  /** @returns in hexadecimal. */
  async end(last: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#many === null ? blockHash(last) : toHex(this.#many.update(last).digest());
  }
}

/** SHA-256 of what is whole, in hexadecimal. */
async function blockHash(block: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", block)));
}

/** Bodies that some window reads or writes: nobody takes their blocks away. A window's holds end with it. */
export interface BodyHolds {
  /** @returns ends it. */
  hold(bodyId: string): Promise<() => void>;
  /** Runs the task, and nobody gets hold of the body meanwhile; not at all where somebody holds it. */
  unlessHeld(bodyId: string, task: () => Promise<void>): Promise<void>;
}
