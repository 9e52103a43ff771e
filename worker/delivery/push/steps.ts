/**
 * What the text of one document may still cost. A step is a tag, an attribute, a rule or an address looked at, or so many
 * characters of an address; it takes about a microsecond. Sites write what is counted.
 */

/** Some 0.2 s. The largest page of the bench takes 30,000. */
export const STEPS = 200_000;
/** Characters of an address that are gone through in the time of a step. */
export const CHARACTERS = 64;

export class Steps {
  #left: number;

  constructor(left: number = STEPS) {
    this.#left = left;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** @returns false once all are spent. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left > 0;
  }
}
