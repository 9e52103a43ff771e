/** Entry of the script of history and bookmarks, which the shell loads when no page waits for it (`LateScript`). */

import type { BrowserActions, SiteTeller } from "../../app/state.ts";
import { Library } from "../../library/library.ts";
import type { Ui } from "../ui.ts";
import { HistoryList } from "./history-list.tsx";

/** What the shell shows of the library. */
export function openLibrary(app: SiteTeller) {
  const library = new Library(app, Date.now);
  return {
    /** The content of the sheet. */
    historyList: (actions: BrowserActions, ui: Ui) => <HistoryList library={library} actions={actions} ui={ui} />,
  };
}
