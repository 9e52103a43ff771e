import { render } from "preact";
import type { KeyPress } from "../../messages/page-messages.ts";
import { shortcutFor } from "../../slot/shortcuts.ts";
import { announcement } from "./announcement.ts";
import { Bar } from "./bar/bar.tsx";
import type { BrowserActions, BrowserState } from "./browser-state.ts";
import type { LateSheets } from "./late-sheets.ts";
import { neverNested } from "./never-nested.ts";
import { drawPageHead } from "./page-head.ts";
import { chooseView, type View } from "./pages/choose-view.ts";
import { ErrorView } from "./pages/error-view.tsx";
import { OpeningView } from "./pages/opening-view.tsx";
import { PairingView } from "./pages/pairing-view.tsx";
import { StartView } from "./pages/start-view.tsx";
import type { Ui, UiState } from "./ui.ts";
import { followVisualViewport } from "./viewport.ts";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** The browser's own user interface. */
export interface Chrome {
  /** Draws the state, synchronously. */
  render(state: BrowserState): void;
  /** Where the page's iframe goes. Never re-created or moved: a moved iframe reloads. */
  readonly frameHost: HTMLElement;
  /** Gives the page the focus, unless the person is busy with the address box or a sheet. */
  focusPage(): void;
  /** Does what a key asks for. @returns whether it is one of the app's. */
  press(press: KeyPress): boolean;
  openSettings(): void;
}

type Sheets = Pick<ReturnType<typeof import("./sheets/sheets-chunk.tsx").openSheets>, "sheetOf" | "keptSection">;

/** Takes over `root`, replacing the skeleton in it, and listens to the window's keys for as long as it lives. */
export function mountChrome(root: HTMLElement, actions: BrowserActions, lateSheets: LateSheets<Sheets>): Chrome {
  const { barHost, frameHost, view, sheets, status } = furnish(root);
  let state: BrowserState | null = null;
  let uiState: UiState = { sheet: null, isEditing: false };
  let shown: View | null = null;

  const draw = neverNested(() => {
    if (!state) return;
    const ui: Ui = { ...uiState, change: changeUi };
    const previous = shown;
    shown = chooseView(state, previous);
    drawPageHead(document, state);
    render(<Bar state={state} actions={actions} ui={ui} />, barHost);
    render(viewOf(shown, state, actions, lateSheets.loaded), view);
    render(ui.sheet && (lateSheets.loaded?.sheetOf(ui.sheet, state, actions, ui) ?? null), sheets);
    view.hidden = shown === "page";
    // While an address is typed, too: then a tap on the page is one that the address box can tell from a page's script.
    frameHost.inert = shown !== "page" || uiState.isEditing;
    if (shown !== previous) view.scrollTop = 0;
    const words = announcement(state);
    if (status.textContent !== words) status.textContent = words;
  });
  const changeUi = (change: Partial<UiState>) => {
    uiState = { ...uiState, ...change };
    if (uiState.sheet !== null && lateSheets.loaded === null) {
      void lateSheets.loadFor(draw, () => uiState.sheet !== null);
    }
    draw();
  };

  const chrome: Chrome = {
    render(next) {
      state = next;
      draw();
    },
    frameHost,
    focusPage() {
      if (shown === "page" && !uiState.isEditing && uiState.sheet === null)
        focusFrame(frameHost.querySelector("iframe"));
    },
    press(press) {
      const shortcut = state && uiState.sheet === null ? shortcutFor(press, state.phase, IS_MAC) : null;
      if (shortcut === "address") barHost.querySelector("input")?.focus();
      else if (shortcut !== null) actions.tab[shortcut]();
      return shortcut !== null;
    },
    openSettings: () => changeUi({ sheet: "settings" }),
  };
  window.addEventListener("keydown", (event) => {
    if (!event.defaultPrevented && chrome.press(event)) event.preventDefault();
  });
  if (window.visualViewport) followVisualViewport(root, window.visualViewport);
  return chrome;
}

/** The chrome's elements, which stay for as long as it lives. */
function furnish(root: HTMLElement) {
  const barHost = element("div", "bar-host");
  const frameHost = element("div", "frame-host");
  const view = element("div", "view");
  const main = element("main", "stage");
  const sheets = element("div", "sheets");
  const status = element("p", "visually-hidden");
  status.setAttribute("role", "status");
  main.append(frameHost, view);
  root.classList.add("app");
  root.replaceChildren(barHost, main, sheets, status);
  return { barHost, frameHost, view, sheets, status };
}

function focusFrame(frame: HTMLIFrameElement | null): void {
  frame?.focus();
  // It may have been focused already, for the document before.
  frame?.contentWindow?.focus();
}

function viewOf(view: View, state: BrowserState, actions: BrowserActions, sheets: Sheets | null) {
  switch (view) {
    case "page":
      return null;
    case "start":
      return <StartView state={state} actions={actions} kept={sheets?.keptSection(actions)} />;
    case "opening":
      return <OpeningView state={state} actions={actions} />;
    case "error":
      return state.error && <ErrorView error={state.error} tryingAgain={state.tryingAgain} actions={actions} />;
    case "pairing":
      return <PairingView link={state.link} onKey={(accessKey) => actions.app.pair(accessKey)} />;
  }
}

function element(name: string, className: string): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  return made;
}
