/** Bodies that are being read: their blocks stay until that is over, though no entry has them any more. */
export class BodiesInUse {
  readonly #readers = new Map<string, number>();
  readonly #unowned = new Set<string>();
  readonly #drop: (bodyId: string) => void;

  /** @param drop is called when nobody reads a body any more whose blocks were to go. */
  constructor(drop: (bodyId: string) => void) {
    this.#drop = drop;
  }

  /** @returns says, once, that it is over. */
  hold(bodyId: string): () => void {
    this.#readers.set(bodyId, (this.#readers.get(bodyId) ?? 0) + 1);
    return () => this.#release(bodyId);
  }

  /** @returns whether the blocks are to stay for now. */
  keeps(bodyId: string): boolean {
    if (!this.#readers.has(bodyId)) return false;
    this.#unowned.add(bodyId);
    return true;
  }

  #release(bodyId: string): void {
    const left = (this.#readers.get(bodyId) ?? 0) - 1;
    if (left > 0) return void this.#readers.set(bodyId, left);
    this.#readers.delete(bodyId);
    if (this.#unowned.delete(bodyId)) this.#drop(bodyId);
  }
}
