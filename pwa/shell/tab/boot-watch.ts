/** Asks again for boot pages that were lost on their way into the frame. */

/**
 * Milliseconds after a document came into the frame, from which it must be known for the boot page that is awaited; else
 * that was lost, and is asked for again. Not too few: it may have been the page before, which had gone on loading.
 */
const PAUSES: readonly number[] = [5_000, 10_000, 20_000];

/** Milliseconds likewise, without a link: a page of the browser's own is there at once. */
const PAUSE_WITHOUT_LINK = 3_000;

/** What is on its way, and has not been heard of; `slot`: whatever of one that may not be there, without a link. */
export type Awaited = "boot page" | "slot" | "nothing";

export interface BootWatchNeeds {
  awaited(): Awaited;
  /** Another slot takes the place of that of the URL, if that has something to show. @returns whether there is one. */
  standIn(url: string): boolean;
  /** @param url where the frame was sent. */
  askAgain(url: string): void;
  giveUp(url: string): void;
}

export class BootWatch {
  readonly #needs: BootWatchNeeds;
  #attempts = 0;
  /** Counts how often the frame was sent somewhere. */
  #journey = 0;
  #sentTo = "";
  #heardFormerPage = false;

  constructor(needs: BootWatchNeeds) {
    this.#needs = needs;
  }

  /** A navigation begins. */
  begin(): void {
    this.#attempts = 0;
    this.#journey += 1;
  }

  /** The frame is sent to the slot of a URL. */
  setOut(url: string): void {
    this.#sentTo = url;
    this.#journey += 1;
    this.#heardFormerPage = false;
  }

  /** The page before has spoken since. */
  hearFormerPage(): void {
    this.#heardFormerPage = true;
  }

  /** A document has come into the frame, which may be a page of the browser's own in place of one that was lost. */
  onFrameLoad(): void {
    const awaited = this.#needs.awaited();
    if (awaited === "nothing") return;
    const journey = this.#journey;
    const pause = awaited === "slot" ? PAUSE_WITHOUT_LINK : PAUSES[this.#attempts];
    setTimeout(() => {
      if (journey !== this.#journey || this.#needs.awaited() !== awaited) return;
      if (this.#heardFormerPage) {
        this.#heardFormerPage = false;
        this.onFrameLoad();
        return;
      }
      if (awaited === "slot") {
        // Or one is there later; or the link, with which the frame is sent there again.
        return this.#needs.standIn(this.#sentTo) ? this.#needs.askAgain(this.#sentTo) : this.onFrameLoad();
      }
      this.#attempts += 1;
      if (this.#attempts < PAUSES.length) return this.#needs.askAgain(this.#sentTo);
      this.#attempts = 0;
      this.#needs.giveUp(this.#sentTo);
    }, pause);
  }
}
