import { siteName } from "../../../messages/site-name.ts";
import type { KeptPages } from "../../app/kept-pages.ts";
import type { SiteUse } from "../../app/site-use.ts";
import { linkText, useNow } from "../bar/link-pill.tsx";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { errorText } from "../pages/error-texts.ts";
import { type Connection, connectionOf, SIGNS } from "../parts/connection.ts";
import { formatBytes, formatSaving, shortHost } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { SiteIcon } from "../parts/site-icon.tsx";
import type { Ui } from "../ui.ts";
import { useText } from "./data-use-section.tsx";
import { formatTime } from "./format-time.ts";
import { KeepSetting } from "./settings/keep-setting.tsx";
import { ScriptsSetting } from "./settings/scripts-setting.tsx";
import { ForgetSite, type PhoneActions } from "./settings/stored-setting.tsx";
import { SiteTrackerSetting } from "./settings/tracker-setting.tsx";
import { WaitingSetting } from "./settings/waiting-setting.tsx";
import { Sheet } from "./sheet.tsx";
import { soonerText } from "./sooner-text.ts";
import { storeSentences } from "./store-text.ts";

interface SiteProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly phone: PhoneActions & {
    readonly kept: KeptPages;
    readonly onKept: () => void;
    readonly siteUse: SiteUse;
  };
  readonly ui: Ui;
}

/** How the page came, what it cost, and what stays of it. */
export function SiteSheet({ state, actions, phone, ui }: SiteProps) {
  const close = () => ui.change({ sheet: null });
  return (
    <Sheet
      title="Site information"
      header={
        <div class="sheet-site">
          <SiteIcon site={state} />
          <span class="row-text">
            <span class="row-title">{shortHost(state.url)}</span>
            <span class="row-hint">{state.title}</span>
          </span>
        </div>
      }
      onClose={close}
    >
      <ConnectionNote state={state} />
      <PageCosts state={state} siteUse={phone.siteUse} />
      <div class="sheet-end">
        <WaitingSetting
          waiting={state.cost.waiting}
          onLoad={() => {
            close();
            actions.tab.loadWaiting();
          }}
        />
        {state.phase === "loaded" && state.error === null && (
          <KeepSetting url={state.url} title={state.title} kept={phone.kept} onChange={phone.onKept} />
        )}
        {/^https?:/.test(state.url) && <ScriptsSetting url={state.url} />}
        <SiteTrackerSetting
          settings={state.settings}
          onChange={(change) => actions.app.changeSettings(change)}
          url={state.url}
          count={state.cost.trackersBlocked}
        />
        <ForgetSite
          label="Forget this site"
          site={siteName(state.url)}
          onForget={(site) => {
            close();
            phone.forgetSite(site);
          }}
        />
      </div>
    </Sheet>
  );
}

function PageCosts({ state, siteUse }: { readonly state: BrowserState; readonly siteUse: SiteUse }) {
  const { cost } = state;
  const now = useNow(state.link.kind !== "open");
  const linkBytes = cost.linkBytesUp + cost.linkBytesDown;
  const saving = formatSaving(linkBytes, cost.originBytes);
  const sooner = saving === null ? soonerText(state) : null;
  const unused = state.phase === "loaded" ? "No data used" : "Nothing loaded yet";
  const used = linkBytes > 0 ? `${formatBytes(linkBytes)} used` : unused;
  const sentences = [...(sooner === null ? [] : [sooner.reason]), ...storeSentences(cost)];
  const requests =
    cost.requestsDone < cost.requests ? `${cost.requestsDone} of ${cost.requests}` : String(cost.requests);
  return (
    <>
      <h3 class="saving">{saving ?? sooner?.heading ?? used}</h3>
      <Comparison linkBytes={linkBytes} originBytes={cost.originBytes} storeBytes={cost.storeBytes} />
      {sentences.length > 0 && <p class="store-text">{sentences.join(" ")}</p>}
      <dl class="facts">
        <Fact name="Requests on the link" value={requests} />
        <Fact name="Time" value={formatTime(cost.time)} />
        <Fact name="Down the link" value={formatBytes(cost.linkBytesDown)} />
        <Fact name="Up the link" value={formatBytes(cost.linkBytesUp)} />
        <Fact name="Link" value={linkText(state.link, now)} />
        <Fact name="This site, this month" value={useText(siteUse.of(state.url))} />
      </dl>
    </>
  );
}

const CONNECTIONS: Record<Connection, { readonly heading: string; readonly text: string }> = {
  secure: {
    heading: "Encrypted to the site",
    text: "Your edge talks HTTPS with this site, and reads the page itself so that it can send less of it.",
  },
  plain: {
    heading: "Not encrypted to the site",
    text: "Your edge talks plain HTTP with this site. Others between the edge and the site can read along.",
  },
  pending: { heading: "Not there yet", text: "Until this site comes, what you see is not from it." },
  failed: { heading: "The page did not load", text: "What is shown comes from Ropeway, not from the site." },
};

function ConnectionNote({ state }: { state: BrowserState }) {
  const connection = connectionOf(state);
  const { heading, text } = CONNECTIONS[connection];
  return (
    <p class={connection === "secure" ? "note" : "note note-warning"}>
      <Icon name={SIGNS[connection]} />
      <span>
        <strong>{state.error ? errorText(state.error).heading : heading}</strong>
        {text}
      </span>
    </p>
  );
}

interface ComparisonProps {
  readonly linkBytes: number;
  readonly originBytes: number;
  readonly storeBytes: number;
}

function Comparison({ linkBytes, originBytes, storeBytes }: ComparisonProps) {
  const most = Math.max(linkBytes, originBytes, storeBytes, 1);
  return (
    <dl class="bars">
      {storeBytes > 0 && <Measure name="From this phone" bytes={storeBytes} share={storeBytes / most} kind="origin" />}
      <Measure name="From sites" bytes={originBytes} share={originBytes / most} kind="origin" />
      <Measure name="On the link" bytes={linkBytes} share={linkBytes / most} kind="link" />
    </dl>
  );
}

function Measure({ name, bytes, share, kind }: { name: string; bytes: number; share: number; kind: string }) {
  return (
    <div class="measure" data-kind={kind}>
      <dt>{name}</dt>
      <dd>
        <span class="measure-track">
          <span class="measure-fill" style={{ width: `${Math.round(share * 1000) / 10}%` }} />
        </span>
        {formatBytes(bytes)}
      </dd>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
