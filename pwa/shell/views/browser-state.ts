/** What the views draw: the app, and the tab that is shown. They change neither but by these actions. */
import type { AppActions, AppState } from "../app/app-state.ts";
import type { TabActions, TabState } from "../tab/tab-state.ts";

export type BrowserState = AppState & TabState;

export interface BrowserActions {
  readonly app: AppActions;
  readonly tab: TabActions;
}
