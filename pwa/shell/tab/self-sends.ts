/** Counts how often in a row a page has sent itself to its own real address before anybody could look at it. */

/** Noticed after as many. Once or twice is the way of pages that set a cookie first. */
const MOST = 3;

export class SelfSends {
  #inRow = 0;

  /** The frame goes somewhere for another reason. */
  end(): void {
    this.#inRow = 0;
  }

  /** @returns whether this is one too many: `location` names the slot, which such a page takes for a wrong host. */
  isLoop(): boolean {
    this.#inRow += 1;
    return this.#inRow >= MOST;
  }
}
