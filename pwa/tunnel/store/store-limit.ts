/** Part of the browser's quota for the app that bodies may take. */
const QUOTA_SHARE = 0.8;

/** Bytes of bodies that the store may have: what the person chose, or less where the browser gives less. */
export class StoreLimit {
  readonly #chosen: () => number;
  #quota = Number.POSITIVE_INFINITY;

  /** @param chosen by the person, as of now. */
  constructor(chosen: () => number) {
    this.#chosen = chosen;
  }

  get bytes(): number {
    return Math.min(this.#chosen(), Math.floor(this.#quota * QUOTA_SHARE));
  }

  /** Where the browser does not tell its quota, writing fails when the disk is full. */
  async measure(estimate: () => Promise<StorageEstimate>): Promise<void> {
    const { quota } = await estimate().catch((): StorageEstimate => ({}));
    if (quota !== undefined && quota > 0) this.#quota = quota;
  }
}
