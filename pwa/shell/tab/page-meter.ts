import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { PageProgress } from "../../messages/tunnel-messages.ts";
import { loadProgress } from "./load-progress.ts";
import type { PageCost, TabState } from "./tab-state.ts";

export const NO_COST: PageCost = {
  requests: 0,
  requestsDone: 0,
  trackersBlocked: 0,
  linkBytesUp: 0,
  linkBytesDown: 0,
  originBytes: 0,
  roundTrip: 0,
  storeAnswers: 0,
  storeValidations: 0,
  storeReferences: 0,
  storeBytes: 0,
  pagesWarmed: 0,
  pagesWarmedUsed: 0,
  waiting: { pictures: 0, films: 0, bytes: 0 },
  time: 0,
};

/** More than a page has frames. */
const STORED_KNOWN = 50;

/** How far the page is that is shown, or on its way, what it has cost since it was asked for, and where it came from. */
export class PageMeter {
  /** When it was asked for, by `performance.now()`. */
  askedAt = 0;
  cost = NO_COST;
  /** Progress, as in the tab's state. */
  progress: number | null = null;
  /** When documents were stored that the tunnel answered without the edge, by URL; frames of a page are among them. */
  readonly #stored = new BoundedMap<string, number>(STORED_KNOWN);

  /** URL, without a fragment, of which the phone has a newer version than is shown; null where it knows of none. */
  newer: string | null = null;

  /** Another page is on its way. @param url of what may be the page shown. */
  begin(url: string, askedAt = performance.now()): void {
    this.askedAt = askedAt;
    this.cost = NO_COST;
    this.progress = 0;
    this.forgetStored(url);
  }

  /** Told before the document commits. @param url without a fragment. */
  answerStored(url: string, storedAt: number): void {
    this.#stored.set(url, storedAt);
  }

  /** It is asked for again. */
  forgetStored(url: string): void {
    this.#stored.delete(withoutPart(url));
    if (this.hasNewer(url)) this.newer = null;
  }

  hasNewer(url: string): boolean {
    return this.newer === withoutPart(url);
  }

  /** Null where the edge has answered. */
  storedAt(url: string): number | null {
    return this.#stored.get(withoutPart(url)) ?? null;
  }

  count(progress: PageProgress, phase: TabState["phase"]): void {
    if (phase === "loading") {
      this.cost = { ...progress, time: this.#timeSoFar };
      this.progress = loadProgress(progress, this.progress);
    } else if (phase === "loaded") this.cost = { ...progress, time: this.cost.time };
  }

  /** The page is there. */
  stopClock(): void {
    this.cost = { ...this.cost, time: this.#timeSoFar };
  }

  get #timeSoFar(): number {
    return performance.now() - this.askedAt;
  }
}

function withoutPart(url: string): string {
  return url.split("#", 1)[0] ?? url;
}
