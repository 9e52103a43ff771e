const BLOCK_WORDS = 4096;

/**
 * Bytes that no coding makes smaller, the same for the same seed in Node and in a page: xorshift32 words, little-endian.
 * Read from the first byte on, in pieces of any length.
 */
export class NoiseBytes {
  #state: number;
  readonly #words = new Uint32Array(BLOCK_WORDS);
  readonly #block = new Uint8Array(this.#words.buffer);
  #used = this.#block.length;

  constructor(seed: number) {
    // Zero would stay zero; the multiplication (Knuth) parts neighbouring seeds.
    this.#state = Math.imul(seed + 1, 2654435761) >>> 0 || 1;
  }

  /** The next bytes, a copy. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const part = this.#next(length - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes;
  }

  /** Whether these are the next bytes; they count as read either way. */
  matches(bytes: Uint8Array): boolean {
    let same = true;
    for (let checked = 0; checked < bytes.length; ) {
      const part = this.#next(bytes.length - checked);
      for (let index = 0; same && index < part.length; index++) same = part[index] === bytes[checked + index];
      checked += part.length;
    }
    return same;
  }

  /** Up to so many bytes of the current block. */
  #next(most: number): Uint8Array {
    if (this.#used === this.#block.length) this.#refill();
    const part = this.#block.subarray(this.#used, this.#used + most);
    this.#used += part.length;
    return part;
  }

  #refill(): void {
    let state = this.#state;
    for (let index = 0; index < BLOCK_WORDS; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      this.#words[index] = state;
    }
    this.#state = state >>> 0;
    this.#used = 0;
  }
}
