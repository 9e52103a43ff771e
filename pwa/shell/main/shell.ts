/** Entry of the installed app's top-level page: gives the app its user interface. */
import { startShell } from "../app/start.ts";
import type { BrowserActions } from "../app/state.ts";
import { mountChrome } from "../views/mount.tsx";

/** The sheets' script takes from here what both need. */
export * from "../views/sheets/of-shell.ts";

declare global {
  interface Window {
    /** Path of the sheets' script; the build puts it here. */
    readonly __SHEETS: string;
  }
}

void startShell((root, tunnel, app, tabs) => {
  const actions: BrowserActions = {
    app,
    get tab() {
      return tabs.windows.shown.tab;
    },
    tabs,
  };
  return mountChrome(root, actions, async (attempt) => {
    const path = attempt === 0 ? self.__SHEETS : `${self.__SHEETS}?${attempt}`;
    const { openSheets } = (await import(path)) as typeof import("../views/sheets/sheets-chunk.tsx");
    return openSheets({ tunnel, app });
  });
});
