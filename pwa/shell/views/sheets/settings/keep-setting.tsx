import { useState } from "preact/hooks";
import type { KeepResult, KeptPages } from "../../../app/kept-pages.ts";
import { keepText } from "../keep-text.ts";
import { SwitchSetting } from "./switch-setting.tsx";

interface KeepSettingProps {
  readonly url: string;
  readonly title: string;
  readonly kept: KeptPages;
  /** What is kept has changed. */
  readonly onChange: () => void;
}

/** Keeps the page that is shown, or keeps it no longer. */
export function KeepSetting({ url, title, kept, onChange }: KeepSettingProps) {
  const [result, setResult] = useState<KeepResult | null>(null);
  const [isBusy, setBusy] = useState(false);
  const page = kept.find(url);
  const change = async (task: () => Promise<KeepResult | null>): Promise<void> => {
    setBusy(true);
    setResult(await task());
    setBusy(false);
    onChange();
  };
  const keep = () => change(() => kept.keep(url, title));
  const unkeep = () => change(() => kept.unkeep(url).then(() => null));
  return (
    <SwitchSetting
      label="Keep this page"
      isOn={page !== null}
      hint={keepText(page, result, Date.now())}
      isBusy={isBusy}
      onChange={page === null ? keep : unkeep}
    >
      {page !== null && (
        <button type="button" class="text-button" disabled={isBusy} onClick={keep}>
          Keep it as it is now
        </button>
      )}
    </SwitchSetting>
  );
}
