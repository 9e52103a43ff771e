/** Entry of the installed app's top-level page: gives the app its user interface. */
import { importAgain } from "../../platform/platform.ts";
import { startShell } from "../app/start.ts";
import type { BrowserActions } from "../app/state.ts";
import { mountChrome } from "../views/mount.tsx";

declare global {
  interface Window {
    /** Path of the sheets' script; the build puts it here. */
    readonly __SHEETS: string;
    /** Likewise, of that of history and bookmarks. */
    readonly __LIBRARY: string;
  }
}

void startShell((root, tunnel, app, tabs) => {
  const actions: BrowserActions = {
    app,
    get tab() {
      return tabs.shown.tab;
    },
    tabs,
  };
  return mountChrome(root, actions, {
    async sheets() {
      const chunk = await importAgain<typeof import("../views/sheets/sheets-chunk.tsx")>(self.__SHEETS);
      return chunk.openSheets({ tunnel, app }, app.state.settings.language);
    },
    async library() {
      const chunk = await importAgain<typeof import("../views/library/library-chunk.tsx")>(self.__LIBRARY);
      return chunk.openLibrary(app);
    },
  });
});
