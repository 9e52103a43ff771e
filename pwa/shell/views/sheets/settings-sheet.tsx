import { useState } from "preact/hooks";
import type { Settings } from "../../app/app-state.ts";
import { CHANNEL_COUNTS, WAIT_TIMES } from "../../app/settings-store.ts";
import { linkText, useNow } from "../bar/link-pill.tsx";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import type { Ui } from "../ui.ts";
import { SearchSetting } from "./search-setting.tsx";
import { Sheet } from "./sheet.tsx";

type Choice<Value> = { readonly value: Value; readonly label: string };

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

const CHANNEL_CHOICES = CHANNEL_COUNTS.map((value) => ({ value, label: value === null ? "Auto" : String(value) }));

/** Every choice takes effect at once; there is nothing to save. */
export function SettingsSheet({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  const { settings } = state;
  const now = useNow(state.link.kind !== "open");
  return (
    <Sheet title="Settings" onClose={() => ui.change({ sheet: null })}>
      <ChoiceSetting
        name="theme"
        legend="Appearance"
        choices={THEMES}
        chosen={settings.theme}
        onChange={(theme) => actions.app.changeSettings({ theme })}
      />
      <SearchSetting
        searchUrl={settings.searchUrl}
        onChange={(searchUrl) => actions.app.changeSettings({ searchUrl })}
      />
      <ChoiceSetting
        name="wait-time"
        legend="When the link is gone, pages wait"
        choices={WAIT_CHOICES}
        chosen={settings.waitTime}
        onChange={(waitTime) => actions.app.changeSettings({ waitTime })}
      />
      <ChoiceSetting
        name="pushes"
        legend="Send what a page needs before it asks"
        choices={PUSH_CHOICES}
        chosen={settings.takesPushes}
        onChange={(takesPushes) => actions.app.changeSettings({ takesPushes })}
      />
      <ChoiceSetting
        name="channels"
        legend="Connections to the edge"
        choices={CHANNEL_CHOICES}
        chosen={settings.channels}
        onChange={(channels) => actions.app.changeSettings({ channels })}
      />
      <section class="setting">
        <h3>On this phone</h3>
        <ConfirmButton
          label="Forget recent sites"
          question="The list of recent sites will be empty. Pinned sites stay."
          confirm="Forget"
          done="Recent sites forgotten"
          onConfirm={() => actions.app.forgetRecent("all")}
        />
        <ConfirmButton
          label="Clear site data"
          question="Cookies, logins and stored pages of every site will be gone."
          confirm="Clear"
          done="Site data cleared"
          onConfirm={() => actions.app.clearSiteData()}
        />
      </section>
      <section class="setting">
        <h3>Edge</h3>
        <p class="setting-line">
          <span class="dot" data-link={state.link.kind} />
          {linkText(state.link, now)}
        </p>
        <details class="more">
          <summary>Pair with another key</summary>
          <KeyForm
            onKey={(accessKey) => {
              ui.change({ sheet: null });
              actions.app.pair(accessKey);
            }}
          />
        </details>
      </section>
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

interface ChoiceSettingProps<Value> {
  /** Unique in the sheet. */
  readonly name: string;
  readonly legend: string;
  readonly choices: readonly Choice<Value>[];
  readonly chosen: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few values, side by side. */
function ChoiceSetting<Value>({ name, legend, choices, chosen, onChange }: ChoiceSettingProps<Value>) {
  return (
    <fieldset class="setting">
      <legend>{legend}</legend>
      <div class="segments">
        {choices.map(({ value, label }) => (
          <label key={label} class="segment">
            <input type="radio" name={name} value={label} checked={chosen === value} onChange={() => onChange(value)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface ConfirmButtonProps {
  readonly label: string;
  readonly question: string;
  readonly confirm: string;
  readonly done: string;
  readonly onConfirm: () => void;
}

/** A button that asks once before it does something that cannot be taken back. */
function ConfirmButton({ label, question, confirm, done, onConfirm }: ConfirmButtonProps) {
  const [step, setStep] = useState<"rest" | "asking" | "done">("rest");
  if (step === "done") {
    return (
      <p class="setting-line" role="alert">
        {done}
      </p>
    );
  }
  return (
    <div class="confirm">
      <button
        type="button"
        class="menu-row"
        aria-expanded={step === "asking"}
        onClick={() => setStep(step === "asking" ? "rest" : "asking")}
      >
        {label}
        <Icon name="forward" />
      </button>
      {step === "asking" && (
        <div class="confirm-box">
          <p>{question}</p>
          <div class="actions">
            <button
              type="button"
              class="button button-danger"
              onClick={() => {
                onConfirm();
                setStep("done");
              }}
            >
              {confirm}
            </button>
            <button type="button" class="button" onClick={() => setStep("rest")}>
              Cancel
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
