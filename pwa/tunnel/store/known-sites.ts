/**
 * Sites that were opened before the app was: their documents wait until it is known what is stored of them, which saves
 * more than waiting costs. Those of other sites go at once.
 */
import type { SetTimer } from "../../../shared/clock.ts";
import type { ResponseSource } from "../requests/response-source.ts";
import { bounded } from "./bounded.ts";
import { laterWith } from "./later-with.ts";

export class KnownSites {
  #origins: ReadonlySet<string> | null = new Set();
  readonly #open: () => Promise<unknown>;
  readonly #setTimer: SetTimer;
  /** The first document begins to wait. When its time is over, no other waits any more. */
  #opened: Promise<unknown> | null = null;

  /** @param open settles when it is known what is stored, or that nobody will know; does not reject. */
  constructor(open: () => Promise<unknown>, setTimer: SetTimer) {
    this.#open = open;
    this.#setTimer = setTimer;
  }

  /** @param origins serialized, of their pages; null: any site may be one. */
  set(origins: readonly string[] | null): void {
    this.#origins = origins && new Set(origins);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { mode, topLevelOrigin } = request.head;
    if (mode !== "navigate" || this.#origins?.has(topLevelOrigin) === false) return next(request, consumer);
    this.#opened ??= bounded(this.#open(), undefined, this.#setTimer);
    return laterWith(this.#opened, () => next(request, consumer));
  };
}
