const INITIAL_BYTES = 1024;
/** A buffer that one unusual block made larger than this is not kept. */
const KEPT_BYTES = 64 * 1024;

/** A growing buffer that is used again for the next block. */
export class BlockWriter {
  /** Valid up to `length`; replaced by `reserve`, so never hold on to it. */
  bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Starts over, dropping what was written. */
  reset(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = new Uint8Array(INITIAL_BYTES);
  }

  /** A copy of what was written. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}
