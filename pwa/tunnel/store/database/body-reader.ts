/** A stored body, block by block. What was lost, cut short or changed is found out before it is used. */
import { blockHash } from "./body-hash.ts";
import { beginRead, blocksOf, type StoreDatabase, type StoredBody } from "./store-database.ts";

export class BodyReader {
  readonly #database: StoreDatabase;
  readonly #body: StoredBody;
  readonly #release: () => void;
  readonly #blockBytes: number;
  #first: Uint8Array | null;
  #next = 0;
  #isClosed = false;

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
   * @returns null where the body is not whole.
   */
  static async open(
    database: StoreDatabase,
    body: StoredBody,
    ahead: Promise<unknown> | null,
    release: () => void,
  ): Promise<BodyReader | null> {
    const [first, count] = ahead === null ? await readFirst(database, body) : [await ahead, 1];
    if (!(first instanceof Uint8Array) || count !== body.blocks.length) return null;
    const reader = new BodyReader(database, body, first, release);
    return (await reader.#isSound(first, 0)) ? reader : null;
  }

  /**
   * @returns null after the last block; what it gives is the caller's.
   * @throws Error where a block is gone since, or is not what was stored.
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
    throw new Error("Cannot read a stored body: a block of it is gone or broken");
  }

  /** It is not read any more. */
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
