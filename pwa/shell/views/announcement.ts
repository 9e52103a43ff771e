import { failureText } from "./bar/failure-bar.tsx";
import { isWaiting } from "./bar/link-pill.tsx";
import { NEWER_VERSION, noticeText } from "./bar/notice-bar.tsx";
import type { BrowserState } from "./browser-state.ts";
import { errorText } from "./pages/error-texts.ts";
import { shortHost } from "./parts/format.ts";

/** What a screen reader should say about this state; the caller speaks only when it differs from the last. */
export function announcement(state: BrowserState): string {
  if (state.notice !== null) return noticeText(state.notice);
  if (state.unopened !== null) return failureText(state.unopened, state.tryingAgain);
  if (state.phase !== "failed" && isWaiting(state.link)) {
    return state.link.kind === "offline" ? "Offline" : "Waiting for the link";
  }
  switch (state.phase) {
    case "idle":
      return state.url === "" ? "" : `Stopped loading ${shortHost(state.url)}`;
    case "loading":
      return `Loading ${shortHost(state.destination?.url ?? state.url)}`;
    case "loaded":
      if (state.hasNewer) return NEWER_VERSION;
      return `${state.title || shortHost(state.url)} loaded`;
    case "failed":
      return state.error ? errorText(state.error).heading : "The page did not load";
  }
}
