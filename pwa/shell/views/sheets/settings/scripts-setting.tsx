import { siteName } from "../../../../messages/site-name.ts";
import { chooseScripts, liteSites } from "../../../app/lite-sites.ts";
import { storedConfig } from "../../../link/edge-config.ts";
import { SwitchSetting } from "./switch-setting.tsx";

/** Whether the site's pages run scripts, which the person chooses where the edge leaves a choice. */
export function ScriptsSetting({ url }: { url: string }) {
  if (storedConfig(localStorage)?.slotHost === null)
    return <p class="fine">Scripts are off: your edge has only one host. docs/deploy.md says how to turn them on.</p>;
  const isOn = !liteSites(localStorage).includes(siteName(url));
  return (
    <SwitchSetting
      label="Scripts on this site"
      isOn={isOn}
      hint={isOn ? "Off takes the least data; some pages need them" : "Off: the least data"}
      onChange={() => {
        chooseScripts(localStorage, url, !isOn);
        // Where pages live is decided when the app is opened, which opens this page again.
        location.reload();
      }}
    />
  );
}
