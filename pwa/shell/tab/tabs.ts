/**
 * The person's tabs, each with its windows. The browser has one session history for the frames of all of them, so a tab that
 * comes to the front gets an entry of the app's own there: behind it lies what the tab adds from now on, and before it what
 * others have added. The browser leads through the former; through what the tab had before, it goes by itself, and the
 * phone's way back, which comes to that entry, is a step of the tab. A tab behind keeps its frame, and so its page as it is,
 * while there is room; else its page comes back from the phone's store when it is shown. Where pages have no hosts of their
 * own, all tabs have one frame in turns.
 */
import type { PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { App } from "../app/app.ts";
import type { SiteSize, TabLine, TabsActions, WindowState } from "../app/state.ts";
import type { PagePlaces, Slot } from "../frames/places.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import { SlotPlaces } from "../frames/slot-frames.ts";
import { typedNavigation } from "./navigation-request.ts";
import { Openings } from "./openings.ts";
import { PageFrame } from "./page-frame.ts";
import type { KeptEntry } from "./session-history.ts";
import { Tab, type TabOptions } from "./tab.ts";
import { type AppWindow, type Speaker, Windows } from "./windows.ts";

/** A tab, as it outlives its frame, and the app. */
export interface KeptTab {
  readonly entries: readonly KeptEntry[];
  readonly title: string;
}

/** All but the one shown, which would be at this index of them. */
export interface OtherTabs {
  readonly tabs: readonly KeptTab[];
  readonly at: number;
}

type Page = Pick<TabLine, "url" | "title" | "icon">;

interface OneTab {
  readonly id: number;
  /** The tab whose page has led to it, to which Back leads from its beginning. */
  readonly from: OneTab | null;
  /** Of the frame, or of the one that it had. */
  entries: readonly KeptEntry[];
  frames: /** Of pages as they are. */
    | { readonly kind: "live"; readonly windows: Windows }
    /** The tab has no frame, until it is shown. */
    | { readonly kind: "kept"; readonly page: Page };
  /** Grows with each time that a tab is shown. */
  shownAt: number;
  /** A sound plays in its page. */
  isHeard: boolean;
  /** The app has found the focus in it while another tab was shown. */
  hadFocusBehind: boolean;
}

export interface TabsOptions {
  readonly app: App;
  readonly places: PagePlaces | null;
  readonly slots: SlotFrames | null;
  readonly createFrame: () => HTMLIFrameElement;
  readonly focusPage: () => void;
  /** Gives the page in front the focus again that a page behind has, if that is so. @returns the frame that had it. */
  readonly keepFocus: () => Element | null;
  readonly openOtherApp: TabOptions["openOtherApp"];
  /** The browser's own list. */
  readonly history: Pick<History, "pushState" | "go" | "length">;
  /** Hears where the person is, in the tab shown and in the others. */
  readonly keep: (entries: readonly KeptEntry[], others: OtherTabs) => void;
  /** Frames of tabs that are kept beside that of the one shown. */
  readonly mostBehind: number;
}

/** Number of tabs from which on pages open none without the person's word. */
const MOST_BY_PAGES = 100;

/** Milliseconds in which another document of the page says that it has the focus. */
const FOCUS_PAUSE = 100;

/** Milliseconds in which pages behind may add any number of entries. */
const ANCHOR_PAUSE = 1_000;

export class Tabs implements TabsActions {
  readonly #options: TabsOptions;
  #focusTimer: ReturnType<typeof setTimeout> | undefined;
  #anchorTimer: ReturnType<typeof setTimeout> | undefined;
  #tabs: readonly OneTab[];
  #shown: OneTab;
  #host: ParentNode | null = null;
  #lastId = 0;
  /** The one closed last, which can be taken back. */
  #closed: OneTab | null = null;
  /** Tabs. */
  readonly #openedByPages = new Openings();
  /** The tunnel knows each window by a number. */
  #lastWindow = 0;
  #turns = 0;
  /** Of the entry that the tab shown has in the browser's list. */
  #mark = 0;
  /** Entries of each frame, of which the tab shown knows. */
  readonly #added = new WeakMap<PageFrame, number>();

  constructor(options: TabsOptions) {
    this.#options = options;
    this.#shown = this.#create(null);
    this.#tabs = [this.#shown];
    this.#shown.frames = { kind: "live", windows: this.#createWindows(this.#shown) };
  }

  /** Of the tab shown. */
  get windows(): Windows {
    const { frames } = this.#shown;
    if (frames.kind === "kept") throw new Error("Cannot show the tab: it has no frame");
    return frames.windows;
  }

  /** Windows of all tabs that have their frames. */
  get all(): readonly AppWindow[] {
    return this.#tabs.flatMap(({ frames }) => (frames.kind === "live" ? frames.windows.all : []));
  }

  /** Each has frames of its own. */
  get #haveFrames(): boolean {
    return this.#options.places instanceof SlotPlaces;
  }

  get state(): WindowState {
    const tabs = this.#tabs.map((each) => ({ id: each.id, isShown: each === this.#shown, ...pageOf(each) }));
    return { ...this.windows.state, tabs };
  }

  /** @param host all frames go into it. */
  mount(host: ParentNode): void {
    this.#host = host;
    this.windows.mount(host);
    this.windows.turn(true);
  }

  lay(sizeOf: (url: string) => Pick<SiteSize, "isWide" | "zoom">): void {
    for (const windows of this.#live) windows.lay(sizeOf);
  }

  /** The window that a document is in, however deep. */
  of(source: Window): AppWindow | null {
    for (const windows of this.#live) {
      const window = windows.of(source);
      if (window !== null) return window;
    }
    return null;
  }

  /**
   * As `Windows.take`. Pages say where the focus is, too: Chromium (156) lets a frame take it that is inert and that nobody
   * sees, which would hear what is typed in the page in front. A tab behind that does so loses its frames.
   */
  take(message: PageToShell, slot: Slot, speaker: Speaker): boolean {
    if (message.type === "focus") this.#hearOfFocus(message, speaker.from);
    if (message.type === "sound") this.#hearSound(message, speaker.from);
    return this.#live.some((windows) => windows.all.includes(speaker.from) && windows.take(message, slot, speaker));
  }

  open(request: NavigationRequest | null = null, how: "in front" | "behind" = "in front"): void {
    const tab = this.#create(request === null ? null : this.#shown);
    this.#tabs = this.#tabs.toSpliced(this.#tabs.indexOf(this.#shown) + 1, 0, tab);
    if (request !== null) {
      const { url, method } = request;
      // Until the page is there.
      tab.entries = [{ url, isRepeatable: method === "GET" || !this.#haveFrames, scroll: { x: 0, y: 0 } }];
      tab.frames = { kind: "kept", page: { url, title: "", icon: null } };
    }
    if (this.#haveFrames) {
      const { frame, tab: first } = this.#giveFrame(tab).first;
      if (request === null) frame.showStart();
      else first.sendTo(request);
    }
    if (how === "in front") return this.#turnTo(tab);
    this.#makeRoom();
    this.#changed();
  }

  /** As `WindowsOptions.openTab`. */
  #openForPage(request: NavigationRequest, how: "in front" | "behind", isAsked: boolean): boolean {
    if (!isAsked && (this.#openedByPages.areEnough || this.#tabs.length >= MOST_BY_PAGES)) return false;
    if (!isAsked) this.#openedByPages.count(performance.now());
    this.open(request, how);
    return true;
  }

  openLink(url: string, how: "in front" | "behind", download?: string): void {
    const { origin = null } = URL.parse(this.windows.shown.tab.state.url) ?? {};
    this.open({ ...typedNavigation(url, origin), download }, how);
  }

  show(id: number): void {
    const tab = this.#find(id);
    if (tab !== undefined && tab !== this.#shown) this.#turnTo(tab);
  }

  close(id: number): void {
    const tab = this.#find(id);
    if (tab === undefined) return;
    const at = this.#tabs.indexOf(tab);
    const page = pageOf(tab);
    this.#end(tab);
    if (page.url === "") return;
    this.#closed = tab;
    const undo = () => {
      if (this.#closed !== tab) return;
      this.#closed = null;
      this.#tabs = this.#tabs.toSpliced(at, 0, tab);
      this.#turnTo(tab);
    };
    this.#options.app.notify({ kind: "closed-tab", title: page.title || page.url, undo }, () => this.#closed !== tab);
  }

  /** Takes the tab out of the list. `close` remembers it, so that the person can take it back. */
  #end(tab: OneTab): void {
    if (!this.#tabs.includes(tab)) return;
    if (this.#tabs.length === 1) this.open();
    const left = this.#tabs.filter((each) => each !== tab);
    const latest = left.toSorted((one, other) => other.shownAt - one.shownAt)[0];
    const next = left.find((each) => each === tab.from) ?? latest;
    // Its frame needs room no more.
    this.#tabs = left;
    if (tab === this.#shown && next !== undefined) this.#turnTo(next);
    rest(tab);
    this.#changed();
  }

  move(id: number, to: number): void {
    const tab = this.#find(id);
    if (tab === undefined) return;
    this.#tabs = this.#tabs.filter((each) => each !== tab).toSpliced(to, 0, tab);
    this.#changed();
  }

  /** Tabs of before the app was closed. */
  resume({ tabs, at }: OtherTabs): void {
    const resumed = tabs.map(({ entries, title }): OneTab => {
      const { url = "" } = entries.findLast(({ isAhead }) => !isAhead) ?? {};
      const page = { url, title, icon: null };
      return { ...this.#create(null), entries, frames: { kind: "kept", page } };
    });
    this.#tabs = [...resumed.slice(0, at), ...this.#tabs, ...resumed.slice(at)];
    this.#changed();
  }

  /** @param isOf says of URLs whether they go. */
  forget(isOf: (url: string) => boolean): void {
    if (this.#closed?.entries.some(({ url }) => url !== "" && isOf(url))) this.#closed = null;
    for (const { frame } of this.all) frame.history.forget(isOf);
    for (const tab of this.#tabs) {
      if (tab.frames.kind === "kept") tab.entries = tab.entries.filter(({ url }) => url === "" || !isOf(url));
    }
    this.#tabs = this.#tabs.filter(({ frames }) => frames.kind === "live" || !isOf(frames.page.url));
    this.#changed();
  }

  /** The browser's list has come to an entry of the app's own. */
  onEntry(state: unknown): void {
    const { tab = 0, windows = 0 } = (state ?? {}) as { readonly tab?: number; readonly windows?: number };
    if (tab === this.#mark) this.windows.onEntry(Number(windows));
    else this.#backFromBeginning();
  }

  /** The phone's way back has left all that the tab shown has added. */
  #backFromBeginning(): void {
    const { windows } = this;
    const { length } = windows.all;
    const { canGoBack, url } = windows.shown.tab.state;
    if (length > 1) windows.onEntry(length - 2);
    else if (canGoBack) windows.shown.tab.back();
    else if (url === "" && this.#tabs.length > 1) this.#end(this.#shown);
    // Else the person is at the beginning of all, and leaves.
    else if (this.#tabs.length === 1) return;
    if (windows === this.windows) windows.anchor();
  }

  #hearOfFocus({ has, isBehind }: PageToShell & { type: "focus" }, from: AppWindow): void {
    const tab = this.#tabOf(from);
    if (tab === undefined || tab.frames.kind === "kept") return;
    if (tab === this.#shown) {
      clearTimeout(this.#focusTimer);
      // The page below a window has no more right to it.
      if (!has || from !== this.windows.shown) this.#focusTimer = setTimeout(() => this.#keepFocus(), FOCUS_PAUSE);
    } else if (has) {
      // The frame may have got the focus before it went behind, or have come there since.
      if (isBehind) rest(tab);
      else tab.frames.windows.turn(false);
      this.#options.keepFocus();
      this.#changed();
    }
  }

  /** A document without a page script does not report the focus, so the app looks at which frame has it. */
  #keepFocus(): void {
    const had = this.#options.keepFocus();
    const tab = this.#tabs.find(
      ({ frames }) => frames.kind === "live" && frames.windows.all.some(({ frame }) => frame.element === had),
    );
    if (tab === undefined || tab === this.#shown) return;
    if (tab.hadFocusBehind) rest(tab);
    tab.hadFocusBehind = true;
    this.#changed();
  }

  #hearSound({ isOn }: PageToShell & { type: "sound" }, from: AppWindow): void {
    const tab = this.#tabOf(from);
    if (tab !== undefined) tab.isHeard = isOn === true;
  }

  #tabOf(window: AppWindow): OneTab | undefined {
    return this.#tabs.find(({ frames }) => frames.kind === "live" && frames.windows.all.includes(window));
  }

  get #live(): readonly Windows[] {
    return this.#tabs.flatMap(({ frames }) => (frames.kind === "live" ? [frames.windows] : []));
  }

  #find(id: number): OneTab | undefined {
    return this.#tabs.find((each) => each.id === id);
  }

  #turnTo(tab: OneTab): void {
    const former = this.#shown;
    const { windows } = this;
    if (!this.#haveFrames) {
      former.frames = { kind: "kept", page: pageOf(former) };
      tab.frames = { kind: "live", windows };
    }
    const isNew = tab.frames.kind === "kept";
    if (isNew) this.#giveFrame(tab);
    this.#shown = tab;
    tab.hadFocusBehind = false;
    tab.shownAt = ++this.#turns;
    if (this.#haveFrames) windows.turn(false);
    this.windows.turn(true);
    this.windows.shown.tab.comeToFront();
    this.windows.anchor();
    if (isNew || !this.#haveFrames) restoreTab(this.windows, tab.entries);
    this.#makeRoom();
    this.#changed();
    this.#options.focusPage();
  }

  #giveFrame(tab: OneTab): Windows {
    const windows = this.#createWindows(tab);
    tab.frames = { kind: "live", windows };
    if (this.#host !== null) windows.mount(this.#host);
    return windows;
  }

  /** The frames of tabs that were not seen for the longest time go; those of the one heard last are the last to go. */
  #makeRoom(): void {
    const behind = this.#tabs
      .filter((each) => each !== this.#shown && each.frames.kind === "live")
      .sort((one, other) => other.shownAt - one.shownAt);
    const heard = behind.find(({ isHeard }) => isHeard);
    const kept = behind.toSorted((one, other) => Number(other === heard) - Number(one === heard));
    for (const tab of kept.slice(this.#options.mostBehind)) rest(tab);
  }

  #create(from: OneTab | null): OneTab {
    const page = { url: "", title: "", icon: null };
    return {
      id: ++this.#lastId,
      from,
      entries: [],
      frames: { kind: "kept", page },
      shownAt: this.#turns,
      isHeard: false,
      hadFocusBehind: false,
    };
  }

  #createWindows(tab: OneTab): Windows {
    const { app, places, slots, history, focusPage } = this.#options;
    const close = () => this.#end(tab);
    const onFirst = (entries: readonly KeptEntry[]) => {
      (this.#haveFrames ? tab : this.#shown).entries = entries;
      this.#keep();
    };
    const first = this.#createWindow(() => windows, onFirst, tab.from === null ? undefined : { close, closeAll: null });
    const windows: Windows = new Windows(first, {
      app,
      // Pages without scripts have one frame.
      slots: places instanceof SlotPlaces ? slots : null,
      history: {
        get length() {
          return history.length;
        },
        go: (delta) => history.go(delta),
        mark: (count, isBeginning) => {
          if (isBeginning) this.#mark += 1;
          history.pushState({ tab: this.#mark, windows: count }, "");
        },
      },
      openTab: (...wish) => this.#openForPage(...wish),
      focusPage,
      create: (window) =>
        this.#createWindow(
          () => windows,
          () => {},
          window,
        ),
    });
    return windows;
  }

  #createWindow(
    windows: () => Windows,
    onHistory: (entries: readonly KeptEntry[]) => void,
    window: TabOptions["window"],
  ): AppWindow {
    const { app, places, createFrame, focusPage, openOtherApp } = this.#options;
    const frame: PageFrame = new PageFrame(createFrame(), places, (entries) => {
      onHistory(entries);
      this.#onEntries(frame, windows());
    });
    const id = ++this.#lastWindow;
    const onCommit = () => {
      if (isInFront()) focusPage();
      windows().onPage(frame);
    };
    const isInFront = () => windows().isShown({ frame });
    const anchor = () => windows().anchor();
    return { frame, tab: new Tab({ id, app, frame, onCommit, window, isInFront, anchor, openOtherApp }) };
  }

  /** A frame behind may have added entries of its own, after those of the tab shown. */
  #onEntries(frame: PageFrame, windows: Windows): void {
    const { added } = frame.history;
    const isMore = added > (this.#added.get(frame) ?? 0);
    this.#added.set(frame, added);
    if (!isMore || windows === this.windows) return;
    this.windows.part();
    this.#anchorTimer ??= setTimeout(() => {
      this.#anchorTimer = undefined;
      this.windows.anchor();
    }, ANCHOR_PAUSE);
  }

  #changed(): void {
    this.#keep();
    this.#options.app.draw();
  }

  #keep(): void {
    const others = this.#tabs.filter((each) => each !== this.#shown);
    const tabs = others.map((each) => ({ entries: each.entries, title: pageOf(each).title }));
    this.#options.keep(this.#shown.entries, { tabs, at: this.#tabs.indexOf(this.#shown) });
  }
}

/** The page that the tab had last comes into its frame. */
function restoreTab({ first: { tab, frame } }: Windows, entries: readonly KeptEntry[]): void {
  tab.restart(entries);
  frame.showStart();
}

/** Its frames go. */
function rest(tab: OneTab): void {
  if (tab.frames.kind === "kept") return;
  const { windows } = tab.frames;
  tab.frames = { kind: "kept", page: pageOf(tab) };
  tab.isHeard = false;
  windows.end();
}

function pageOf({ frames }: OneTab): Page {
  if (frames.kind === "kept") return frames.page;
  const { url, destination, title, icon } = frames.windows.first.tab.state;
  return { url: url || (destination?.url ?? ""), title, icon };
}
