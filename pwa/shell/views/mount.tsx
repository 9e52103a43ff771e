import { render, type VNode } from "preact";
import { type Clock, setTimer } from "../../../shared/clock.ts";
import { shortcutFor } from "../../slot/shortcuts.ts";
import { keptLanguage, SOURCE, speak, t } from "../app/language.ts";
import type { Chrome } from "../app/start.ts";
import type { BrowserActions, BrowserState } from "../app/state.ts";
import { Bar, failureText, NEWER_VERSION, noticeText } from "./bar/bar.tsx";
import { isWaiting } from "./bar/link-pill.tsx";
import type { LibraryViews, UiWithLibrary } from "./library/library-chunk.tsx";
import { errorText } from "./pages/error-view.tsx";
import { chooseView, type View, viewOf } from "./pages/views.tsx";
import { shortHost } from "./parts/format.ts";
import type { SheetName, Ui, UiState } from "./ui.ts";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

type Sheets = ReturnType<typeof import("./sheets/sheets-chunk.tsx").openSheets>;

interface LateScripts {
  sheets(): Promise<Sheets>;
  library(): Promise<LibraryViews>;
}

/**
 * Takes over `root`, replacing the skeleton in it, and listens to the window's keys for as long as it lives.
 *
 * @param late as of `LateScriptPlatform`.
 */
export function mountChrome(root: HTMLElement, actions: BrowserActions, late: LateScripts): Chrome {
  const drawnWith = { setTimer, onReady: () => draw() };
  const areSheetsWanted = () => isSheetWanted() || uiState.isFinding || shown === "error";
  const isLibraryWanted = () => isSheetWanted() || uiState.isEditing;
  const lateSheets = new LateScript({ ...drawnWith, load: late.sheets, isWanted: areSheetsWanted });
  const lateLibrary = new LateScript({ ...drawnWith, load: late.library, isWanted: isLibraryWanted });
  speakAsKept(lateSheets);
  const { barHost, findHost, frameHost, frames, view, sheets, regions } = furnish(root);
  let state: BrowserState | null = null;
  let uiState: UiState = { ...NOTHING_OVER, isEditing: false };
  let shown: View | null = null;
  const tell = announcementsIn(regions);

  const draw = neverNested(() => {
    if (!state) return;
    const ui: UiWithLibrary = { ...uiState, library: lateLibrary.loaded, change: changeUi };
    const previous = shown;
    shown = chooseView(state, previous);
    drawPageHead(document, state);
    drawBar(<Bar state={state} actions={actions} ui={ui} />, barHost, shown === "page" ? shownFrame(frames) : null);
    render(viewOf(shown, state, actions, ui, lateSheets.loaded ?? undefined), view);
    const sheet = sheetOf(state, ui);
    render(sheet && (lateSheets.loaded?.sheetOf(sheet, state, actions, ui) ?? null), sheets);
    find.draw(uiState, shown === "page", state.phase === "loading", lateSheets.loaded);
    view.hidden = shown === "page";
    // While an address is typed, too: then a tap on the page is one that the address box can tell from a page's script.
    frameHost.inert = shown !== "page" || uiState.isEditing;
    if (shown !== previous) view.scrollTop = 0;
    tell(state);
    for (const each of [lateSheets, lateLibrary]) void each.loadIfWanted();
  });
  const isSheetWanted = () => state !== null && sheetOf(state, uiState) !== null;
  const changeUi = (change: Partial<UiState>) => {
    uiState = changed(uiState, change, lateSheets.loaded !== null);
    draw();
  };

  const find = new FindPlace({ barHost, findHost, frames }, changeUi);
  return listen(root, {
    render(next) {
      state = next;
      draw();
    },
    frameHost: frames,
    focusPage: () => shown === "page" && isAtPage(uiState) && !isSheetWanted() && focusFrame(shownFrame(frames)),
    press(press) {
      const areThere = lateSheets.loaded !== null;
      if (state === null || (areThere && isSheetWanted())) return false;
      const { shortcut, givesUp } = meaningOf(press, state.phase, uiState, areThere);
      if (givesUp) changeUi(NOTHING_OVER);
      if (shortcut === "find") return find.open(uiState, shown === "page");
      if (shortcut === "address") barHost.querySelector("input")?.focus();
      else if (shortcut !== null) actions.tab[shortcut]();
      return givesUp || shortcut !== null;
    },
    openSettings: () => changeUi({ sheet: "settings" }),
    sheets: lateSheets,
    library: lateLibrary,
  });
}

/** Has the app speak as it did last. Else the script of the sheets, which has words fetched, may be needed soon. */
function speakAsKept(sheets: LateScript<Sheets>): void {
  const kept = keptLanguage(localStorage);
  speak(kept ?? SOURCE, document.documentElement);
  if (kept === null && !/^en\b/.test(navigator.language)) void sheets.load();
}

function listen(root: HTMLElement, chrome: Chrome): Chrome {
  if (window.visualViewport) followVisualViewport(root, window.visualViewport);
  window.addEventListener("keydown", (event) => {
    if (!event.defaultPrevented && chrome.press(event)) event.preventDefault();
  });
  let inSheet: HTMLElement | null = null;
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && target.closest("dialog")) inSheet = target;
  });
  // A page below a sheet is inert, but its scripts can take the focus, and the keys with it (Chromium 156).
  window.addEventListener("blur", () => {
    if (document.activeElement?.shadowRoot && inSheet?.closest("dialog[open]")) setTimeout(() => inSheet?.focus());
  });
  return chrome;
}

/** The person neither types an address nor searches in the page. */
function isAtPage({ isEditing, isFinding }: UiState): boolean {
  return !isEditing && !isFinding;
}

/** No sheet, and no bar to find in the page. */
const NOTHING_OVER = { sheet: null, isFinding: false } as const;

/** A person who types an address no longer waits for a sheet that has not come. */
function changed(ui: UiState, change: Partial<UiState>, isThere: boolean): UiState {
  return { ...ui, ...(change.isEditing && !isThere ? NOTHING_OVER : {}), ...change };
}

/** A sheet that has not come is given up by Escape, and by another wish. */
function meaningOf(
  press: Parameters<typeof shortcutFor>[0],
  phase: BrowserState["phase"],
  { sheet, isFinding }: UiState,
  areThere: boolean,
) {
  const isAwaited = !areThere && (sheet !== null || isFinding);
  const isEscape = isAwaited && press.key === "Escape";
  const shortcut = isEscape ? null : shortcutFor(press, phase, IS_MAC);
  return { shortcut, givesUp: isEscape || (isAwaited && shortcut !== null) };
}

interface FindPlaces {
  readonly barHost: Element;
  readonly findHost: Element;
  readonly frames: ParentNode;
}

/** "Find in page", over the bar. */
class FindPlace {
  readonly #places: FindPlaces;
  readonly #change: Ui["change"];
  #focusedBefore: Element | null = null;

  constructor(places: FindPlaces, change: Ui["change"]) {
    this.#places = places;
    this.#change = change;
  }

  /** @returns whether there is a page to search. */
  open({ isFinding }: UiState, isPage: boolean): boolean {
    if (!isPage) return false;
    const { activeElement, body } = document;
    if (!isFinding && activeElement !== body) this.#focusedBefore = activeElement;
    this.#change({ isFinding: true });
    this.#places.findHost.querySelector("input")?.focus();
    return true;
  }

  /** @param sheets null until they are there. */
  draw({ isFinding }: UiState, isPage: boolean, isLoading: boolean, sheets: Sheets | null): void {
    if (isFinding && !isPage) return this.#change({ isFinding: false });
    const { barHost, findHost, frames } = this.#places;
    barHost.toggleAttribute("data-finding", isFinding);
    const props = { frame: () => shownFrame(frames), isLoading, onClose: () => this.#close() };
    render((isFinding && sheets?.findBar(props)) || null, findHost);
  }

  /** The focus goes back to where it was: to the page, where that or the menu had it. */
  #close(): void {
    const before = this.#focusedBefore;
    // The page's frame is in a shadow tree.
    const own = before instanceof HTMLElement && before.shadowRoot === null ? before : null;
    // Before the page hears of the end and focuses its own field, which Chromium would take the focus from otherwise.
    if (own === null) focusFrame(shownFrame(this.#places.frames));
    this.#change({ isFinding: false });
    own?.focus();
    this.#focusedBefore = null;
  }
}

function shownFrame(frames: ParentNode): HTMLIFrameElement | null {
  return frames.querySelector<HTMLIFrameElement>("iframe:not([inert])");
}

/** The chrome's elements, which stay for as long as it lives. */
function furnish(root: HTMLElement) {
  const barHost = element("div", "bar-host");
  const findHost = element("div", "find-host");
  const frameHost = element("div", "frame-host");
  // Frames in a shadow tree are in no `window.frames`: no page can count or name the windows that it has not opened.
  // A script that gives the host back the focus, which it seemed to have, gives it to the frame shown.
  const frames = frameHost.attachShadow({ mode: "open", delegatesFocus: true });
  const style = new CSSStyleSheet();
  style.replaceSync(FRAMES);
  frames.adoptedStyleSheets = [style];
  fitWide(frameHost);
  const view = element("div", "view");
  const main = element("main", "stage");
  const sheets = element("div", "sheets");
  const told = element("div", "visually-hidden");
  const regions = [0, 1, 2].map(() => Object.assign(element("p", ""), { role: "status" }));
  told.append(...regions);
  main.append(frameHost, view);
  root.classList.add("app");
  root.replaceChildren(barHost, findHost, main, sheets, told);
  return { barHost, findHost, frameHost, frames, view, sheets, regions };
}

/**
 * Canvas, not white: a page that declares a dark scheme and no background is drawn on the frame's own background. A page that
 * is larger or smaller than it comes is laid out for less room or more, as browsers zoom, and then fills the same place.
 */
const FRAMES =
  "iframe{position:absolute;inset:0;width:100%;height:100%;border:0;background:Canvas}.behind{visibility:hidden;translate:-200vw}" +
  ".sized{--fit:var(--zoom);width:calc(100%/var(--fit));height:calc(100%/var(--fit));" +
  "transform:scale(var(--fit));transform-origin:0 0}.wide{--fit:calc(var(--zoom)*var(--wide,1))}";

/** CSS pixels that pages for a desk are made for, as browsers on phones have it. */
const DESK = 980;

/** Has frames of the class `wide` laid out for a desk. */
function fitWide(host: HTMLElement): void {
  new ResizeObserver(() => {
    host.style.setProperty("--wide", String(Math.min(1, (host.clientWidth || DESK) / DESK)));
  }).observe(host);
}

/**
 * What can be done with a link comes by itself, and so does a server's question, where the person has nothing else open. That
 * would take the rest of the words of somebody who types an address, and Enter would send them.
 */
function sheetOf({ signIn, held }: BrowserState, { sheet, isEditing }: UiState): SheetName | null {
  return sheet ?? (held !== null ? "held" : signIn === null || isEditing ? null : "sign-in");
}

function focusFrame(frame: HTMLIFrameElement | null): void {
  frame?.focus();
  // The frame may have been focused already, for the document before.
  frame?.contentWindow?.focus();
}

/** A button that had the focus may be gone with its message: then the page has it, or else the button beside the message. */
function drawBar(bar: VNode, host: Element, page: HTMLIFrameElement | null): void {
  const wasInMessage = host.querySelector(".notice-bar:focus-within");
  render(bar, host);
  if (!wasInMessage || document.activeElement !== document.body) return;
  if (page) focusFrame(page);
  else host.querySelector<HTMLElement>(".bar-menu")?.focus();
}

function element(name: string, className: string): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  return made;
}

interface LateScriptPlatform<Script> extends Pick<Clock, "setTimer"> {
  load(): Promise<Script>;
  /** Whether something that the person sees, or asked for, waits for it. */
  isWanted(): boolean;
  /** It is there, and can be drawn. */
  onReady(): void;
}

/** Milliseconds before what could not be had is tried again, while it is wanted. */
const RETRY_DELAY = 2_000;

/** A script that no first page needs, such as that of the sheets, and what it makes. */
export class LateScript<Script> {
  #loaded: Script | null = null;
  #loading: Promise<Script | null> | null = null;
  #isAwaited = false;
  readonly #platform: LateScriptPlatform<Script>;

  constructor(platform: LateScriptPlatform<Script>) {
    this.#platform = platform;
  }

  /** Null until it is there. */
  get loaded(): Script | null {
    return this.#loaded;
  }

  /** @returns null where it cannot be had now. */
  load(): Promise<Script | null> {
    this.#loading ??= this.#platform.load().then(
      (script) => {
        this.#loaded = script;
        return script;
      },
      () => {
        this.#loading = null;
        return null;
      },
    );
    return this.#loading;
  }

  /** Loads the script if it is wanted and not there, and tries again as long as it is wanted. Calls meanwhile do nothing. */
  async loadIfWanted(): Promise<void> {
    const { isWanted, onReady, setTimer } = this.#platform;
    if (this.#isAwaited || this.#loaded !== null || !isWanted()) return;
    this.#isAwaited = true;
    const script = await this.load();
    if (script !== null) return onReady();
    setTimer(() => {
      this.#isAwaited = false;
      if (this.#loaded === null) void this.loadIfWanted();
      else onReady();
    }, RETRY_DELAY);
  }
}

/** The words of a screen reader: of the page, which `of` names, of the link, and of the message in the bar. */
type Told = readonly [page: string, link: string, message: string, of: string];

/** Says what is new aloud, once: news of one kind change nothing in the regions of the others. */
function announcementsIn(regions: readonly Element[]): (state: BrowserState) => void {
  let told: Told = ["", "", "", ""];
  return (state) => {
    told = announcements(state, told);
    for (const [index, region] of regions.entries()) {
      const words = told[index] as string;
      if (region.textContent !== words) region.textContent = words;
    }
  };
}

/** @param told of the state before. The title of a page that changes later is no news. */
export function announcements(state: BrowserState, told: Told): Told {
  const of = `${state.phase} ${state.url} ${state.destination?.url}`;
  return [of === told[3] ? told[0] : pageWords(state), linkWords(state, told[1]), messageText(state), of];
}

function linkWords({ link, phase }: BrowserState, told: string): string {
  if (link.kind === "open") return told && t("Connected");
  // The failure of the page has said so already.
  if (phase === "failed" || !isWaiting(link)) return told;
  return link.kind === "offline" ? t("Offline") : t("Waiting for the link");
}

/** A page that stays where another did not open is no news. */
function pageWords({ phase, url, destination, title, error, unopened }: BrowserState): string {
  if (unopened !== null) return "";
  switch (phase) {
    case "idle":
      return url === "" ? "" : t("Stopped loading {site}", { site: shortHost(url) });
    case "loading":
      return t("Loading {site}", { site: shortHost(destination?.url ?? url) });
    case "loaded":
      return t("{title} loaded", { title: title || shortHost(url) });
    case "failed":
      return error ? errorText(error).heading : t("The page did not load");
  }
}

/** As the bar shows them. */
function messageText({ question, notice, unopened, tryingAgain, hasNewer }: BrowserState): string {
  if (question !== null) return question.text;
  if (notice !== null) return noticeText(notice);
  if (unopened !== null) return failureText(unopened, tryingAgain);
  return hasNewer ? t(NEWER_VERSION) : "";
}

const APP_ICON = "/icons/icon.svg";
/** The bar's colour in each scheme, as in the style sheet and in index.html. */
const THEME_COLOURS = { light: "#ffffff", dark: "#1a2321" } as const;

/** Brings the document's own head and `<html>` in line with the state: phase, title, icon, theme. */
function drawPageHead(document: Document, state: BrowserState): void {
  const { documentElement: html } = document;
  html.dataset.page = state.phase;
  if (state.settings.theme === "system") delete html.dataset.theme;
  else html.dataset.theme = state.settings.theme;
  const title = state.url === "" ? "Ropeway" : state.title || shortHost(state.url);
  if (document.title !== title) document.title = title;

  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = state.icon ?? APP_ICON;
  if (icon && icon.getAttribute("href") !== href) icon.setAttribute("href", href);
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const ownScheme = meta.media.includes("dark") ? "dark" : "light";
    const colour = THEME_COLOURS[state.settings.theme === "system" ? ownScheme : state.settings.theme];
    if (meta.content !== colour) meta.content = colour;
  }
}

/**
 * Keeps `--viewport-height` and `--viewport-top` on the element at what is really visible, since iOS lays its keyboard
 * over the page instead of shrinking it. Zooming with two fingers changes nothing.
 */
function followVisualViewport(element: HTMLElement, viewport: VisualViewport): void {
  const update = () => {
    if (viewport.scale > 1.01) return;
    element.style.setProperty("--viewport-height", `${viewport.height}px`);
    element.style.setProperty("--viewport-top", `${viewport.offsetTop}px`);
  };
  for (const type of ["resize", "scroll"]) viewport.addEventListener(type, update);
  update();
}

/**
 * A task that never runs inside itself: what asks for it meanwhile has it run once more, right after. Removing a focused
 * element makes the browser call focus handlers in the middle of a render, and Preact does not take a render inside a
 * render.
 */
export function neverNested(task: () => void): () => void {
  let isRunning = false;
  let isWanted = false;
  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isWanted) {
        isWanted = false;
        task();
      }
    } finally {
      isRunning = false;
    }
  };
}
