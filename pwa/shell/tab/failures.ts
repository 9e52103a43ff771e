import type { TabState } from "../app/state.ts";
import type { FailedNavigation, Navigation, SentNavigation } from "./navigation.ts";
import { pauseAfter, tryingAgain } from "./trying-again.ts";

/** What a tab failed to open and still wants: it covers the frame, or a page is shown and it waits beside. */
export class Failures {
  readonly #tryAgain: () => void;
  #beside: FailedNavigation | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param tryAgain it may be there now. */
  constructor(tryAgain: () => void) {
    this.#tryAgain = tryAgain;
  }

  get isBeside(): boolean {
    return this.#beside !== null;
  }

  /** @param navigation of the tab; one that failed covers the frame. */
  latest(navigation: Navigation): FailedNavigation | null {
    return navigation.kind === "failed" ? navigation : this.#beside;
  }

  /** What was before a navigation to this URL begins; `attempts` that failed in a row. */
  before(navigation: Navigation, url: string): Pick<SentNavigation, "retries" | "attempts"> {
    const failed = this.latest(navigation);
    const attempts = failed?.error.url === url ? attemptsBefore(failed) + 1 : 0;
    return { retries: failed?.error ?? null, attempts };
  }

  draw(navigation: Navigation): Pick<TabState, "unopened" | "mistyped" | "tryingAgain"> {
    const failed = this.latest(navigation);
    return {
      unopened: this.#beside?.error ?? null,
      mistyped: this.#beside?.by === "typed" ? this.#beside.error.url : null,
      tryingAgain: failed === null ? "not" : howAgain(failed),
    };
  }

  /** A page is shown, and stays. */
  waitBeside(failed: FailedNavigation): void {
    this.add(failed);
    this.#beside = failed;
  }

  add(failed: FailedNavigation): void {
    this.forget();
    if (howAgain(failed) === "soon") this.#timer = setTimeout(this.#tryAgain, pauseAfter(attemptsBefore(failed)));
  }

  /** It is not wanted any more, or another page is. */
  forget(): void {
    this.#beside = null;
    clearTimeout(this.#timer);
  }
}

function howAgain(failed: FailedNavigation): TabState["tryingAgain"] {
  return tryingAgain(failed.error, attemptsBefore(failed));
}

function attemptsBefore({ sent }: FailedNavigation): number {
  return sent?.attempts ?? 0;
}
