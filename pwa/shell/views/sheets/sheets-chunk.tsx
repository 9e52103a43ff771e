/** Entry of the sheets' script, which the shell loads when none waits for it (late-sheets.ts). */
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import type { SheetName, Ui } from "../ui.ts";
import { MenuSheet } from "./menu-sheet.tsx";
import { SettingsSheet } from "./settings-sheet.tsx";
import { SiteSheet } from "./site-sheet.tsx";

export function sheetOf(name: SheetName, state: BrowserState, actions: BrowserActions, ui: Ui) {
  switch (name) {
    case "menu":
      return <MenuSheet state={state} actions={actions} ui={ui} />;
    case "site":
      return <SiteSheet state={state} ui={ui} />;
    case "settings":
      return <SettingsSheet state={state} actions={actions} ui={ui} />;
  }
}
