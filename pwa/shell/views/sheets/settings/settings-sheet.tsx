import type { LinkPhase } from "../../../../messages/link.ts";
import type { Settings } from "../../../app/app-state.ts";
import type { DataUse } from "../../../app/data-use.ts";
import type { KeptPages } from "../../../app/kept-pages.ts";
import type { PageStorage } from "../../../app/phone-storage.ts";
import { WAIT_TIMES } from "../../../app/settings-store.ts";
import { linkText, useNow } from "../../bar/link-pill.tsx";
import type { BrowserActions, BrowserState } from "../../browser-state.ts";
import { Icon } from "../../parts/icons.tsx";
import { KeyForm } from "../../parts/key-form.tsx";
import type { Ui } from "../../ui.ts";
import { ConfirmButton } from "../confirm-button.tsx";
import { DataUseSection } from "../data-use-section.tsx";
import { Sheet } from "../sheet.tsx";
import { type Choice, ChoiceSetting } from "./choice-setting.tsx";
import { PictureSetting } from "./picture-setting.tsx";
import { SearchSetting } from "./search-setting.tsx";
import { type PhoneActions, StoredSetting } from "./stored-setting.tsx";
import { TrackerSetting } from "./tracker-setting.tsx";
import { WarmingSetting } from "./warming-setting.tsx";

const THEMES: readonly Choice<Settings["theme"]>[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const WAIT_CHOICES = WAIT_TIMES.map((value) => ({
  value,
  label: value < 60_000 ? `${value / 1_000} s` : `${value / 60_000} min`,
}));

const PUSH_CHOICES = [
  { value: true, label: "Yes, faster" },
  { value: false, label: "No, least data" },
] as const;

interface SettingsProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly phone: PhoneActions & {
    readonly stored: PageStorage | null;
    readonly kept: KeptPages;
    readonly use: DataUse;
  };
  readonly ui: Ui;
}

/** Every choice takes effect at once; there is nothing to save. */
export function SettingsSheet({ state, actions, phone, ui }: SettingsProps) {
  const close = () => ui.change({ sheet: null });
  return (
    <Sheet title="Settings" onClose={close}>
      <Choices settings={state.settings} onChange={(change) => actions.app.changeSettings(change)} />
      <DataUseSection use={phone.use} />
      <section class="setting">
        <h3>On this phone</h3>
        <StoredSetting
          stored={phone.stored}
          kept={phone.kept.all}
          storeBytes={state.settings.storeBytes}
          onChoose={(storeBytes) => actions.app.changeSettings({ storeBytes })}
          actions={phone}
        />
        <ConfirmButton
          label="Forget recent sites"
          question="The list of recent sites will be empty. Pinned sites stay."
          confirm="Forget"
          done="Recent sites forgotten"
          onConfirm={() => actions.app.forgetRecent("all")}
        />
        <ConfirmButton
          label="Clear site data"
          question="Cookies, logins, stored and kept pages of every site will be gone."
          confirm="Clear"
          done="Site data is being cleared"
          onConfirm={() => actions.app.clearSiteData()}
        />
      </section>
      <Edge
        link={state.link}
        onDevices={() => ui.change({ sheet: "devices" })}
        onKey={(accessKey) => {
          close();
          actions.app.pair(accessKey);
        }}
      />
      <section class="setting">
        <h3>About</h3>
        <p class="fine">
          Ropeway loads the web over one WebSocket between this phone and an edge that you run. Your edge can read the
          pages that pass through it, so run it yourself or trust who does. MIT licence.
        </p>
      </section>
    </Sheet>
  );
}

interface ChoicesProps {
  readonly settings: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
}

function Choices({ settings, onChange }: ChoicesProps) {
  return (
    <>
      <ChoiceSetting
        name="theme"
        legend="Appearance"
        choices={THEMES}
        chosen={settings.theme}
        onChange={(theme) => onChange({ theme })}
      />
      <SearchSetting searchUrl={settings.searchUrl} onChange={(searchUrl) => onChange({ searchUrl })} />
      <ChoiceSetting
        name="wait-time"
        legend="When the link is gone, pages wait"
        choices={WAIT_CHOICES}
        chosen={settings.waitTime}
        onChange={(waitTime) => onChange({ waitTime })}
      />
      <PictureSetting settings={settings} onChange={onChange} />
      <TrackerSetting settings={settings} onChange={onChange} />
      <ChoiceSetting
        name="pushes"
        legend="Send what a page needs before it asks"
        choices={PUSH_CHOICES}
        chosen={settings.takesPushes}
        onChange={(takesPushes) => onChange({ takesPushes })}
      />
      <WarmingSetting settings={settings} onChange={onChange} />
    </>
  );
}

interface EdgeProps {
  readonly link: LinkPhase;
  readonly onDevices: () => void;
  readonly onKey: (accessKey: string) => void;
}

function Edge({ link, onDevices, onKey }: EdgeProps) {
  const now = useNow(link.kind !== "open");
  return (
    <section class="setting">
      <h3>Edge</h3>
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
    </section>
  );
}
