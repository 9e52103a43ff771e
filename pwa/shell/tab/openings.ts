/** Milliseconds for which a tap counts in browsers. */
const TAP_TIME = 5_000;
/** Windows or tabs that pages may open in that time beside the first. A person may have tapped again, and no browser says so. */
const MOST_IN_A_ROW = 2;

/** Counts what pages have opened by taps, or over all else. */
export class Openings {
  #times: readonly number[] = [];

  /** No tap opens more. */
  get areEnough(): boolean {
    return this.#times.filter((at) => performance.now() < at + TAP_TIME).length > MOST_IN_A_ROW;
  }

  /** @param at by `performance.now()`. */
  count(at: number): void {
    this.#times = [...this.#times, at].slice(-MOST_IN_A_ROW - 1);
  }
}
