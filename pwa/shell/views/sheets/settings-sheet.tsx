import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { VERSION } from "../../../../shared/version.ts";
import type { LinkPhase, StoredSite } from "../../../messages/tunnel-messages.ts";
import { type Phone, reloadApp } from "../../app/phone.ts";
import { PAGE_BUDGETS, STORE_SIZES, savesData, WAIT_TIMES } from "../../app/settings.ts";
import type { BrowserActions, BrowserState, PictureChoice, Settings } from "../../app/state.ts";
import { linkText, useNow } from "../bar/link-pill.tsx";
import { formatBytes } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import type { Ui } from "../ui.ts";
import { KeptList } from "./kept-pages.tsx";
import { type Choice, ChoiceSetting, ConfirmButton, ForgetSite, Sheet, SwitchSetting, useText } from "./sheet.tsx";

const THEMES: readonly Choice<Settings["theme"]>[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const WAIT_CHOICES = WAIT_TIMES.map((value) => ({
  value,
  label: value < 60_000 ? `${value / 1_000} s` : `${value / 60_000} min`,
}));

interface SettingsProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly phone: Phone;
  readonly ui: Ui;
}

/** Every choice takes effect at once; there is nothing to save. */
export function SettingsSheet({ state, actions, phone, ui }: SettingsProps) {
  const { settings } = state;
  const close = () => ui.change({ sheet: null });
  const onChange = (change: Partial<Settings>) => actions.app.changeSettings(change);
  return (
    <Sheet title="Settings" onClose={close}>
      <Group title="Looks and search">
        <ChoiceSetting
          name="theme"
          legend="Appearance"
          choices={THEMES}
          chosen={settings.theme}
          onChange={(theme) => onChange({ theme })}
        />
        {ui.library?.searchSettings({
          searchUrl: settings.searchUrl,
          onChange: (searchUrl) => onChange({ searchUrl }),
        })}
      </Group>
      <Group title="Data">
        <DataUse phone={phone} />
        <PictureSetting settings={settings} onChange={onChange} />
        <SavingSettings settings={settings} phone={phone} onChange={onChange} />
      </Group>
      <Group title="Without a signal">
        <ChoiceSetting
          name="wait-time"
          legend="Keep trying to load a page for"
          choices={WAIT_CHOICES}
          chosen={settings.waitTime}
          onChange={(waitTime) => onChange({ waitTime })}
        />
      </Group>
      <Group title="On this phone">
        <StoredSetting
          phone={phone}
          storeBytes={settings.storeBytes}
          onChoose={(storeBytes) => actions.app.changeSettings({ storeBytes })}
        />
        <Forgetting actions={actions} />
      </Group>
      <Group title="Your edge">
        <Edge
          link={state.link}
          onDevices={() => ui.change({ sheet: "devices" })}
          onKey={(accessKey) => {
            close();
            actions.app.pair(accessKey);
          }}
        />
      </Group>
      <Group title="About Ropeway">
        <About />
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
        label="Ask sites to send less"
        isOn={savesData(settings)}
        hint="Tells every site that you want to save data (Save-Data). Some then send smaller pages."
        onChange={() => onChange({ savesData: !savesData(settings) })}
      />
      {phone.edge?.blocksTrackers === true && (
        <SwitchSetting
          label="Block trackers"
          isOn={blocksTrackers}
          hint="Your edge stops what its list names before it is loaded. Pages you open are never stopped."
          onChange={() => onChange({ blocksTrackers: !blocksTrackers })}
        />
      )}
      <SwitchSetting
        label="Load parts of a page early"
        isOn={takesPushes}
        hint={
          takesPushes
            ? "Pages show sooner. A little of the data may not be needed."
            : "Each part comes when the page asks for it: slower, with the least data."
        }
        onChange={() => onChange({ takesPushes: !takesPushes })}
      />
      <SwitchSetting
        label="Load likely links ahead"
        isOn={warmsLinks}
        hint="Uses more data: up to three links in view load before you tap, never on mobile data."
        onChange={() => onChange({ warmsLinks: !warmsLinks })}
      />
    </>
  );
}

function Forgetting({ actions }: Pick<SettingsProps, "actions">) {
  return (
    <>
      <ConfirmButton
        label="Forget history"
        question="History and the list of recent sites will be empty. Pinned sites and bookmarks stay."
        confirm="Forget"
        done="History forgotten"
        onConfirm={() => actions.app.forgetRecent("all")}
      />
      <ConfirmButton
        label="Clear site data"
        question="Cookies, logins, stored and kept pages of every site, and downloads in the app, will be gone."
        confirm="Clear"
        done="Site data is being cleared"
        onConfirm={() => actions.app.clearSiteData()}
      />
    </>
  );
}

/** Whether a newer version of the app is there. */
type Version = "not asked" | "asking" | "newest" | "newer" | "unknown";

const VERSION_TEXTS: Record<Version, string> = {
  "not asked": "",
  asking: "Looking…",
  newest: "This is the newest version.",
  newer: "A newer version is here. It starts when the app is opened again.",
  unknown: "Your edge could not be asked. Try again later.",
};

const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
/** The app's worker is of a newer version than this page by now. */
let hasNewer = false;
// At the first visit there was none before.
if (workers?.controller) {
  workers.addEventListener("controllerchange", () => {
    hasNewer = true;
  });
}

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
      hasNewer ||= coming.state === "activated";
    }
    return hasNewer ? "newer" : "newest";
  } catch {
    return "unknown";
  }
}

function About() {
  const [version, setVersion] = useState<Version>(hasNewer ? "newer" : "not asked");
  return (
    <>
      <p class="fine">
        Version {VERSION}. Ropeway loads the web over one lasting connection between this phone and an edge that you
        run. Your edge can read the pages that pass through it, so run it yourself or trust whoever does. MIT licence.
      </p>
      <div role="status">{version !== "not asked" && <p class="setting-line">{VERSION_TEXTS[version]}</p>}</div>
      {version === "newer" ? (
        <button type="button" class="button" onClick={() => reloadApp()}>
          Open it now
        </button>
      ) : (
        <button
          type="button"
          class="menu-row"
          disabled={version === "asking"}
          onClick={() => {
            setVersion("asking");
            void lookForUpdate().then(setVersion);
          }}
        >
          <span class="confirm-label">Look for updates</span>
          <Icon name="forward" />
        </button>
      )}
      <details class="more">
        <summary>Help</summary>
        <dl class="help">
          {HELP.map(([question, answer]) => (
            <>
              <dt>{question}</dt>
              <dd>{answer}</dd>
            </>
          ))}
        </dl>
      </details>
    </>
  );
}

const HELP: readonly (readonly [question: string, answer: string])[] = [
  [
    "Nothing loads",
    "See “Your edge” above. If it is not connected, check the signal and that the edge runs. If this phone is not paired any more, enter the edge’s key again.",
  ],
  [
    "A page looks wrong or does nothing",
    "Tap the sign before the address. There you can load what waits, let the site run scripts, and stop blocking trackers on it.",
  ],
  ["Pages cost too much", "Under “Data” choose smaller pictures and a page budget, and switch off what loads early."],
  [
    "Pages without a signal",
    "Sites that you have visited open as they were, marked as stored. Keep a page from its site information to be sure of it.",
  ],
  ["Another phone", "Open “Paired devices” and show a code there. It pairs one device."],
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
        <span class="confirm-label">Paired devices</span>
        <Icon name="forward" />
      </button>
      <details class="more">
        <summary>Pair with another key</summary>
        <KeyForm onKey={onKey} />
      </details>
    </>
  );
}

const CHOICES: readonly (readonly [value: PictureChoice, label: string, hint: string])[] = [
  ["off", "As sites send them", "Nothing is changed."],
  ["balanced", "Smaller", "Half of the bytes or less, hardly a difference to see."],
  ["strong", "Much smaller", "A tap on a picture loads the original."],
  ["none", "After a tap", "Films, too. Each shows how large it is; a tap loads it."],
  ["auto", "Smaller on slow links", "As they are while the link is quick."],
];

const BUDGETS = PAGE_BUDGETS.map((value) => ({
  value,
  label: value === null ? "None" : formatBytes(value).replace(".0", ""),
}));

/** How much of the data plan pictures may take. It holds for what is loaded from then on. */
function PictureSetting({ settings, onChange }: ChangeProps) {
  const id = useId();
  const hint = CHOICES.find(([value]) => value === settings.pictures)?.[2];
  return (
    <section class="setting">
      <h4>
        <label for={id}>Pictures</label>
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
            {label}
          </option>
        ))}
      </select>
      <p class="fine" id={`${id}-hint`}>
        {hint}
      </p>
      {settings.pictures !== "none" && (
        <ChoiceSetting
          name="page-budget"
          legend="Page budget"
          hint="Pictures that would pass it wait for a tap, and so do films."
          choices={BUDGETS}
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
      <p class="fine">
        Today {useText(today)}. This month {useText(month)}.
      </p>
      <div class="data-plot">
        <svg
          class="data-days"
          viewBox={`0 -4 ${days.length * STEP} ${HEIGHT + 8}`}
          role="img"
          aria-label={`Data of the last ${days.length} days, ${formatBytes(most)} on the largest`}
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
          <span>0</span>
        </div>
      </div>
      <p class="data-span fine" aria-hidden="true">
        <span>{days.length - 1} days ago</span>
        <span>Today</span>
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
            Stored pages: {formatBytes(stored.bytes)} of {formatBytes(stored.bytesMax)}
          </p>
          {stored.isKept !== null && (
            <p class="fine">
              {stored.isKept
                ? "The browser has promised to keep them."
                : "The browser may delete them when this phone runs out of space."}
            </p>
          )}
        </>
      )}
      <ChoiceSetting
        name="store-bytes"
        legend="Store at most"
        choices={choices.map((value) => ({ value, label: formatBytes(value).replace(".0", "") }))}
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
      <summary>Stored by site</summary>
      <ul>
        {shown.map(({ site, bytes }) => (
          <li key={site}>
            <ForgetSite label={`Forget ${site}`} site={site} hint={formatBytes(bytes)} onForget={onForget} />
          </li>
        ))}
      </ul>
      {shown.length < sites.length && (
        <button type="button" class="text-button" onClick={() => setWhole(true)}>
          Show all {sites.length}
        </button>
      )}
    </details>
  );
}
