import { useId } from "preact/hooks";
import type { PictureChoice, Settings } from "../../../app/app-state.ts";
import { PAGE_BUDGETS, savesData } from "../../../app/settings-store.ts";
import { formatBytes } from "../../parts/format.ts";
import { ChoiceSetting } from "./choice-setting.tsx";
import { SwitchSetting } from "./switch-setting.tsx";

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

interface PictureSettingProps {
  readonly settings: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
}

/** How much of the data plan pictures may take. It holds for what is loaded from then on. */
export function PictureSetting({ settings, onChange }: PictureSettingProps) {
  const id = useId();
  const hint = CHOICES.find(([value]) => value === settings.pictures)?.[2];
  return (
    <section class="setting">
      <h3>
        <label for={id}>Pictures</label>
      </h3>
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
      <SwitchSetting
        label="Ask sites to send less"
        isOn={savesData(settings)}
        hint="Tells every site you want to save data (Save-Data). Some then send smaller pages."
        onChange={() => onChange({ savesData: !savesData(settings) })}
      />
    </section>
  );
}
