/** What phones met since somebody last asked. */
export interface TallyReport {
  readonly done: number;
  readonly failures: readonly string[];
  /** Body bytes, as the page has them. */
  readonly bytes: number;
  readonly cuts: number;
  /** Milliseconds of each small request that succeeded. */
  readonly latencies: readonly number[];
  readonly downloads: number;
}

export class PhoneTally {
  cuts = 0;
  #done = 0;
  #downloads = 0;
  #bytes = 0;
  #latencies: number[] = [];
  #failures: string[] = [];

  /** @param failure null where the answer is whole and right. */
  add(size: "small" | "large", latency: number, bytes: number, failure: string | null): void {
    if (failure !== null) {
      this.#failures.push(failure);
      return;
    }
    this.#done += 1;
    this.#bytes += bytes;
    if (size === "small") this.#latencies.push(latency);
    else this.#downloads += 1;
  }

  take(): TallyReport {
    const report = {
      done: this.#done,
      downloads: this.#downloads,
      failures: this.#failures,
      bytes: this.#bytes,
      cuts: this.cuts,
      latencies: this.#latencies,
    };
    this.cuts = this.#done = this.#downloads = this.#bytes = 0;
    this.#latencies = [];
    this.#failures = [];
    return report;
  }
}
