/** Entry of the script of history and bookmarks, which the shell loads when no page waits for it (`LateScript`). */

import type { BrowserActions, SiteTeller } from "../../app/state.ts";
import { Library, SearchEngines } from "../../library/library.ts";
import type { LibrarySheetName, Ui } from "../ui.ts";
import { BookmarkList } from "./bookmark-list.tsx";
import { HistoryList } from "./history-list.tsx";
import { SearchSettings } from "./search-settings.tsx";
import { SuggestionList } from "./suggestion-list.tsx";

export type LibraryViews = ReturnType<typeof openLibrary>;

export interface UiWithLibrary extends Ui {
  /** Null until its script is there; it is loaded when a sheet is opened, or the address box has the focus. */
  readonly library: LibraryViews | null;
}

/** The views of the library that the shell shows. */
export function openLibrary(app: SiteTeller) {
  const library = new Library(app, Date.now);
  const engines = new SearchEngines(localStorage);
  return {
    suggestions: (wanted: Omit<Parameters<typeof SuggestionList>[0], "library" | "engines">) => (
      <SuggestionList library={library} engines={engines} {...wanted} />
    ),
    /** Where shortcuts of search engines lead; other input as it is. */
    meant: (input: string) => engines.meant(input)?.url ?? input,
    searchSettings: (wanted: Omit<Parameters<typeof SearchSettings>[0], "engines">) => (
      <SearchSettings engines={engines} {...wanted} />
    ),
    isMarked: (url: string) => library.isMarked(url),
    /** As of `Library`. */
    toggleMark: (page: { readonly url: string; readonly title: string }) => void library.toggleMark(page),
    contentOf(name: LibrarySheetName, actions: BrowserActions, ui: Ui) {
      const Content = name === "history" ? HistoryList : BookmarkList;
      return <Content library={library} actions={actions} ui={ui} />;
    },
  };
}
