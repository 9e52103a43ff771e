import { siteName } from "../../../../messages/site-name.ts";
import type { Settings } from "../../../app/app-state.ts";
import { storedConfig } from "../../../link/edge-config.ts";
import { SwitchSetting } from "./switch-setting.tsx";

interface TrackerProps {
  readonly settings: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
}

/** Whether the edge has a block list. */
function canBlock(): boolean {
  return storedConfig(localStorage)?.blocksTrackers === true;
}

/** In the settings: for all sites. */
export function TrackerSetting({ settings: { blocksTrackers }, onChange }: TrackerProps) {
  if (!canBlock()) return null;
  return (
    <section class="setting">
      <SwitchSetting
        label="Block trackers"
        isOn={blocksTrackers}
        hint="Your edge stops what its list names before it is loaded. Pages you open are never stopped."
        onChange={() => onChange({ blocksTrackers: !blocksTrackers })}
      />
    </section>
  );
}

/** In the site panel: what was stopped of the page, and a way to let all of the site's pages load all. */
export function SiteTrackerSetting({ settings, onChange, url, count }: TrackerProps & SiteProps) {
  if (!settings.blocksTrackers || !canBlock()) return null;
  const site = siteName(url);
  const others = settings.trackerExceptions.filter((each) => each !== site);
  const isOn = others.length === settings.trackerExceptions.length;
  const trackerExceptions = isOn ? [...others, site] : others;
  return (
    <SwitchSetting
      label="Block trackers on this site"
      isOn={isOn}
      hint={isOn ? countText(count) : "Reload the page to load all of it"}
      onChange={() => onChange({ trackerExceptions })}
    />
  );
}

interface SiteProps {
  readonly url: string;
  /** Requests of the page shown that were stopped. */
  readonly count: number;
}

function countText(count: number): string {
  if (count === 0) return "None on this page so far";
  return count === 1 ? "1 request stopped on this page" : `${count} requests stopped on this page`;
}
