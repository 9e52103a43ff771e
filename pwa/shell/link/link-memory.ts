/** How long the link took to open at the last start: what a start may know of the network before it has heard of it. */
import type { KeyValueStorage } from "../app/key-value-storage.ts";

const STORAGE_KEY = "ropeway.link-opening";

/** Milliseconds: above it bytes are scarce, not only far away. A satellite link takes 2.4 s, GPRS 7. */
const SLOW = 4_000;
/** Nothing that lasts longer says anything of the network. */
const LONGEST = 60_000;

export class LinkMemory {
  /** Milliseconds from the wish to the open link, or null. */
  readonly lastOpening: number | null;
  readonly #storage: KeyValueStorage;
  #isNoted = false;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
    const text = storage.getItem(STORAGE_KEY);
    const time = Number(text);
    this.lastOpening = text !== null && time > 0 && time <= LONGEST ? time : null;
  }

  get isSlow(): boolean {
    return (this.lastOpening ?? 0) > SLOW;
  }

  /** The link is open; only the first time of a sitting counts, as later ones may have waited for a network. */
  opened(time: number): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#storage.setItem(STORAGE_KEY, String(Math.round(time)));
  }
}
