/** How many pushes a page may have: all that there are as long as nearly all are of use, and fewer the more are not. */
import * as limits from "../../../shared/limits.ts";

/** Pushes, by which the share follows: those of the last page or two. */
const MEMORY = 64;
/** Shares: from here up all may come, and from here down the least. */
const [ENOUGH, POOR] = [0.9, 0.5];
/** Least pushes, so that it shows when pages change. */
const LEAST = 8;

export class PushBudget {
  #share = 1;

  /** From 0 to 1: those that pages asked for, of the latest. */
  get share(): number {
    return this.#share;
  }

  /** Count, of one page. */
  get pushes(): number {
    const part = Math.min(1, Math.max(0, (this.#share - POOR) / (ENOUGH - POOR)));
    return Math.round(LEAST + part * (limits.pushesPerDocument - LEAST));
  }

  /** A page has asked for a push, or none will. */
  decided(isOfUse: boolean): void {
    this.#share += (Number(isOfUse) - this.#share) / MEMORY;
  }
}
