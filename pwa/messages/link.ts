/** What the shell and its tunnel say of the link to the edge. */

/** `since` and `retryAt` are milliseconds as `Date.now()` counts them while nobody sets the clock. */
export type LinkPhase =
  | { readonly kind: "unpaired" }
  | { readonly kind: "connecting"; readonly since: number; readonly attempt: number }
  | { readonly kind: "open" }
  /** The link is there, but nothing has come for a while that was waited for. */
  | { readonly kind: "stalled"; readonly since: number }
  | { readonly kind: "waiting"; readonly since: number; readonly retryAt: number }
  | { readonly kind: "offline"; readonly since: number }
  /**
   * The edge knows the phone no more. Or, with `why`, it turned down the key that it has just been given: in its words, or
   * null where that is a wrong one.
   */
  | { readonly kind: "refused"; readonly why?: string | null };

/** Who knows when it will be there: one attempt after the other has failed, or there is no network. */
export function isAway(link: LinkPhase): boolean {
  return link.kind === "offline" || link.kind === "waiting" || (link.kind === "connecting" && link.attempt > 1);
}

/**
 * Why a link may be worth another look: another network, or the person looks at the app again. Or the person is about to
 * go somewhere, and what can be made ready for that should be.
 */
export type LinkHint = "network" | "visible" | "navigation";

/** What carries the link. */
export type Road = "websocket" | "fetch";
