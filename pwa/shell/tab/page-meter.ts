import type { PageProgress, TunnelToShell } from "../../messages/tunnel-messages.ts";
import { loadProgress } from "./load-progress.ts";
import { isPartOf } from "./navigation-request.ts";
import type { PageCost, TabState } from "./tab-state.ts";

export const NO_COST: PageCost = {
  requests: 0,
  requestsDone: 0,
  linkBytesUp: 0,
  linkBytesDown: 0,
  originBytes: 0,
  storeAnswers: 0,
  storeValidations: 0,
  storeBytes: 0,
  time: 0,
};

/** How far the page is that is shown, or on its way, what it has cost since it was asked for, and where it came from. */
export class PageMeter {
  /** When it was asked for, by `performance.now()`. */
  askedAt = 0;
  cost = NO_COST;
  /** As of the tab's state. */
  progress: number | null = null;
  /** What the tunnel answered without the edge; told before that document commits. */
  stored: (TunnelToShell & { type: "stored-page" }) | null = null;

  /** Another page is on its way. @param url of what may be the page shown. */
  begin(url: string, askedAt = performance.now()): void {
    this.askedAt = askedAt;
    this.cost = NO_COST;
    this.progress = 0;
    if (this.stored !== null && isPartOf(`${this.stored.url}#`, url)) this.stored = null;
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
