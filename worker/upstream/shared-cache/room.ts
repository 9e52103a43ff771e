/**
 * Milliseconds. A taker that has not taken anything for so long may be gone without having given back, as an object is
 * that the platform evicts. It is forgotten when others need the room.
 */
const FORGOTTEN = 10 * 60_000;

export class Room {
  readonly #now: () => number;
  #free: number;
  readonly #takers = new Map<object, { readonly bytes: number; readonly at: number }>();

  constructor(bytes: number, now: () => number) {
    this.#free = bytes;
    this.#now = now;
  }

  /** Takes so many bytes. @returns false, and takes none, where there are not so many left. */
  take(taker: object, bytes: number): boolean {
    if (bytes > this.#free) this.#forgetOld();
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    this.#takers.set(taker, { bytes: bytes + (this.#takers.get(taker)?.bytes ?? 0), at: this.#now() });
    return true;
  }

  /** Gives back all that the taker took. */
  give(taker: object): void {
    this.#free += this.#takers.get(taker)?.bytes ?? 0;
    this.#takers.delete(taker);
  }

  #forgetOld(): void {
    for (const [taker, { at }] of this.#takers) {
      if (this.#now() - at > FORGOTTEN) this.give(taker);
    }
  }
}
