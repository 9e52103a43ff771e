/**
 * A body as its origin coded it, to be passed on so, beside the same body decoded. What the decoder has read is kept
 * until it is taken: nothing goes out before what it decodes to was seen here.
 */
import { linkWindow } from "../../../shared/coding/link-coding.ts";
import type { ChunkReader } from "./response-body.ts";

export class CodedBody {
  /** What the decoder reads. */
  readonly source: ChunkReader;
  readonly #origin: ChunkReader;
  /** A chunk that was read ahead of the decoder. */
  #ahead: Promise<Uint8Array | null> | null = null;
  /** The chunk that the decoder has, as long as it has not asked for the next. */
  #latest: Uint8Array | null = null;
  #passed: Uint8Array[] = [];
  #isBegun = false;
  /** Whether the phone's decoder takes it; null until its first bytes are there. */
  #fits: boolean | null = null;
  #isWanted = true;
  #onPassed = Promise.withResolvers<void>();

  /** Takes ownership of `origin`, whose chunks stay as they are. */
  constructor(origin: ChunkReader) {
    this.#origin = origin;
    this.source = { read: () => this.#read(), cancel: (reason) => origin.cancel(reason) };
  }

  /** Whether a phone can undo it (PROTOCOL.md section 5.3). Waits for its first bytes. */
  async fits(): Promise<boolean> {
    if (!this.#isBegun) {
      this.#ahead ??= this.#next();
      // The decoder fails with it, too.
      await this.#ahead.catch(() => {});
    }
    return this.#fits ?? false;
  }

  /** Nobody passes it on. */
  drop(): void {
    this.#isWanted = false;
    this.#passed = [];
  }

  /** What the decoder is through with, and was not taken yet. */
  take(): Uint8Array[] {
    this.#onPassed = Promise.withResolvers();
    return this.#passed.splice(0);
  }

  /** Settles when there is more to take than at the last time. */
  get passed(): Promise<void> {
    return this.#onPassed.promise;
  }

  async #read(): Promise<Uint8Array | null> {
    if (this.#latest !== null && this.#isWanted) this.#passed.push(this.#latest);
    this.#latest = null;
    this.#onPassed.resolve();
    const ahead = this.#ahead ?? this.#next();
    this.#ahead = null;
    const chunk = await ahead;
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    this.#latest = chunk !== null && isFirst ? withLinkWindow(chunk) : chunk;
    return chunk;
  }

  async #next(): Promise<Uint8Array | null> {
    const chunk = await this.#origin.read();
    this.#fits ??= chunk !== null && linkWindow(chunk) !== null;
    return chunk;
  }
}

function withLinkWindow(opening: Uint8Array): Uint8Array {
  const first = linkWindow(opening);
  if (first === null || first === opening[0]) return opening;
  const changed = opening.slice();
  changed[0] = first;
  return changed;
}
