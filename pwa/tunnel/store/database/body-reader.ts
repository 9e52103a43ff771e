/** A stored body, block by block. What was lost or cut short is found out before it is used. */
import { beginRead, blocksOf, type StoreDatabase, type StoredBody } from "./store-database.ts";

export class BodyReader {
  readonly #database: StoreDatabase;
  readonly #body: StoredBody;
  #first: Uint8Array | null;
  readonly #blockBytes: number;
  #next = 0;

  private constructor(database: StoreDatabase, body: StoredBody, first: Uint8Array) {
    this.#database = database;
    this.#body = body;
    this.#first = first;
    this.#blockBytes = first.length;
  }

  /** @returns null where the body is not whole. */
  static async open(database: StoreDatabase, body: StoredBody): Promise<BodyReader | null> {
    const blocks = beginRead(database, "blocks").objectStore("blocks");
    const [first, count] = await Promise.all([
      blocks.get([body.id, 0]),
      body.blocks === 1 ? 1 : blocks.count(blocksOf(body.id)),
    ]);
    if (first === undefined || count !== body.blocks) return null;
    const reader = new BodyReader(database, body, first);
    return first.length === reader.#lengthOf(0) ? reader : null;
  }

  /**
   * @returns null after the last block; what it gives is the caller's.
   * @throws Error where a block is gone since, or has another length.
   */
  async next(): Promise<Uint8Array | null> {
    const index = this.#next;
    if (index === this.#body.blocks) return null;
    this.#next += 1;
    const block = this.#first ?? (await this.#database.get("blocks", [this.#body.id, index]));
    this.#first = null;
    if (block?.length !== this.#lengthOf(index)) throw new Error("Cannot read a stored body: a block of it is gone");
    return block;
  }

  #lengthOf(index: number): number {
    const { size, blocks } = this.#body;
    return index < blocks - 1 ? this.#blockBytes : size - this.#blockBytes * (blocks - 1);
  }
}
