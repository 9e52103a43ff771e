/** A body that is stored while its page reads it. The page never waits for it: a copy that cannot keep up is given up. */
import { concat } from "../../../../shared/wire/frame.ts";
import { BodyHash, blockHash } from "./body-hash.ts";
import type { StoredBody } from "./store-database.ts";

/** What waits for the disk: when a page claims a push, that comes in one burst, faster than any disk. */
export interface DiskBacklog {
  /** Bytes of all bodies. */
  bytes: number;
  readonly maxBytes: number;
}

export interface BodyCopyOptions {
  readonly id: string;
  readonly blockBytes: number;
  readonly maxBytes: number;
  readonly backlog: DiskBacklog;
  /** Settles when the block is stored. A body without its entry in the index is swept one day. */
  readonly writeBlock: (index: number, block: Uint8Array) => Promise<void>;
  readonly dropBlocks: () => void;
}

export interface CopiedBody {
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
