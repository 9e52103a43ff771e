/** What the shell and its tunnel say of the link to the edge. */

/** `since` and `retryAt` are milliseconds as `Date.now()` counts them while nobody sets the clock. */
export type LinkPhase =
  | { readonly kind: "unpaired" }
  | { readonly kind: "connecting"; readonly since: number; readonly attempt: number }
  | { readonly kind: "open" }
  /** The link is there, but an answer has been due for a while. */
  | { readonly kind: "stalled"; readonly since: number }
  | { readonly kind: "waiting"; readonly since: number; readonly retryAt: number }
  | { readonly kind: "offline"; readonly since: number }
  /**
   * The edge does not know the phone any more. With `why`, it turned down the key that it was just given: its own
   * words, or null for a wrong key.
   */
  | { readonly kind: "refused"; readonly why?: string | null };

/** Nobody knows when the link will be there: one attempt after the other has failed, or there is no network. */
export function isAway(link: LinkPhase): boolean {
  return link.kind === "offline" || link.kind === "waiting" || (link.kind === "connecting" && link.attempt > 1);
}

/**
 * Why a link may be worth another look: another network, or the person looks at the app again. Or the person is about
 * to go somewhere, so the link should be ready.
 */
export type LinkHint = "network" | "visible" | "navigation";

/** What carries the link. */
export type Road = "websocket" | "fetch";
