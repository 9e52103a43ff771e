import type { SlotFrames } from "./slot-frames.ts";

/** Milliseconds after a page has loaded before the link is used for what may be needed next. */
export const QUIET_TIME = 1_000;

/** Boots spare slots while no page loads: each costs a connection and some bytes, which no page should have to share. */
export class SpareSchedule {
  readonly #slots: SlotFrames;
  readonly #isBusy: () => boolean;
  #isStarted = false;
  #isPlanned = false;

  constructor(slots: SlotFrames, isBusy: () => boolean) {
    this.#slots = slots;
    this.#isBusy = isBusy;
  }

  /** Takes the slots that were kept from the last sitting, too. */
  async start(): Promise<void> {
    await this.#slots.restoreSpares();
    this.#isStarted = true;
    this.plan();
  }

  /** A page may have loaded. */
  plan(): void {
    if (!this.#isStarted || this.#isPlanned || this.#isBusy()) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      if (!this.#isBusy() && !this.#slots.prepareSpare()) this.plan();
    }, QUIET_TIME);
  }
}
