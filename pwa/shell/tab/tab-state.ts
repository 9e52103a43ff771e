/** What the chrome draws of a tab, and what the person may ask of it. */
import type { PagePhase } from "../../messages/page-messages.ts";
import type { PageUse, PageWaiting } from "../../messages/tunnel-messages.ts";

export interface PageCost extends PageUse {
  readonly waiting: PageWaiting;
  /** Milliseconds from when the page was asked for to load, or to now while loading. */
  readonly time: number;
}

export interface PageError {
  /** An ErrorCode of shared/errors.ts. */
  readonly code: number;
  readonly url: string;
  /** Method of the request that failed; null where a slot of another release does not tell. */
  readonly method: string | null;
  /** One line for the curious, from the typed error. */
  readonly detail: string;
}

/** How what failed is loaded again, unasked. */
export type TryingAgain = "with the link" | "soon" | "not";

/** Where the frame is on its way to, and who sends it there. */
export interface Destination {
  /** The person asked for the address; or a page did: by a link, a script, a form or a redirect. */
  readonly kind: "typed" | "started";
  /** Real. */
  readonly url: string;
}

export interface TabState {
  readonly phase: PagePhase;
  /** Real URL shown in the address bar; "" on the start page. Of a page that is visible, or that the person asked for. */
  readonly url: string;
  readonly title: string;
  readonly icon: string | null;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
  /** 0 to 1 from real bytes and requests, or null when nothing loads. */
  readonly progress: number | null;
  readonly cost: PageCost;
  /** What failed, and has nothing but its error to show. */
  readonly error: PageError | null;
  /** What failed while a page was shown, which stays. */
  readonly unopened: PageError | null;
  /** The address of `unopened`, where the person typed it: whoever edits the address mends that one. Else null. */
  readonly mistyped: string | null;
  /** How `error` or `unopened` is loaded again. */
  readonly tryingAgain: TryingAgain;
  /** Until another document commits, or an error takes its place. */
  readonly destination: Destination | null;
  /** When the page shown was stored, in milliseconds since 1970, where it is shown unasked since the link is away. */
  readonly storedAt: number | null;
  /** What is shown was stored, and the phone has a newer version of it by now. */
  readonly hasNewer: boolean;
  /** The document before is gone from the frame, and the next one is not there yet. */
  readonly isFrameEmpty: boolean;
}

export interface TabActions {
  /** Address or search words as typed. */
  go(input: string): void;
  back(): void;
  forward(): void;
  reload(): void;
  /** Likewise, with nothing that is stored. */
  hardReload(): void;
  /** Reloads the page with all that waits of it. */
  loadWaiting(): void;
  stop(): void;
  home(): void;
  /** Opens what failed while the page was shown. */
  openFailed(): void;
  /** What failed while the page was shown is not wanted any more. */
  forgetFailed(): void;
  /** The person stays with the version that is shown. */
  keepVersion(): void;
  /** Reloads the page that a form led to, and so sends the form again. */
  sendAgain(): void;
}
