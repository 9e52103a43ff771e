import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { PageProgress } from "../../messages/tunnel-messages.ts";
import type { PageCost, TabState } from "../app/state.ts";

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

/** Milliseconds by which a page's "leaving" may come after other news of the same navigation. */
export const OVERTAKING = 1_000;

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
  readonly #stored = new BoundedMap<string, { readonly storedAt: number; readonly toldAt: number }>(STORED_KNOWN);

  /** URL, without a fragment, of which the phone has a newer version than is shown; null where it knows of none. */
  newer: string | null = null;

  /** Another page is on its way. @param url of what may be the page shown. */
  begin(url: string, askedAt = performance.now()): void {
    this.askedAt = askedAt;
    this.cost = NO_COST;
    this.progress = 0;
    this.forgetStored(url);
  }

  /** As `begin`, by the page's own word, which may come after the store's answer. @param shown URL of the page. */
  beginByPage(url: string, shown: string): void {
    const page = withoutPart(url);
    const stored = page === withoutPart(shown) ? undefined : this.#stored.get(page);
    this.begin(url);
    if (stored !== undefined && this.askedAt - stored.toldAt < OVERTAKING) this.#stored.set(page, stored);
  }

  /** Told before the document commits. @param url without a fragment. */
  answerStored(url: string, storedAt: number): void {
    this.#stored.set(url, { storedAt, toldAt: performance.now() });
  }

  /** The page is asked for again. */
  forgetStored(url: string): void {
    this.#stored.delete(withoutPart(url));
    if (this.hasNewer(url)) this.newer = null;
  }

  hasNewer(url: string): boolean {
    return this.newer === withoutPart(url);
  }

  /** Null where the edge has answered. */
  storedAt(url: string): number | null {
    return this.#stored.get(withoutPart(url))?.storedAt ?? null;
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

/** Shown as soon as a navigation begins, so that the person sees that something happens. */
const STARTED = 0.05;
/** Left for what no byte tells: parsing and painting after the last one. */
const BEFORE_LOADED = 0.95;
/** A page whose document has just begun will ask for more; one open request counts for this many done. */
const EXPECTED_MORE = 4;

/**
 * The progress bar's length from what really happened: requests answered, bytes arrived, bytes announced.
 *
 * @returns 0 to 1, never below `previous`.
 */
export function loadProgress(progress: PageProgress, previous: number | null): number {
  const { requests, requestsDone, originBytes, expectedBytes } = progress;
  const answered = requests === 0 ? 0 : requestsDone / (requests + (requestsDone < 2 ? EXPECTED_MORE : 0));
  const arrived = expectedBytes === 0 ? answered : Math.min(1, originBytes / Math.max(expectedBytes, originBytes, 1));
  const fraction = STARTED + (BEFORE_LOADED - STARTED) * (answered * 0.6 + arrived * 0.4 * Math.min(1, answered * 2));
  return Math.max(previous ?? 0, fraction);
}
