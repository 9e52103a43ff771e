/** Entry of the installed app's top-level page: gives the app its user interface. */
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
  const load = (path: string, attempt: number) => import(attempt === 0 ? path : `${path}?${attempt}`);
  return mountChrome(root, actions, {
    async sheets(attempt) {
      const chunk: typeof import("../views/sheets/sheets-chunk.tsx") = await load(self.__SHEETS, attempt);
      return chunk.openSheets({ tunnel, app }, app.state.settings.language);
    },
    async library(attempt) {
      const chunk: typeof import("../views/library/library-chunk.tsx") = await load(self.__LIBRARY, attempt);
      return chunk.openLibrary(app);
    },
  });
});
