/** Changes on their way to the disk, one transaction after the other. What waits meanwhile goes together. */
import type { StoreChanges } from "./store-changes.ts";

/** Bytes of bodies that wait to be written, all together; what comes beyond is not stored. */
const QUEUE_BYTES = 4 * 1024 * 1024;

/** Something to be written, and what memory learns when it is. */
export interface Change {
  run(changes: StoreChanges): Promise<void>;
  readonly committed?: () => void;
  /** That wait with it; none by default. */
  readonly bytes?: number;
}

export class WriteQueue {
  readonly #write: (queued: readonly Change[], bytes: number) => Promise<void>;
  #queue: Change[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;

  /** @param write does not reject. */
  constructor(write: (queued: readonly Change[], bytes: number) => Promise<void>) {
    this.#write = write;
  }

  /** Settles when it is written, or will not be. */
  add(change: Change): Promise<void> {
    const { bytes = 0 } = change;
    if (this.#bytes + bytes > QUEUE_BYTES) return Promise.resolve();
    this.#queue.push(change);
    this.#bytes += bytes;
    const before = this.#writing;
    if (this.#queue.length > 1 && before !== null) return before;
    this.#writing = (before ?? Promise.resolve()).then(() => this.#writeQueued());
    return this.#writing;
  }

  async #writeQueued(): Promise<void> {
    const queued = this.#queue.splice(0);
    const bytes = queued.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
    await this.#write(queued, bytes);
    this.#bytes -= bytes;
  }
}
