import type { BrowserState } from "../browser-state.ts";
import { errorText } from "./error-texts.ts";
import { shortHost } from "./format.ts";

/** What a screen reader should say about this state; the caller speaks only when it differs from the last. */
export function announcement(state: BrowserState): string {
  if (state.link.kind === "offline" && state.phase !== "failed") return "Offline";
  switch (state.phase) {
    case "idle":
      return state.url === "" ? "" : `Stopped loading ${shortHost(state.url)}`;
    case "loading":
      return `Loading ${shortHost(state.url)}`;
    case "loaded":
      return `${state.title || shortHost(state.url)} loaded`;
    case "failed":
      return state.error ? errorText(state.error).heading : "The page did not load";
  }
}
