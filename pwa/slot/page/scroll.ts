/**
 * Tells the shell how far down the document is, and goes back there when it is opened again after the app was closed.
 * Within one life of the app the browser does that.
 */
import { MESSAGE_TAG, type ScrollPosition } from "../../messages/page-messages.ts";
import { historyKey } from "./links/history-key.ts";
import type { PageContext } from "./page-context.ts";

/** Milliseconds between two reports. */
const PAUSE = 300;

/** What a person begins to scroll with. */
const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Reports for a page that is not in a frame of another. */
export function reportScroll(context: PageContext): void {
  let timer = 0;
  const report = () => {
    clearTimeout(timer);
    timer = 0;
    const position = { x: Math.round(window.scrollX), y: Math.round(window.scrollY) };
    context.toShell({ tag: MESSAGE_TAG, type: "scrolled", historyKey: historyKey(), position });
  };
  window.addEventListener("scroll", () => {
    if (timer === 0) timer = window.setTimeout(report, PAUSE);
  });
  // It may be the last that runs.
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && timer !== 0 && report());
}

/** Goes there as the document grows, until it has loaded or the person takes over. */
export function scrollBack({ x, y }: ScrollPosition): void {
  if (history.scrollRestoration === "manual" || (x === 0 && y === 0)) return;
  const over = new AbortController();
  const { signal } = over;
  const go = () => {
    window.scrollTo({ left: x, top: y, behavior: "instant" });
  };
  const observer = new ResizeObserver(go);
  observer.observe(document.documentElement);
  signal.addEventListener("abort", () => observer.disconnect());
  for (const hand of HANDS) window.addEventListener(hand, () => over.abort(), { signal, capture: true, passive: true });
  // What has loaded is laid out with the next frame.
  const end = () =>
    requestAnimationFrame(() => {
      if (signal.aborted) return;
      go();
      over.abort();
    });
  if (document.readyState === "complete") end();
  else window.addEventListener("load", end, { signal });
}
