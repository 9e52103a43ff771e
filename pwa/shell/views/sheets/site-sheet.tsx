import { useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import { type PageStoreUse, type PageWaiting, siteName, type WarmedStats } from "../../../messages/tunnel-messages.ts";
import { numberText, t } from "../../app/language.ts";
import { localeTag, tCount } from "../../app/language-choice.ts";
import { type Phone, reloadApp } from "../../app/phone.ts";
import { siteAnswers } from "../../app/site-answers.ts";
import type { BrowserActions, BrowserState } from "../../app/state.ts";
import { linkText, useNow } from "../bar/link-pill.tsx";
import { errorText, PAST } from "../pages/error-view.tsx";
import { formatBytes, formatSaving } from "../parts/format.ts";
import { type Connection, connectionOf, Host, Icon, SIGNS, SiteIcon } from "../parts/icons.tsx";
import { type Ui, useId } from "../ui.ts";
import { KeepSetting } from "./kept-pages.tsx";
import { ForgetSite, Sheet, SwitchSetting, useText } from "./sheet.tsx";

interface SiteProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly phone: Phone;
  readonly ui: Ui;
}

/** How the page came, what it cost, and what stays of it. */
export function SiteSheet({ state, actions, phone, ui }: SiteProps) {
  const close = () => ui.change({ sheet: null });
  return (
    <Sheet
      title={t("Site information")}
      header={
        <div class="sheet-site">
          <SiteIcon site={state} />
          <span class="row-text">
            <Host className="row-title" url={state.url} />
            <bdi class="row-hint">{state.title}</bdi>
          </span>
        </div>
      }
      onClose={close}
    >
      <ConnectionNote state={state} />
      <PageCosts state={state} phone={phone} />
      <div class="sheet-end">
        <WaitingSetting
          waiting={state.cost.waiting}
          onLoad={() => {
            close();
            actions.tab.loadWaiting();
          }}
        />
        {state.phase === "loaded" && state.error === null && (
          <KeepSetting url={state.url} title={state.title} phone={phone} />
        )}
        {/^https?:/.test(state.url) && <ScriptsSetting url={state.url} phone={phone} />}
        <SiteTrackerSetting state={state} actions={actions} phone={phone} />
        <WindowsSetting state={state} actions={actions} />
        <AnswerSettings url={state.url} phone={phone} />
        {/^https?:/.test(state.url) && (
          <button type="button" class="menu-row" aria-haspopup="dialog" onClick={() => ui.change({ sheet: "past" })}>
            <span class="confirm-label">{t(PAST)}</span>
            <Icon name="forward" />
          </button>
        )}
        <ForgetSite
          label={t("Forget this site")}
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

/** Asks first. It opens what it has asked about, wherever the page has gone meanwhile. */
export function PastSheet({ state, onClose }: Pick<SiteProps, "state"> & { readonly onClose: () => void }) {
  const [address] = useState(() => cleanAddress(state.url));
  const open = () => {
    window.open(address, "_blank", "noopener,noreferrer");
    onClose();
  };
  return (
    <Sheet title={t("Open past Ropeway?")} onClose={onClose}>
      <p class="past-address">
        <bdi dir="ltr">{address}</bdi>
      </p>
      <p class="note note-warning">
        <Icon name={SIGNS.plain} />
        <span>
          <strong>{t("The site will see this phone")}</strong>
          {t(
            "The browser goes there by itself. The site and the network learn this phone’s address, all data goes past your edge, at full size, and you may have to sign in again.",
          )}
        </span>
      </p>
      <div class="actions">
        <button type="button" class="button button-primary" onClick={open}>
          {t("Open in the browser")}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {t("Cancel")}
        </button>
      </div>
    </Sheet>
  );
}

/** The address without a name and a password in it, which are nobody else's business. */
export function cleanAddress(text: string): string {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}

const THAN_SENT = {
  times: later("{ratio}× less data than its sites sent."),
  same: later("The same amount of data as its sites sent."),
  less: later("{percent}% less data than its sites sent."),
  more: later("{percent}% more data than its sites sent."),
} as const;

function PageCosts({ state, phone }: Pick<SiteProps, "state" | "phone">) {
  const { cost } = state;
  const now = useNow(state.link.kind !== "open");
  const linkBytes = cost.linkBytesUp + cost.linkBytesDown;
  const { heading, sentences } = gainOf(state);
  const requests =
    cost.requestsDone < cost.requests
      ? t("{part} of {size}", { part: cost.requestsDone, size: cost.requests })
      : numberText(cost.requests);
  return (
    <>
      <h3 class="saving">{heading}</h3>
      <Comparison linkBytes={linkBytes} originBytes={cost.originBytes} storeBytes={cost.storeBytes} />
      {sentences.length > 0 && <p class="store-text">{sentences.join(" ")}</p>}
      <dl class="facts">
        <Fact name={t("Requests on the link")} value={requests} />
        <Fact name={t("Time")} value={formatTime(cost.time)} />
        <Fact name={t("Down the link")} value={formatBytes(cost.linkBytesDown)} />
        <Fact name={t("Up the link")} value={formatBytes(cost.linkBytesUp)} />
        <Fact name={t("Link")} value={linkText(state.link, now)} />
        <Fact name={t("This site, this month")} value={useText(phone.useOf(state.url))} />
      </dl>
    </>
  );
}

/** What the person has of it that the page came by here, as a heading and in sentences. */
export function gainOf(state: Pick<BrowserState, "url" | "phase" | "cost">) {
  const { cost } = state;
  const linkBytes = cost.linkBytesUp + cost.linkBytesDown;
  const saving = formatSaving(linkBytes, cost.originBytes);
  const isSaved = saving !== null && linkBytes < cost.originBytes;
  const sooner = isSaved ? null : soonerText(state);
  const sentences = [
    ...(sooner === null ? [] : [sooner.reason]),
    // The page is quick, and that comes first.
    ...(isSaved || saving === null ? [] : [formatSaving(linkBytes, cost.originBytes, THAN_SENT) ?? ""]),
    ...storeSentences(cost),
  ];
  return { heading: (isSaved ? saving : sooner?.heading) ?? gainText(state, linkBytes), sentences };
}

/** The heading of a page that saved nothing. */
function gainText({ phase, cost }: Pick<BrowserState, "phase" | "cost">, linkBytes: number): string {
  if (phase !== "loaded")
    return linkBytes > 0 ? t("{size} used", { size: formatBytes(linkBytes) }) : t("Nothing loaded yet");
  return linkBytes > 0 || cost.time > 0 ? t("Loaded in {time}", { time: formatTime(cost.time) }) : t("No data used");
}

const CONNECTIONS: Record<Connection, { readonly heading: string; readonly text: string }> = {
  secure: {
    heading: later("Encrypted to the site"),
    text: later("Your edge talks HTTPS with this site, and reads the page itself so that it can send less of it."),
  },
  plain: {
    heading: later("Not encrypted to the site"),
    text: later("Your edge talks plain HTTP with this site. Others between the edge and the site can read along."),
  },
  pending: { heading: later("Not there yet"), text: later("Until this site comes, what you see is not from it.") },
  failed: {
    heading: later("The page did not load"),
    text: later("What is shown comes from Ropeway, not from the site."),
  },
};

function ConnectionNote({ state }: { state: BrowserState }) {
  const connection = connectionOf(state);
  const { heading, text } = CONNECTIONS[connection];
  return (
    <p class={connection === "secure" ? "note" : "note note-warning"}>
      <Icon name={SIGNS[connection]} />
      <span>
        <strong>{state.error ? errorText(state.error).heading : t(heading)}</strong>
        {t(text)}
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
      {storeBytes > 0 && (
        <Measure name={t("From this phone")} bytes={storeBytes} share={storeBytes / most} kind="origin" />
      )}
      <Measure name={t("From sites")} bytes={originBytes} share={originBytes / most} kind="origin" />
      <Measure name={t("On the link")} bytes={linkBytes} share={linkBytes / most} kind="link" />
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

/** Milliseconds below which nobody sees a difference. */
const SEEN = 100;

/**
 * The gain of a page of few bytes by a link that is open: a browser looks up the name, connects and encrypts first, each in
 * a round trip as long as the link's, it may be taken.
 *
 * @returns null where that is not much.
 */
export function soonerText({ url, cost }: Pick<BrowserState, "url" | "cost">) {
  const isEncrypted = url.startsWith("https:");
  const time = (isEncrypted ? 3 : 2) * cost.roundTrip;
  if (time < SEEN || cost.linkBytesDown === 0) return null;
  const reason = isEncrypted
    ? t("A browser would have looked up the site’s name, connected and encrypted first.")
    : t("A browser would have looked up the site’s name and connected first.");
  return { heading: t("About {time} sooner", { time: formatTime(time) }), reason };
}

/** Parts of a page that this phone had, in sentences; none where it had nothing. */
export function storeSentences({
  storeAnswers,
  storeValidations,
  storeReferences,
  storeBytes,
  pagesWarmed,
  pagesWarmedUsed,
}: PageStoreUse & WarmedStats): readonly string[] {
  const sentences: string[] = [];
  const add = (count: number, text: string) => count > 0 && sentences.push(text);
  add(
    storeAnswers,
    tCount(
      storeAnswers,
      "{count} part of the page came from this phone, and nobody was asked.",
      "{count} parts of the page came from this phone, and nobody was asked.",
    ),
  );
  add(
    storeValidations,
    tCount(
      storeValidations,
      "{count} part of the page came from this phone after the site had said: not changed.",
      "{count} parts of the page came from this phone after the site had said: not changed.",
    ),
  );
  add(
    storeReferences,
    tCount(
      storeReferences,
      "{count} part of the page came from this phone after the site had sent the same again, to your edge only.",
      "{count} parts of the page came from this phone after the site had sent the same again, to your edge only.",
    ),
  );
  if (storeBytes > 0) sentences.push(t("{size} did not have to be sent again.", { size: formatBytes(storeBytes) }));
  if (pagesWarmedUsed > 0) sentences.push(t("It was loaded before you opened it."));
  if (pagesWarmed > 0)
    sentences.push(tCount(pagesWarmed, "{count} link of it loaded ahead.", "{count} links of it loaded ahead."));
  return sentences;
}

/** Milliseconds as a person says them: `840 ms`, `2.3 s`, `1 min 05 s`. */
export function formatTime(milliseconds: number): string {
  const time = Math.max(0, milliseconds);
  if (time < 999.5) return t("{count} ms", { count: Math.round(time) });
  if (time < 9_950) return t("{count} s", { count: numberText(time / 1000, 1) });
  const seconds = Math.round(time / 1000);
  if (seconds < 60) return t("{count} s", { count: seconds });
  const rest = (seconds % 60).toLocaleString(localeTag(), { minimumIntegerDigits: 2 });
  return t("{minutes} min {seconds} s", { minutes: Math.floor(seconds / 60), seconds: rest });
}

/** Loads all that waits of the page, where something does: also what no tap in the page reaches. */
function WaitingSetting({ waiting, onLoad }: { readonly waiting: PageWaiting; readonly onLoad: () => void }) {
  const id = useId();
  const text = waitingText(waiting);
  if (text === null) return null;
  return (
    <div class="keep">
      <button type="button" class="menu-row" aria-describedby={id} onClick={onLoad}>
        <span class="confirm-label">{t("Load what waits")}</span>
        <Icon name="forward" />
      </button>
      <p class="fine" id={id} role="status">
        {text}
      </p>
    </div>
  );
}

/** How much of the page waits for a tap. Null where nothing does. */
export function waitingText({ pictures, films, bytes }: PageWaiting): string | null {
  if (pictures + films === 0) return null;
  const what = new Intl.ListFormat(localeTag()).format([
    ...(pictures === 0 ? [] : [tCount(pictures, "{count} picture", "{count} pictures")]),
    ...(films === 0 ? [] : [tCount(films, "{count} film", "{count} films")]),
  ]);
  const waiting = tCount(pictures + films, "{what} waits", "{what} wait", { what });
  return bytes > 0
    ? t("{waiting}, {size}. The page loads again with all of it.", { waiting, size: formatBytes(bytes) })
    : t("{waiting}. The page loads again with all of it.", { waiting });
}

/** Whether the site's pages run scripts, which the person chooses where the edge leaves a choice. */
function ScriptsSetting({ url, phone }: { url: string; phone: Phone }) {
  if (phone.edge?.slotHost === null)
    return (
      <p class="fine">{t("Scripts are off: your edge has only one host. docs/deploy.md says how to turn them on.")}</p>
    );
  const isOn = phone.runsScripts(url);
  return (
    <SwitchSetting
      label={t("Scripts on this site")}
      isOn={isOn}
      hint={isOn ? t("Off takes the least data; some pages need them") : t("Off: the least data")}
      onChange={() => {
        phone.chooseScripts(url, !isOn);
        // Where pages live is decided when the app is opened, which opens this page again.
        reloadApp();
      }}
    />
  );
}

/** For a site that was once allowed. */
function WindowsSetting({ state, actions }: Pick<SiteProps, "state" | "actions">) {
  const { windowOpeners } = state.settings;
  const site = siteName(state.url);
  const [wasOn] = useState(windowOpeners.includes(site));
  if (!wasOn) return null;
  const others = windowOpeners.filter((each) => each !== site);
  const isOn = others.length < windowOpeners.length;
  return (
    <SwitchSetting
      label={t("Windows that open by themselves")}
      isOn={isOn}
      hint={isOn ? t("This site opens them unasked") : t("You are asked about each")}
      onChange={() => actions.app.changeSettings({ windowOpeners: isOn ? others : [...others, site] })}
    />
  );
}

const ASKED: Readonly<Record<string, string>> = {
  location: later("Location"),
  clipboard: later("Reading what was copied"),
  camera: later("Camera"),
  microphone: later("Microphone"),
};

/** The permissions that the site has asked for. */
function AnswerSettings({ url, phone }: { readonly url: string; readonly phone: Phone }) {
  const origin = URL.parse(url)?.origin ?? "";
  const answers = siteAnswers(localStorage).filter((each) => each.origin === origin && each.answer !== "put off");
  return (
    <>
      {answers.map(({ what, answer }) => {
        const isOn = answer === "allowed";
        return (
          <SwitchSetting
            key={what}
            label={t(ASKED[what] ?? later("Other apps ({scheme})"), { scheme: `${what.slice(4)}:` })}
            isOn={isOn}
            hint={isOn ? t("Allowed on this site") : t("Blocked on this site")}
            onChange={() => phone.changeAnswer({ origin, what, answer: isOn ? "refused" : "allowed" })}
          />
        );
      })}
    </>
  );
}

/** How many trackers of the page were stopped, and a way to let all of the site's pages load all. */
function SiteTrackerSetting({ state, actions, phone }: Pick<SiteProps, "state" | "actions" | "phone">) {
  const { settings, url, cost } = state;
  if (!settings.blocksTrackers || phone.edge?.blocksTrackers !== true) return null;
  const site = siteName(url);
  const others = settings.trackerExceptions.filter((each) => each !== site);
  const isOn = others.length === settings.trackerExceptions.length;
  const trackerExceptions = isOn ? [...others, site] : others;
  return (
    <SwitchSetting
      label={t("Block trackers on this site")}
      isOn={isOn}
      hint={isOn ? countText(cost.trackersBlocked) : t("Reload the page to load all of it")}
      onChange={() => actions.app.changeSettings({ trackerExceptions })}
    />
  );
}

function countText(count: number): string {
  if (count === 0) return t("None on this page so far");
  return tCount(count, "{count} request stopped on this page", "{count} requests stopped on this page");
}
