/**
 * Finds out whether credit is what limits a sender that uses it all up while no queue stands. By the shortest round trip
 * less of it would do; but on a radio that jitters, or with a busy device at either end, credit takes longer than that to
 * come round. So it is taken away by tenths, and each is given back if fewer bytes come without it; then a tenth more is
 * tried. Arithmetic only, a round being the time of one ping.
 */

/** Part of the credit by which it is changed, up or down. */
const STEP = 0.1;
/** A change of the rate by this part is one that the credit made: half of a step. */
const EFFECT = 0.05;
/** Rates of so many rounds are compared, by their mean. */
const ROUNDS = 4;
/** After a step that was taken back, so many rounds without another; twice as many each time. */
const FIRST_REST = 8;
const LONGEST_REST = 64;

export class CreditTrial {
  /** The step that is being tried, as what the credit was before, and the rate then. */
  #tried: { readonly from: number; readonly rate: number; readonly isMore: boolean } | null = null;
  #rates: number[] = [];
  /** The first round after a change still has the old credit. */
  #skip = 0;
  #rest = 0;
  #restTime = FIRST_REST;
  /** Less was tried, and cost. */
  #isScarce = false;

  /**
   * After each round.
   *
   * @param credit bytes that there were in it.
   * @param rate that bytes came at, per ms.
   * @param enough bytes of credit by the shortest round trip: no less is tried.
   * @returns bytes of credit for the next.
   */
  next(credit: number, rate: number, enough: number): number {
    if (credit <= enough) {
      this.reset();
      return enough;
    }
    if (this.#skip > 0) {
      this.#skip -= 1;
      return credit;
    }
    if (this.#rest > 0) {
      this.#rest -= 1;
      return credit;
    }
    this.#rates.push(rate);
    if (this.#rates.length < ROUNDS) return credit;
    const mean = this.#rates.reduce((sum, each) => sum + each, 0) / ROUNDS;
    this.#rates = [];
    const tried = this.#tried;
    this.#tried = null;
    if (tried !== null && (tried.isMore ? mean < (1 + EFFECT) * tried.rate : mean < (1 - EFFECT) * tried.rate)) {
      this.#skip = 1;
      this.#isScarce = !tried.isMore;
      if (tried.isMore) {
        this.#rest = this.#restTime;
        this.#restTime = Math.min(LONGEST_REST, 2 * this.#restTime);
      }
      return tried.from;
    }
    if (tried !== null) this.#restTime = FIRST_REST;
    const isMore = tried?.isMore ?? this.#isScarce;
    this.#isScarce = false;
    this.#tried = { from: credit, rate: mean, isMore };
    this.#skip = 1;
    return isMore ? credit * (1 + STEP) : Math.max(enough, credit * (1 - STEP));
  }

  /** Something else changed the credit. */
  reset(): void {
    this.#tried = null;
    this.#rates = [];
    this.#skip = 1;
    this.#isScarce = false;
  }
}
