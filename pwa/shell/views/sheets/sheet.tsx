import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import type { Phone } from "../../app/phone.ts";
import { formatBytes } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { useId } from "../ui.ts";

interface SheetProps {
  readonly title: string;
  /** Shown in place of the plain title; the title stays the dialog's name. */
  readonly header?: ComponentChildren;
  /** `menu` hangs below the menu button on a wide screen. */
  readonly kind?: "card" | "menu";
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog: a sheet from the bottom on a phone, a card on a wide screen. Unmounting it gives the focus back. */
export function Sheet({ title, header, kind = "card", onClose, children }: SheetProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useLayoutEffect(() => {
    const dialog = dialogRef.current;
    if (!dialog) return;
    // The close event comes a task later, when another sheet may be open already: only this one's own counts.
    let isMounted = true;
    const closed = () => {
      if (isMounted) onClose();
    };
    dialog.addEventListener("close", closed);
    dialog.showModal();
    const { top, height } = dialog.getBoundingClientRect();
    const rows = [...dialog.querySelectorAll("button, select, input, summary, label")].map((control) => {
      const box = control.getBoundingClientRect();
      return { top: box.top - top, height: box.height };
    });
    const lower = heightWithoutSliver(height, rows);
    if (lower !== null) dialog.style.setProperty("--uncut-height", `${lower}px`);
    return () => {
      isMounted = false;
      dialog.removeEventListener("close", closed);
      dialog.close();
    };
  }, []);

  const closeOnBackdrop = (event: MouseEvent) => {
    if (event.target === dialogRef.current) dialogRef.current?.close();
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the platform closes a modal dialog with Escape itself
    <dialog class={`sheet sheet-${kind}`} ref={dialogRef} aria-labelledby={titleId} onClick={closeOnBackdrop}>
      <div class="sheet-body">
        <header class="sheet-header">
          <h2 id={titleId} class={header ? "visually-hidden" : ""}>
            {title}
          </h2>
          {header}
          <button type="button" class="icon-button" aria-label={t("Close")} onClick={() => dialogRef.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Least height of what a thumb hits, in pixels. */
const TARGET_HEIGHT = 44;

/**
 * A sheet that is lower than what is in it ends somewhere in a row: enough of that is shown to be hit, or nothing.
 *
 * @param height of the sheet; `rows` are those of controls, from its top.
 * @returns the height that it gets instead, or null where it is right.
 */
export function heightWithoutSliver(
  height: number,
  rows: readonly { readonly top: number; readonly height: number }[],
): number | null {
  const sliver = rows.find((row) => {
    const shown = height - row.top;
    return shown > 0 && shown < Math.min(TARGET_HEIGHT, row.height);
  });
  return sliver?.top ?? null;
}

interface SwitchSettingProps {
  readonly label: string;
  readonly isOn: boolean;
  /** The meaning of the switch as it stands. */
  readonly hint: string;
  readonly isBusy?: boolean;
  readonly onChange: () => void;
  readonly children?: ComponentChildren;
}

/** On or off. */
export function SwitchSetting({ label, isOn, hint, isBusy = false, onChange, children }: SwitchSettingProps) {
  const id = useId();
  return (
    <div class="keep">
      <button
        type="button"
        class="menu-row"
        role="switch"
        aria-checked={isOn}
        aria-describedby={id}
        disabled={isBusy}
        onClick={onChange}
      >
        <span class="confirm-label">{label}</span>
        <span class="switch" />
      </button>
      <p class="fine" id={id} role="status">
        {hint}
      </p>
      {children}
    </div>
  );
}

export interface Choice<Value> {
  readonly value: Value;
  readonly label: string;
}

interface ChoiceSettingProps<Value> {
  /** Unique in the sheet. */
  readonly name: string;
  readonly legend: string;
  /** The effect of the choice, in small. */
  readonly hint?: string;
  readonly choices: readonly Choice<Value>[];
  readonly chosen: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice of a few values, side by side. */
export function ChoiceSetting<Value>(props: ChoiceSettingProps<Value>) {
  const { name, legend, hint, choices, chosen, onChange } = props;
  const id = useId();
  return (
    <fieldset class="setting" aria-describedby={hint && id}>
      <legend>{legend}</legend>
      <div class="segments">
        {choices.map(({ value, label }) => (
          <label key={label} class="segment">
            <input type="radio" name={name} value={label} checked={chosen === value} onChange={() => onChange(value)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
      {hint && (
        <p class="fine" id={id}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}

interface ConfirmButtonProps {
  readonly label: string;
  /** In small, behind the label. */
  readonly hint?: string;
  readonly question: string;
  readonly confirm: string;
  readonly done: string;
  readonly onConfirm: () => void;
}

/** A button that asks once before it does something that cannot be taken back. */
export function ConfirmButton({ label, hint = "", question, confirm, done, onConfirm }: ConfirmButtonProps) {
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
        <span class="confirm-label">{label}</span>
        {hint !== "" && <span class="fine">{hint}</span>}
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
              {t("Cancel")}
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

interface ForgetSiteProps {
  readonly label: string;
  readonly site: string;
  readonly hint?: string;
  readonly onForget: (site: string) => void;
}

/** Asks once, and says what will be gone. */
export function ForgetSite({ label, site, hint = "", onForget }: ForgetSiteProps) {
  return (
    <ConfirmButton
      label={label}
      hint={hint}
      question={t(
        "Cookies, logins, stored and kept pages, downloads in the app and recent visits of {site} will be gone. Its pages close, also in other windows.",
        { site },
      )}
      confirm={t("Forget")}
      done={t("Forgetting {site}", { site })}
      onConfirm={() => onForget(site)}
    />
  );
}

/** Bytes that went over the link, and bytes that did not have to. */
export function useText({ linkBytes, originBytes }: ReturnType<Phone["useOf"]>): string {
  const saved = originBytes - linkBytes;
  return saved > 0
    ? t("{size}, {saved} saved", { size: formatBytes(linkBytes), saved: formatBytes(saved) })
    : formatBytes(linkBytes);
}
