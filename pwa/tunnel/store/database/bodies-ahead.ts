/**
 * Bodies of one block that a page will ask for soon, read together while nobody waits for them yet. Those of one page at a
 * time.
 */
import { beginRead, type StoreDatabase, type StoredBody } from "./store-database.ts";

/** Bytes of bodies; what comes beyond is read when it is asked for. */
const BYTES = 2 * 1024 * 1024;

export class BodiesAhead {
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
      this.#blocks.set(
        id,
        blocks.get([id, 0]).catch(() => undefined),
      );
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
