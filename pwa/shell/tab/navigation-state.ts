import type { BrowserState, PageError } from "../app/browser-state.ts";

/** The document that the frame has, or had last; all empty for the start page. */
export type CommittedPage = Pick<BrowserState, "url" | "title" | "icon">;

/** Where the frame is on its way to, and who sends it there. `url` is real. */
export type Destination =
  /** The person asked for the address. */
  | { readonly kind: "typed"; readonly url: string }
  /** A page did: by a link, a script, a form or a redirect. */
  | { readonly kind: "started"; readonly url: string };

/** What the frame is about, beside the committed page. */
export type NavigationState =
  /** Nothing but that page, which has loaded or is loading. */
  | { readonly kind: "committed"; readonly isLoaded: boolean }
  | Destination
  /** `by` as the destination's kind. */
  | { readonly kind: "failed"; readonly by: Destination["kind"]; readonly error: PageError };

export type DrawnNavigation = CommittedPage & Pick<BrowserState, "phase" | "error" | "destination">;

/**
 * What the chrome shows of it. The page before stays visible and usable until the next one commits, so the bar has that
 * page's address and title until then, whatever a page has set out for: an address that a page chose is progress only.
 * What the person typed shows at once. An error covers the frame.
 */
export function drawNavigation(committed: CommittedPage, navigation: NavigationState): DrawnNavigation {
  const none = { error: null, destination: null };
  switch (navigation.kind) {
    case "committed": {
      const phase = !navigation.isLoaded ? "loading" : committed.url === "" ? "idle" : "loaded";
      return { ...committed, ...none, phase };
    }
    case "typed":
      return { url: navigation.url, title: "", icon: null, ...none, phase: "loading", destination: navigation };
    case "started":
      return { ...committed, ...none, phase: "loading", destination: navigation };
    case "failed": {
      const { error } = navigation;
      return { url: error.url, title: "", icon: null, ...none, phase: "failed", error };
    }
  }
}
