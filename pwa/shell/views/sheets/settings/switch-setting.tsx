import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface SwitchSettingProps {
  readonly label: string;
  readonly isOn: boolean;
  /** What it means as it stands. */
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
