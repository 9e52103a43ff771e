/** Milliseconds for which a tap counts in browsers. */
const TAP_TIME = 5_000;
/** Windows or tabs that pages may open in that time beside the first. A person may have tapped again, and no browser says so. */
const MOST_IN_A_ROW = 2;

/** Counts the windows, tabs or lists that pages have opened of late. */
export class Openings {
  #times: readonly number[] = [];

  /** Whether pages may open no more for now. */
  get areEnough(): boolean {
    return this.#times.filter((at) => performance.now() < at + TAP_TIME).length > MOST_IN_A_ROW;
  }

  /** @param at by `performance.now()`. */
  count(at: number): void {
    this.#times = [...this.#times, at].slice(-MOST_IN_A_ROW - 1);
  }
}
