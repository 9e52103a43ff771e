/** Entry of the sheets' script, which the shell loads when none waits for it (late-sheets.ts). */
import type { TunnelStats } from "../../../messages/tunnel-messages.ts";
import type { App } from "../../app/app.ts";
import { DataUse } from "../../app/data-use.ts";
import { KeptPages } from "../../app/kept-pages.ts";
import { PhoneStorage } from "../../app/phone-storage.ts";
import { SiteForgetting } from "../../app/site-forgetting.ts";
import { SiteUse } from "../../app/site-use.ts";
import type { TunnelClient } from "../../link/tunnel-client.ts";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import type { SheetName, Ui } from "../ui.ts";
import { DevicesSheet, loadDevices } from "./devices-sheet.tsx";
import { KeptSection } from "./kept-list.tsx";
import { MenuSheet } from "./menu-sheet.tsx";
import { SettingsSheet } from "./settings/settings-sheet.tsx";
import { SiteSheet } from "./site-sheet.tsx";

const FORGOTTEN_CHANNEL = "ropeway.forgotten";

/** The sheets, and what they alone show and ask for. */
export function openSheets({ tunnel, app }: { readonly tunnel: TunnelClient; readonly app: App }) {
  const storage = openStorage(tunnel);
  const draw = () => app.draw();
  const kept = new KeptPages(tunnel);
  const use = new DataUse(localStorage, Date.now);
  const siteUse = new SiteUse(localStorage, Date.now);
  const count = () => tunnel.stats().then((stats) => use.add(stats));
  const read = () => void Promise.all([storage.read(), kept.read(), count()]).then(draw);
  // Pages may have loaded before this was there.
  void count();
  const forgetting = new SiteForgetting({
    tunnel,
    channel: new BroadcastChannel(FORGOTTEN_CHANNEL),
    locks: navigator.locks ?? null,
    forgetHere: (isOf) => {
      kept.forget(isOf);
      app.forgetSites(isOf);
    },
    onDone: (why) => {
      if (why !== "") app.notify({ kind: "not-cleared", why });
      read();
    },
  });
  window.addEventListener("appinstalled", () => void storage.installed().then(draw));
  const forgetSite = (site: string) => forgetting.forget(site);
  // Where the app is installed, the scripts that this needs are at hand.
  if (navigator.serviceWorker?.controller) {
    void kept.read().then(draw);
    void loadDevices(0).then(
      ({ renew }) => renew(),
      () => {},
    );
  }
  return {
    read,
    siteUse,
    pageLoaded(stats: TunnelStats): void {
      use.add(stats);
      void storage.pageLoaded(stats).then(draw);
    },
    keptSection: ({ tab }: BrowserActions) => <KeptSection pages={kept.all} onOpen={(url) => tab.go(url)} />,
    sheetOf(name: SheetName, state: BrowserState, actions: BrowserActions, ui: Ui) {
      const unkeep = (url: string) => void kept.unkeep(url).then(draw);
      const phone = { stored: storage.current, kept, use, siteUse, read, forgetSite, unkeep, onKept: draw };
      switch (name) {
        case "menu":
          return <MenuSheet state={state} actions={actions} ui={ui} />;
        case "site":
          return <SiteSheet state={state} actions={actions} phone={phone} ui={ui} />;
        case "devices":
          return <DevicesSheet onClose={() => ui.change({ sheet: null })} />;
        case "settings":
          return <SettingsSheet state={state} actions={actions} phone={phone} ui={ui} />;
      }
    },
  };
}

function openStorage(tunnel: TunnelClient): PhoneStorage {
  return new PhoneStorage({
    tunnel,
    manager: navigator.storage ?? null,
    isInstalled: () => !matchMedia("(display-mode: browser)").matches,
    asksPerson: /Firefox\//.test(navigator.userAgent),
  });
}
