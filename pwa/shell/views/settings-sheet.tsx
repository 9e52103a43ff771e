import { useState } from "preact/hooks";
import type { BrowserActions, BrowserState, Settings } from "../browser-state.ts";
import { WAIT_TIMES } from "../settings-store.ts";
import { Icon } from "./icons.tsx";
import { KeyForm } from "./key-form.tsx";
import { linkText, useNow } from "./link-pill.tsx";
import { SearchSetting } from "./search-setting.tsx";
import { Sheet } from "./sheet.tsx";
import type { Ui } from "./ui.ts";

const THEMES: readonly { readonly value: Settings["theme"]; readonly label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const PUSH_CHOICES = [
  { takesPushes: true, label: "Yes, faster" },
  { takesPushes: false, label: "No, least data" },
] as const;

/** Every choice takes effect at once; there is nothing to save. */
export function SettingsSheet({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  const { settings } = state;
  const now = useNow(state.link.kind !== "open");
  return (
    <Sheet title="Settings" onClose={() => ui.change({ sheet: null })}>
      <fieldset class="setting">
        <legend>Appearance</legend>
        <div class="segments">
          {THEMES.map(({ value, label }) => (
            <label key={value} class="segment">
              <input
                type="radio"
                name="theme"
                value={value}
                checked={settings.theme === value}
                onChange={() => actions.changeSettings({ theme: value })}
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <SearchSetting searchUrl={settings.searchUrl} onChange={(searchUrl) => actions.changeSettings({ searchUrl })} />
      <fieldset class="setting">
        <legend>When the link is gone, pages wait</legend>
        <div class="segments">
          {WAIT_TIMES.map((waitTime) => (
            <label key={waitTime} class="segment">
              <input
                type="radio"
                name="wait-time"
                value={waitTime}
                checked={settings.waitTime === waitTime}
                onChange={() => actions.changeSettings({ waitTime })}
              />
              <span>{waitTime < 60_000 ? `${waitTime / 1_000} s` : `${waitTime / 60_000} min`}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset class="setting">
        <legend>Send what a page needs before it asks</legend>
        <div class="segments">
          {PUSH_CHOICES.map(({ takesPushes, label }) => (
            <label key={label} class="segment">
              <input
                type="radio"
                name="pushes"
                value={label}
                checked={settings.takesPushes === takesPushes}
                onChange={() => actions.changeSettings({ takesPushes })}
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <section class="setting">
        <h3>On this phone</h3>
        <ConfirmButton
          label="Forget recent sites"
          question="The list of recent sites will be empty. Pinned sites stay."
          confirm="Forget"
          done="Recent sites forgotten"
          onConfirm={() => actions.forgetRecent("all")}
        />
        <ConfirmButton
          label="Clear site data"
          question="Cookies, logins and stored pages of every site will be gone."
          confirm="Clear"
          done="Site data cleared"
          onConfirm={() => actions.clearSiteData()}
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
              actions.pair(accessKey);
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
