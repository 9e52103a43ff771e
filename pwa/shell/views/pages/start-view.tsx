import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t, tParts } from "../../app/language.ts";
import type { BrowserActions, BrowserState, Site } from "../../app/state.ts";
import { formatBytes, formatSaving, shortHost } from "../parts/format.ts";
import { Host, Icon, SiteIcon } from "../parts/icons.tsx";

interface StartProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  /** The pages that are kept, once the script that shows them is there. */
  readonly kept: ComponentChildren;
}

/** Pinned, kept and recent sites, and what Ropeway has saved so far. */
export function StartView({ state, actions, kept }: StartProps) {
  const { pinned } = state;
  const isPinned = new Set(pinned.map((site) => site.url));
  const recent = state.recent.filter((site) => !isPinned.has(site.url));
  return (
    <div class="start">
      <header class="start-header">
        <Ridge />
        <h1>{t("Ropeway")}</h1>
        <SavedLine state={state} />
      </header>
      {pinned.length > 0 && <Pinned sites={pinned} readable={state.readable} actions={actions} />}
      {kept}
      {recent.length > 0 && <Recent sites={recent} readable={state.readable} actions={actions} />}
      {pinned.length === 0 && recent.length === 0 && (
        <p class="start-empty">
          {t("Type an address or a few words to search. Sites that you visit will gather here.")}
        </p>
      )}
      {state.demoUrl !== null && <DemoCard url={state.demoUrl} actions={actions} />}
    </div>
  );
}

function SavedLine({ state }: { state: BrowserState }) {
  const { totals } = state;
  const saving = totals && formatSaving(totals.linkBytes, totals.originBytes);
  if (!totals || !saving || totals.originBytes <= totals.linkBytes) {
    return <p class="saved">{t("The web on a slow link")}</p>;
  }
  return (
    <p class="saved">
      {tParts("{size} saved so far, {saving}", {
        size: <strong>{formatBytes(totals.originBytes - totals.linkBytes)}</strong>,
        saving,
      })}
    </p>
  );
}

interface SitesProps {
  readonly sites: readonly Site[];
  readonly readable: BrowserState["readable"];
  readonly actions: BrowserActions;
}

/** While the link is away: whether the page can be read now. */
function AwayMark({ site, readable }: Pick<SitesProps, "readable"> & { site: Site }) {
  if (readable === null) return null;
  const isReadable = readable.has(site.url);
  return (
    <span class={isReadable ? "away-mark" : "away-mark visually-hidden"}>
      {isReadable ? t("Stored") : t("Not stored")}
    </span>
  );
}

/** @returns the class of what is dimmed where it cannot be read now. */
function dimmed(name: string, site: Site, readable: SitesProps["readable"]): string {
  return readable === null || readable.has(site.url) ? name : `${name} is-dimmed`;
}

function Pinned({ sites, readable, actions }: SitesProps) {
  const [isChanging, setChanging] = useState(false);
  return (
    <section class="start-section" aria-labelledby="pinned-heading">
      <div class="section-head">
        <h2 id="pinned-heading">{t("Pinned")}</h2>
        <button type="button" class="text-button" aria-pressed={isChanging} onClick={() => setChanging(!isChanging)}>
          {isChanging ? t("Done") : t("Edit")}
        </button>
      </div>
      <ul class="tiles">
        {sites.map((site) => (
          <li key={site.url} class="tile-cell">
            <button
              type="button"
              class={dimmed("tile", site, readable)}
              title={site.url}
              disabled={isChanging}
              onClick={() => actions.tab.go(site.url)}
            >
              <SiteIcon site={site} large />
              <bdi class="tile-title">{site.title || shortHost(site.url)}</bdi>
              <AwayMark site={site} readable={readable} />
            </button>
            {isChanging && (
              <button
                type="button"
                class="tile-remove"
                aria-label={t("Unpin {name}", { name: site.title || shortHost(site.url) })}
                onClick={() => actions.app.unpin(site.url)}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Recent({ sites, readable, actions }: SitesProps) {
  return (
    <section class="start-section" aria-labelledby="recent-heading">
      <div class="section-head">
        <h2 id="recent-heading">{t("Recent")}</h2>
        <button type="button" class="text-button" onClick={() => actions.app.forgetRecent("all")}>
          {t("Forget all")}
        </button>
      </div>
      <ul class="rows">
        {sites.map((site) => {
          const name = site.title || shortHost(site.url);
          return (
            <li key={site.url} class="row">
              <button
                type="button"
                class={dimmed("row-main", site, readable)}
                title={site.url}
                onClick={() => actions.tab.go(site.url)}
              >
                <SiteIcon site={site} />
                <span class="row-text">
                  <bdi class="row-title">{name}</bdi>
                  <Host className="row-hint" url={site.url} />
                </span>
                <AwayMark site={site} readable={readable} />
              </button>
              <button
                type="button"
                class="icon-button quiet"
                aria-label={t("Pin {name}", { name })}
                onClick={() => actions.app.pin(site)}
              >
                <Icon name="pin" />
              </button>
              <button
                type="button"
                class="icon-button quiet"
                aria-label={t("Forget {name}", { name })}
                onClick={() => actions.app.forgetRecent(site.url)}
              >
                <Icon name="close" />
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function DemoCard({ url, actions }: { url: string; actions: BrowserActions }) {
  return (
    <button type="button" class="demo" onClick={() => actions.tab.go(url)}>
      <span class="site-icon site-icon-plain">
        <Icon name="globe" />
      </span>
      <span class="row-text">
        <span class="row-title">{t("Try the demo site")}</span>
        <span class="row-hint">{t("A newspaper, and 150 images")}</span>
      </span>
      <Icon name="forward" />
    </button>
  );
}

/** The picture at the top of the start page: a cabin on its rope over two ridges. Its middle 412 units show on a phone. */
function Ridge() {
  return (
    <svg class="ridge" viewBox="0 0 1000 216" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path
        class="ridge-far"
        d="M0 216v-66l70-32 60 32 80-50 70 48 60-28 60 38 70-46 70 38 60-32 80 42 80-64 90 50 70-30 80 34v66z"
      />
      <path
        class="ridge-near"
        d="M0 216v-30l90-28 80 24 110-36 90 40 70-22 80 28 100-50 90 44 90-26 80 30 120-32v58z"
      />
      <path class="ridge-rope" d="M0 222 1000 37.5" />
      <g class="ridge-cabin">
        <path class="ridge-rope" d="M600 112v16" />
        <circle class="ridge-wheel" cx="600" cy="111" r="4.5" />
        <rect class="mark-cabin" x="579" y="127" width="42" height="33" rx="9" />
        <path class="mark-window" d="M586 135h12v10h-12zM602 135h12v10h-12z" />
      </g>
    </svg>
  );
}
