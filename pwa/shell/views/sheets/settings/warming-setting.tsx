import type { Settings } from "../../../app/app-state.ts";
import { SwitchSetting } from "./switch-setting.tsx";

interface WarmingProps {
  readonly settings: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
}

export function WarmingSetting({ settings: { warmsLinks }, onChange }: WarmingProps) {
  return (
    <section class="setting">
      <SwitchSetting
        label="Load likely links ahead"
        isOn={warmsLinks}
        hint="Uses more data: up to three links in view load before you tap, never on mobile data."
        onChange={() => onChange({ warmsLinks: !warmsLinks })}
      />
    </section>
  );
}
