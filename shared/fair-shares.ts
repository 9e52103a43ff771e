/** Bounds that many share: who has to give when one is reached, and how much is left. */

export interface Holding {
  /** In the bound's unit. */
  readonly amount: number;
  /** When it was there last, by any clock that grows. */
  readonly usedAt: number;
}

/** Count: of those that were there last. */
const LATE = 8;

/** Part of the bound that is theirs, all together. */
const LEFT_TO_LATE = 1 / 2;

/**
 * The member that gives where many share a bound and it is reached: the largest. So a member that takes without end soon takes
 * from itself, and the others keep what they have. Members of late have a share for themselves: what they have of it is
 * not counted, and so the long forgotten, together, do not leave them without.
 */
export class FairShares {
  readonly #amounts = new Map<string, number>();
  readonly #late: ReadonlySet<string>;
  readonly #ownShare: number;

  /** @param holdings by name. */
  constructor(bound: number, holdings: ReadonlyMap<string, Holding>) {
    this.#ownShare = (bound * LEFT_TO_LATE) / LATE;
    const byUse = [...holdings].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    this.#late = new Set(byUse.slice(-LATE).map(([name]) => name));
    // Of several that have as much, the one that was there longest ago is found first.
    for (const [name, { amount }] of byUse) this.#amounts.set(name, amount);
  }

  /** The holding that gives next; undefined where none has anything. */
  giver(): string | undefined {
    let giver: string | undefined;
    let most = Number.NEGATIVE_INFINITY;
    for (const [name, amount] of this.#amounts) {
      const counted = amount - (this.#late.has(name) ? this.#ownShare : 0);
      if (counted > most && amount > 0) [giver, most] = [name, counted];
    }
    return giver;
  }

  /** The holding gave so much. */
  gave(name: string, amount: number): void {
    this.#amounts.set(name, (this.#amounts.get(name) ?? 0) - amount);
  }

  /** The holding has nothing that it could give. */
  excuse(name: string): void {
    this.#amounts.delete(name);
  }
}

/**
 * Milliseconds. A taker that has not taken anything for so long may be gone without having given back, as an object is
 * that the platform evicts. It is forgotten when others need the room.
 */
const FORGOTTEN = 10 * 60_000;

/** A supply that all in a process share, and take some of: bytes to keep, or milliseconds of the processor. */
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
