import { seededRandom, seedOf } from "../../../demo/random.ts";

/** Draws whole numbers for the model; the same ones for the same name on every machine. */
export class ModelRandom {
  readonly #next: () => number;

  constructor(name: string, seed: number) {
    this.#next = seededRandom(seedOf(`${name} ${seed}`));
  }

  /** Both ends included, all alike. */
  between(low: number, high: number): number {
    return low + Math.floor(this.#next() * (high - low + 1));
  }

  /**
   * Log-normal, as sizes of web objects roughly are, cut at an eighth and at eight times the median.
   *
   * @param spread standard deviation of the logarithm; with 0.8, one in six is more than 2.2 times the median.
   */
  around(median: number, spread: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.#next())) * Math.cos(2 * Math.PI * this.#next());
    return Math.round(median * Math.min(8, Math.max(1 / 8, Math.exp(spread * normal))));
  }
}
