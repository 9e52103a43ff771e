/** The sheets as long as their script is not there: no first page needs it. */
import type { Clock } from "../../../shared/clock.ts";

export interface LateSheetsPlatform<Sheets> extends Pick<Clock, "setTimer"> {
  /** @param attempt counted from 0: engines remember that a script could not be had, by its address. */
  load(attempt: number): Promise<Sheets>;
}

/** Milliseconds before what could not be had is tried again, while somebody waits for it. */
const RETRY_DELAY = 2_000;

export class LateSheets<Sheets> {
  #loaded: Sheets | null = null;
  #loading: Promise<Sheets | null> | null = null;
  #attempts = 0;
  readonly #platform: LateSheetsPlatform<Sheets>;

  constructor(platform: LateSheetsPlatform<Sheets>) {
    this.#platform = platform;
  }

  /** Null until they are there. */
  get loaded(): Sheets | null {
    return this.#loaded;
  }

  /** @returns null where they cannot be had now. */
  load(): Promise<Sheets | null> {
    this.#loading ??= this.#platform.load(this.#attempts++).then(
      (sheets) => {
        this.#loaded = sheets;
        return sheets;
      },
      () => {
        this.#loading = null;
        return null;
      },
    );
    return this.#loading;
  }

  /** @param onReady the sheet that the person asked for can be drawn. @param isWanted whether it still is. */
  async loadFor(onReady: () => void, isWanted: () => boolean): Promise<void> {
    if ((await this.load()) !== null) onReady();
    else this.#platform.setTimer(() => isWanted() && void this.loadFor(onReady, isWanted), RETRY_DELAY);
  }
}
