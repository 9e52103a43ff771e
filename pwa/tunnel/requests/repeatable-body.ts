/** A request body that can be sent again in another session, as long as it is small enough to be kept. */

/**
 * Bytes: request body kept on the phone until it is answered, to send it again in another session; forms are smaller.
 */
export const REPLAYED_BODY_BYTES = 256 * 1024;

/** Bytes: all such bodies together. */
export const REPLAYED_BODIES_BYTES = 4 * 1024 * 1024;

/** Bytes that all bodies of one tunnel keep. */
export interface KeptBytes {
  total: number;
}

export class RepeatableBody {
  #reader: ReadableStreamDefaultReader<Uint8Array>;
  #kept: KeptBytes;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  /** Whether all that was read so far is kept. */
  #isWhole = true;
  #isClosed = false;
  #reading: Promise<void> | null = null;
  /** The latest stream that was opened; those before it are over. */
  #current: symbol | null = null;
  /** Chunks that it has taken of those kept. */
  #taken = 0;

  /** Takes ownership of `source`. */
  constructor(source: ReadableStream<Uint8Array>, kept: KeptBytes) {
    this.#reader = source.getReader();
    this.#kept = kept;
  }

  /** Whether `open` gives the body from its start. */
  get isRepeatable(): boolean {
    return this.#isWhole && !this.#isClosed;
  }

  /** The whole body, from the start; to cancel it leaves the body as it is. Ends an earlier one. */
  open(): ReadableStream<Uint8Array> {
    const id = Symbol();
    this.#current = id;
    this.#taken = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          for (;;) {
            if (this.#current !== id) return controller.error(new Error("Cannot read the body: it was opened anew"));
            const chunk = this.#take();
            if (chunk !== undefined) return controller.enqueue(chunk);
            if (this.#isEnded) return controller.close();
            this.#reading ??= this.#read();
            await this.#reading;
          }
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Nobody needs it any more: the source is told. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    this.#reader.cancel().catch(() => {});
  }

  #take(): Uint8Array | undefined {
    if (!this.#isWhole) return this.#chunks.shift();
    const chunk = this.#chunks[this.#taken];
    if (chunk !== undefined) this.#taken += 1;
    return chunk;
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) this.#isEnded = true;
      else this.#add(value);
    } finally {
      this.#reading = null;
    }
  }

  #add(chunk: Uint8Array): void {
    const fits =
      this.#bytes + chunk.length <= REPLAYED_BODY_BYTES && this.#kept.total + chunk.length <= REPLAYED_BODIES_BYTES;
    if (this.#isWhole && !fits) this.#forget();
    this.#chunks.push(chunk);
    if (!this.#isWhole) return;
    this.#bytes += chunk.length;
    this.#kept.total += chunk.length;
  }

  /** From now on chunks are handed on only: what the current stream has not taken yet is all that is left. */
  #forget(): void {
    this.#isWhole = false;
    this.#kept.total -= this.#bytes;
    this.#bytes = 0;
    this.#chunks.splice(0, this.#taken);
  }
}
