import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import { VERSION } from "../../../../shared/version.ts";
import type { LinkPhase, StoredSite } from "../../../messages/tunnel-messages.ts";
import { numberText, t } from "../../app/language.ts";
import { allLanguages, chooseLanguage, localeTag, OF_SYSTEM } from "../../app/language-choice.ts";
import { type Phone, reloadApp } from "../../app/phone.ts";
import { PAGE_BUDGETS, STORE_SIZES, savesData, WAIT_TIMES } from "../../app/settings.ts";
import type { BrowserActions, BrowserState, PictureChoice, Settings } from "../../app/state.ts";
import { linkText, useNow } from "../bar/link-pill.tsx";
import type { UiWithLibrary } from "../library/library-chunk.tsx";
import { formatBytes } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import { useId } from "../ui.ts";
import { KeptList } from "./kept-pages.tsx";
import { type Choice, ChoiceSetting, ConfirmButton, ForgetSite, Sheet, SwitchSetting, useText } from "./sheet.tsx";

const THEMES: readonly Choice<Settings["theme"]>[] = [
  { value: "system", label: later("System") },
  { value: "light", label: later("Light") },
  { value: "dark", label: later("Dark") },
];

function waitText(time: number): string {
  return time < 60_000 ? t("{count} s", { count: time / 1_000 }) : t("{count} min", { count: time / 60_000 });
}

interface SettingsProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly phone: Phone;
  readonly ui: UiWithLibrary;
}

/** Every choice takes effect at once; there is nothing to save. */
export function SettingsSheet({ state, actions, phone, ui }: SettingsProps) {
  const { settings } = state;
  const close = () => ui.change({ sheet: null });
  const onChange = (change: Partial<Settings>) => actions.app.changeSettings(change);
  return (
    <Sheet title={t("Settings")} onClose={close}>
      <Group title={t("Looks and search")}>
        <ChoiceSetting
          name="theme"
          legend={t("Appearance")}
          choices={THEMES.map(({ value, label }) => ({ value, label: t(label) }))}
          chosen={settings.theme}
          onChange={(theme) => onChange({ theme })}
        />
        <LanguageSetting settings={settings} onChange={onChange} draw={() => ui.change({})} />
        {ui.library?.searchSettings({
          searchUrl: settings.searchUrl,
          onChange: (searchUrl) => onChange({ searchUrl }),
        })}
      </Group>
      <Group title={t("Data")}>
        <DataUse phone={phone} />
        <PictureSetting settings={settings} onChange={onChange} />
        <SavingSettings settings={settings} phone={phone} onChange={onChange} />
      </Group>
      <Group title={t("Without a signal")}>
        <ChoiceSetting
          name="wait-time"
          legend={t("Keep trying to load a page for")}
          choices={WAIT_TIMES.map((value) => ({ value, label: waitText(value) }))}
          chosen={settings.waitTime}
          onChange={(waitTime) => onChange({ waitTime })}
        />
      </Group>
      <Group title={t("On this phone")}>
        <StoredSetting
          phone={phone}
          storeBytes={settings.storeBytes}
          onChoose={(storeBytes) => actions.app.changeSettings({ storeBytes })}
        />
        <Forgetting actions={actions} />
      </Group>
      <Group title={t("Your edge")}>
        <Edge
          link={state.link}
          onDevices={() => ui.change({ sheet: "devices" })}
          onKey={(accessKey) => {
            close();
            actions.app.pair(accessKey);
          }}
        />
      </Group>
      <Group title={t("About Ropeway")}>
        <About hasUpdate={state.hasUpdate} />
      </Group>
    </Sheet>
  );
}

/** Settings that belong together. */
function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="setting-group">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface ChangeProps {
  readonly settings: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
}

/** Switches for data that a page costs, beside its pictures. */
function SavingSettings({ settings, phone, onChange }: ChangeProps & { phone: Phone }) {
  const { blocksTrackers, takesPushes, warmsLinks } = settings;
  return (
    <>
      <SwitchSetting
        label={t("Ask sites to send less")}
        isOn={savesData(settings)}
        hint={t("Tells every site that you want to save data (Save-Data). Some then send smaller pages.")}
        onChange={() => onChange({ savesData: !savesData(settings) })}
      />
      {phone.edge?.blocksTrackers === true && (
        <SwitchSetting
          label={t("Block trackers")}
          isOn={blocksTrackers}
          hint={t("Your edge stops what its list names before it is loaded. Pages you open are never stopped.")}
          onChange={() => onChange({ blocksTrackers: !blocksTrackers })}
        />
      )}
      <SwitchSetting
        label={t("Load parts of a page early")}
        isOn={takesPushes}
        hint={
          takesPushes
            ? t("Pages show sooner. A little of the data may not be needed.")
            : t("Each part comes when the page asks for it: slower, with the least data.")
        }
        onChange={() => onChange({ takesPushes: !takesPushes })}
      />
      <SwitchSetting
        label={t("Load likely links ahead")}
        isOn={warmsLinks}
        hint={t("Uses more data: up to three links in view load before you tap, never on mobile data.")}
        onChange={() => onChange({ warmsLinks: !warmsLinks })}
      />
    </>
  );
}

function Forgetting({ actions }: Pick<SettingsProps, "actions">) {
  return (
    <>
      <ConfirmButton
        label={t("Forget history")}
        question={t("History and the list of recent sites will be empty. Pinned sites and bookmarks stay.")}
        confirm={t("Forget")}
        done={t("History forgotten")}
        onConfirm={() => actions.app.forgetRecent("all")}
      />
      <ConfirmButton
        label={t("Clear site data")}
        question={t(
          "Cookies, logins, stored and kept pages of every site, and downloads in the app, will be gone. Open pages close.",
        )}
        confirm={t("Clear")}
        done={t("Site data is being cleared")}
        onConfirm={() => actions.app.clearSiteData()}
      />
    </>
  );
}

/** Whether a newer version of the app is there. */
type Version = "not asked" | "asking" | "newest" | "newer" | "unknown";

const VERSION_TEXTS: Record<Version, string> = {
  "not asked": "",
  asking: later("Looking…"),
  newest: later("This is the newest version."),
  newer: later("A newer version is here. It starts when the app is opened again."),
  unknown: later("Your edge could not be asked. Try again later."),
};

const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;

/** Has the browser ask the edge, past its cache. */
async function lookForUpdate(): Promise<Version> {
  const active = workers?.controller;
  if (!workers || !active) return "unknown";
  try {
    const registration = await workers.register(active.scriptURL, { scope: "/", updateViaCache: "none" });
    await registration.update();
    const coming = registration.installing ?? registration.waiting;
    if (coming !== null) {
      await new Promise<void>((resolve) => {
        coming.addEventListener("statechange", () => /^(activated|redundant)$/.test(coming.state) && resolve());
      });
    }
    // A file of it may be lost on its way.
    return coming === null ? "newest" : coming.state === "activated" ? "newer" : "unknown";
  } catch {
    return "unknown";
  }
}

function About({ hasUpdate }: Pick<BrowserState, "hasUpdate">) {
  const [found, setVersion] = useState<Version>("not asked");
  const version = hasUpdate ? "newer" : found;
  return (
    <>
      <p class="fine">
        {t(
          "Version {version}. Ropeway loads the web over one lasting connection between this phone and an edge that you run. Your edge can read the pages that pass through it, so run it yourself or trust whoever does. MIT licence.",
          { version: VERSION },
        )}
      </p>
      <div role="status">{version !== "not asked" && <p class="setting-line">{t(VERSION_TEXTS[version])}</p>}</div>
      {version === "newer" ? (
        // Not the element of the other, which a finger may be on.
        <button key="open" type="button" class="button" onClick={() => reloadApp()}>
          {t("Open it now")}
        </button>
      ) : (
        <button
          key="look"
          type="button"
          class="menu-row"
          disabled={version === "asking"}
          onClick={() => {
            setVersion("asking");
            void lookForUpdate().then(setVersion);
          }}
        >
          <span class="confirm-label">{t("Look for updates")}</span>
          <Icon name="forward" />
        </button>
      )}
      <details class="more">
        <summary>{t("Help")}</summary>
        <dl class="help">
          {HELP.map(([question, answer]) => (
            <>
              <dt>{t(question)}</dt>
              <dd>{t(answer)}</dd>
            </>
          ))}
        </dl>
      </details>
    </>
  );
}

const HELP: readonly (readonly [question: string, answer: string])[] = [
  [
    later("Nothing loads"),
    later(
      "See “Your edge” above. If it is not connected, check the signal and that the edge runs. If this phone is not paired any more, enter the edge’s key again.",
    ),
  ],
  [
    later("A page looks wrong or does nothing"),
    later(
      "Tap the sign before the address. There you can load what waits, let the site run scripts, and stop blocking trackers on it.",
    ),
  ],
  [
    later("Pages cost too much"),
    later("Under “Data” choose smaller pictures and a page budget, and switch off what loads early."),
  ],
  [
    later("Pages without a signal"),
    later(
      "Sites that you have visited open as they were, marked as stored. Keep a page from its site information to be sure of it.",
    ),
  ],
  [later("Another phone"), later("Open “Paired devices” and show a code there. It pairs one device.")],
];

interface EdgeProps {
  readonly link: LinkPhase;
  readonly onDevices: () => void;
  readonly onKey: (accessKey: string) => void;
}

function Edge({ link, onDevices, onKey }: EdgeProps) {
  const now = useNow(link.kind !== "open");
  return (
    <>
      <p class="setting-line">
        <span class="dot" data-link={link.kind} />
        {linkText(link, now)}
      </p>
      <button type="button" class="menu-row" onClick={onDevices}>
        <span class="confirm-label">{t("Paired devices")}</span>
        <Icon name="forward" />
      </button>
      <details class="more">
        <summary>{t("Pair with another key")}</summary>
        <KeyForm onKey={onKey} />
      </details>
    </>
  );
}

/** The system's language, or one of the catalogues: each called as those who speak it do. */
function LanguageSetting({ settings, onChange, draw }: ChangeProps & { readonly draw: () => void }) {
  const id = useId();
  const languages = allLanguages().map((code) => [code, nameOfLanguage(code)] as const);
  return (
    <section class="setting">
      <h4>
        <label for={id}>{t("Language")}</label>
      </h4>
      <select
        id={id}
        class="field"
        value={settings.language}
        onChange={(event) => {
          const language = event.currentTarget.value;
          onChange({ language });
          void chooseLanguage(language, draw);
        }}
      >
        <option value={OF_SYSTEM}>{t("As the system has it")}</option>
        {languages
          .toSorted(([, one], [, other]) => one.localeCompare(other))
          .map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
      </select>
    </section>
  );
}

function nameOfLanguage(code: string): string {
  const name = new Intl.DisplayNames(code, { type: "language" }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

const CHOICES: readonly (readonly [value: PictureChoice, label: string, hint: string])[] = [
  ["off", later("As sites send them"), later("Nothing is changed.")],
  ["balanced", later("Smaller"), later("Half of the bytes or less, hardly a difference to see.")],
  ["strong", later("Much smaller"), later("A tap on a picture loads the original.")],
  ["none", later("After a tap"), later("Films, too. Each shows how large it is; a tap loads it.")],
  ["auto", later("Smaller on slow links"), later("As they are while the link is quick.")],
];

/** How much of the data plan pictures may take. It holds for what is loaded from then on. */
function PictureSetting({ settings, onChange }: ChangeProps) {
  const id = useId();
  const hint = CHOICES.find(([value]) => value === settings.pictures)?.[2];
  return (
    <section class="setting">
      <h4>
        <label for={id}>{t("Pictures")}</label>
      </h4>
      <select
        id={id}
        class="field"
        value={settings.pictures}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange({ pictures: event.currentTarget.value as PictureChoice })}
      >
        {CHOICES.map(([value, label]) => (
          <option key={value} value={value}>
            {t(label)}
          </option>
        ))}
      </select>
      <p class="fine" id={`${id}-hint`}>
        {t(hint ?? "")}
      </p>
      {settings.pictures !== "none" && (
        <ChoiceSetting
          name="page-budget"
          legend={t("Page budget")}
          hint={t("Pictures that would pass it wait for a tap, and so do films.")}
          choices={PAGE_BUDGETS.map((value) => ({
            value,
            label: value === null ? t("None") : formatBytes(value, true),
          }))}
          chosen={settings.pageBudget}
          onChange={(pageBudget) => onChange({ pageBudget })}
        />
      )}
    </section>
  );
}

const HEIGHT = 48;
/** Width of a day's bar, with the gap to the next. */
const STEP = 10;
const WIDTH = 8;

/** Bytes of the last thirty days on the link: a bar each, and in words. */
function DataUse({ phone }: { phone: Phone }) {
  const { days, month } = phone.use;
  const most = Math.max(...days.map(({ linkBytes }) => linkBytes));
  if (most === 0) return null;
  const today = days.at(-1) ?? month;
  return (
    <section class="setting">
      <p class="fine">{t("Today {today}. This month {month}.", { today: useText(today), month: useText(month) })}</p>
      <div class="data-plot">
        <svg
          class="data-days"
          viewBox={`0 -4 ${days.length * STEP} ${HEIGHT + 8}`}
          role="img"
          aria-label={t("Data of the last {count} days, {size} on the largest", {
            count: days.length,
            size: formatBytes(most),
          })}
        >
          {[0, HEIGHT / 2, HEIGHT].map((y) => (
            <path key={y} class="data-line" d={`M0 ${y}h${days.length * STEP}`} />
          ))}
          {days.map(({ linkBytes }, index) => {
            const height = linkBytes === 0 ? 0 : Math.max(2, (linkBytes / most) * HEIGHT);
            return <rect key={index} x={index * STEP} y={HEIGHT - height} width={WIDTH} height={height} rx="1" />;
          })}
        </svg>
        <div class="data-axis fine" aria-hidden="true">
          <span>{formatBytes(most)}</span>
          <span>{formatBytes(most / 2)}</span>
          <span>{numberText(0)}</span>
        </div>
      </div>
      <p class="data-span fine" aria-hidden="true">
        <span>{new Intl.RelativeTimeFormat(localeTag()).format(1 - days.length, "day")}</span>
        <span>{t("Today")}</span>
      </p>
    </section>
  );
}

interface StoredSettingProps {
  readonly phone: Phone;
  /** As the person has chosen. */
  readonly storeBytes: number;
  readonly onChoose: (storeBytes: number) => void;
}

/** Data that pages have left on this phone: how much there is, may be, and is of each site. */
function StoredSetting({ phone, storeBytes, onChoose }: StoredSettingProps) {
  useEffect(() => phone.read(), []);
  const { stored } = phone;
  const quota = stored?.quota ?? Number.POSITIVE_INFINITY;
  const choices = STORE_SIZES.filter((size) => size <= quota || size === storeBytes);
  return (
    <>
      {stored !== null && (
        <>
          <p class="fine">
            {t("Stored pages: {size} of {most}", {
              size: formatBytes(stored.bytes),
              most: formatBytes(stored.bytesMax),
            })}
          </p>
          {stored.isKept !== null && (
            <p class="fine">
              {stored.isKept
                ? t("The browser has promised to keep them.")
                : t("The browser may delete them when this phone runs out of space.")}
            </p>
          )}
        </>
      )}
      <ChoiceSetting
        name="store-bytes"
        legend={t("Store at most")}
        choices={choices.map((value) => ({ value, label: formatBytes(value, true) }))}
        chosen={storeBytes}
        onChange={(bytes) => {
          onChoose(bytes);
          phone.read();
        }}
      />
      <KeptList pages={phone.kept} onUnkeep={(url) => void phone.unkeep(url)} />
      {stored !== null && stored.sites.length > 0 && (
        <StoredSites sites={stored.sites} onForget={(site) => phone.forgetSite(site)} />
      )}
    </>
  );
}

/** Sites shown before the person asks for all. */
const FIRST_SITES = 10;

function StoredSites({ sites, onForget }: { sites: readonly StoredSite[]; onForget: (site: string) => void }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? sites : sites.slice(0, FIRST_SITES);
  return (
    <details class="more">
      <summary>{t("Stored by site")}</summary>
      <ul>
        {shown.map(({ site, bytes }) => (
          <li key={site}>
            <ForgetSite
              label={t("Forget {site}", { site })}
              site={site}
              hint={formatBytes(bytes)}
              onForget={onForget}
            />
          </li>
        ))}
      </ul>
      {shown.length < sites.length && (
        <button type="button" class="text-button" onClick={() => setWhole(true)}>
          {t("Show all {count}", { count: sites.length })}
        </button>
      )}
    </details>
  );
}
