/** Milliseconds: for so long what was dropped counts, if the collector, which is slow where memory is no script's, left it. */
const COUNTED = 10_000;

/** Large pieces of memory that were dropped lately, as far as the collector has not taken them yet. */
export class Uncollected {
  readonly #now: () => number;
  #pieces: { readonly piece: WeakRef<ArrayBufferLike>; readonly at: number }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(piece: ArrayBufferLike): void {
    this.#pieces.push({ piece: new WeakRef(piece), at: this.#now() });
  }

  get bytes(): number {
    const since = this.#now() - COUNTED;
    this.#pieces = this.#pieces.filter(({ piece, at }) => at > since && piece.deref() !== undefined);
    return this.#pieces.reduce((sum, { piece }) => sum + (piece.deref()?.byteLength ?? 0), 0);
  }
}
