import type { BrowserState } from "../browser-state.ts";

/** What lies over the page's frame; `page` means nothing does. */
export type View = "start" | "opening" | "page" | "error" | "pairing";

/**
 * Chooses the view. A page that is shown stays until the next one commits; from any other view, and where the frame has
 * lost that page already, the wait is `opening`, so that no blank frame is ever on the screen.
 */
export function chooseView(state: BrowserState, previous: View | null): View {
  const needsKey = state.link.kind === "unpaired" || state.link.kind === "refused";
  if (needsKey && state.phase !== "loaded") return "pairing";
  if (state.error) return "error";
  if (state.phase === "idle" && state.url === "") return "start";
  if (state.destination === null) return "page";
  return previous === "page" && !state.isFrameEmpty ? "page" : "opening";
}
