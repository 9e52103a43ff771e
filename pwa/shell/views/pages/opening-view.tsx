import { isWaiting } from "../bar/link-pill.tsx";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { shortHost } from "../parts/format.ts";
import { SiteIcon } from "../parts/site-icon.tsx";

/** Between the start page and a page's first bytes. */
export function OpeningView({ state, actions }: { state: BrowserState; actions: BrowserActions }) {
  const url = state.destination?.url ?? state.url;
  return (
    <section class="card-view opening">
      <SiteIcon site={{ url, icon: null }} large />
      <p class="opening-host">{shortHost(url)}</p>
      {/* The line above the bar says how long it has been. */}
      <p class="fine">{isWaiting(state.link) ? "Loads as soon as the link is back" : "Waiting for the first bytes"}</p>
      {/* Always there, so that nothing moves when the link goes and comes back. */}
      <button
        type="button"
        class={isWaiting(state.link) ? "text-button opening-cancel" : "text-button opening-cancel is-out"}
        onClick={() => actions.tab.stop()}
      >
        Cancel
      </button>
    </section>
  );
}
