import type { BrowserState } from "../browser-state.ts";
import { shortHost } from "./format.ts";
import { linkText, useNow } from "./link-pill.tsx";
import { SiteIcon } from "./site-icon.tsx";

/** Between the start page and a page's first bytes. */
export function OpeningView({ state }: { state: BrowserState }) {
  const now = useNow(state.link.kind !== "open");
  return (
    <section class="card-view opening">
      <SiteIcon site={{ url: state.url, icon: null }} large />
      <p class="opening-host">{shortHost(state.url)}</p>
      <p class="fine">{state.link.kind === "open" ? "Waiting for the first bytes" : linkText(state.link, now)}</p>
    </section>
  );
}
