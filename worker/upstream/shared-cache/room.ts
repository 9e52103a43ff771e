/**
 * Milliseconds. A taker that has not taken anything for so long may be gone without having given back, as an object is
 * that the platform evicts. It is forgotten when others need the room.
 */
const FORGOTTEN = 10 * 60_000;

/** What all in a process share and take some of: bytes to keep, or milliseconds of the processor. */
export class Room {
  readonly #now: () => number;
  readonly #size: number;
  #free: number;
  readonly #takers = new Map<object, { readonly amount: number; readonly at: number }>();

  constructor(size: number, now: () => number) {
    this.#size = size;
    this.#free = size;
    this.#now = now;
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  /** Takes so much. @returns false, and takes none, where there is not so much left. */
  take(taker: object, amount: number): boolean {
    if (amount > this.#free) this.#forgetOld();
    if (amount > this.#free) return false;
    this.#free -= amount;
    this.#takers.set(taker, { amount: amount + (this.#takers.get(taker)?.amount ?? 0), at: this.#now() });
    return true;
  }

  /** Gives back all that the taker took. */
  give(taker: object): void {
    this.#free += this.#takers.get(taker)?.amount ?? 0;
    this.#takers.delete(taker);
  }

  #forgetOld(): void {
    for (const [taker, { at }] of this.#takers) {
      if (this.#now() - at > FORGOTTEN) this.give(taker);
    }
  }
}
