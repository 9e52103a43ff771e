/**
 * The person's tabs, and those that pages have opened: their windows (`windows.ts`). Each has a frame. The browser has one
 * session history for all of these, so a tab that comes to the front gets an entry of the app's own there: behind it lies what
 * the tab adds from now on, and before it what others have added. The browser leads through the former; through what the tab
 * had before, it goes by itself, and the phone's way back, which comes to that entry, is a step of the tab. A tab that a page
 * has opened in front comes after that page's in this list: as it closes, the browser steps back over its entries. A tab behind keeps its
 * frame, and so its page as it is, while there is room; else its page comes back from the phone's store when it is shown.
 * Where pages have no hosts of their own, all tabs have one frame in turns.
 */
import { MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { App } from "../app/app.ts";
import type { SiteSize, TabLine, TabsActions, WindowState } from "../app/state.ts";
import type { PagePlaces, Slot } from "../frames/places.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import { SlotPlaces } from "../frames/slot-frames.ts";
import { typedNavigation } from "./navigation-request.ts";
import { Openings } from "./openings.ts";
import { PageFrame } from "./page-frame.ts";
import { type KeptEntry, START } from "./session-history.ts";
import { Tab, type TabOptions } from "./tab.ts";
import { type AppWindow, type Speaker, type WindowPlaces, Windows } from "./windows.ts";

/** A tab, as it outlives its frame, and the app. */
export interface KeptTab {
  readonly entries: readonly KeptEntry[];
  readonly title: string;
  /** As of a `TabLine`. */
  readonly picture?: string | null | undefined;
}

/** All but the one shown, which would be at this index of them. */
export interface OtherTabs {
  readonly tabs: readonly KeptTab[];
  readonly at: number;
}

type Page = Pick<TabLine, "url" | "title" | "icon" | "picture">;

interface OneTab {
  readonly id: number;
  /** Id of the tab whose page has led to it, to which Back leads from its beginning; null: it began by itself. */
  readonly from: number | null;
  /** Of a window that knows its opener: real origin of that page. */
  openedBy: string | null;
  /** The same for tabs that pages have opened as windows of each other's (a browsing context group, HTML section 7.3.2). */
  group: number;
  /** Of the frame, or of the one that it had. */
  entries: readonly KeptEntry[];
  frames: /** Of a page as it is. */
    | { readonly kind: "live"; readonly window: AppWindow }
    /** The tab has no frame, until it is shown. */
    | { readonly kind: "kept"; readonly page: Page };
  /** Where it has begun in the browser's list as it came to the front last. */
  place: Place;
  /** Grows with each time that a tab is shown. */
  shownAt: number;
  /** A sound plays in its page. */
  isHeard: boolean;
  /** The app has found the focus in it while another tab was shown. */
  hadFocusBehind: boolean;
}

interface Place {
  /** Number of the app's own entry there, which counts up. */
  readonly mark: number;
  /** The tab that was in front as a page there opened this one; null: the list leads nowhere from the beginning. */
  readonly over: null | {
    readonly tab: number;
    /** Number of that tab's entry. */
    readonly mark: number;
    /** How far down its history that was. */
    readonly depth: number;
    /** Length of the browser's list with the tab's own entry; null: it has none, and the list stands at the other tab's. */
    readonly length: number | null;
  };
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
  readonly history: Pick<History, "pushState" | "go" | "length" | "state">;
  /** Hears where the person is, in the tab shown and in the others. */
  readonly keep: (entries: readonly KeptEntry[], others: OtherTabs) => void;
  /** Frames of tabs that are kept beside that of the one shown. */
  readonly mostBehind: number;
}

/** Tabs of a group with frames, which they keep while one of them is in front. */
const MOST_OF_GROUP = 9;

/** Number of tabs from which on pages open none without the person's word. */
const MOST_BY_PAGES = 100;

/** Documents of a tab that are told whether it is behind: a page can have any number of frames. */
const MOST_TOLD = 200;

/** Milliseconds in which another document of the page says that it has the focus. */
const FOCUS_PAUSE = 100;

/** Milliseconds in which pages behind may add any number of entries. */
const ANCHOR_PAUSE = 1_000;

export class Tabs implements TabsActions, WindowPlaces {
  readonly #options: TabsOptions;
  readonly #windows: Windows;
  #focusTimer: ReturnType<typeof setTimeout> | undefined;
  #anchorTimer: ReturnType<typeof setTimeout> | undefined;
  #tabs: readonly OneTab[];
  #shown: OneTab;
  #host: ParentNode | null = null;
  #lastId = 0;
  /** The one closed last, which can be taken back. */
  #closed: OneTab | null = null;
  /** Tabs without an opener. */
  readonly #openedByPages = new Openings();
  /** The tunnel knows each window by a number. */
  #lastWindow = 0;
  #turns = 0;
  /** Of the app's own entries in the browser's list; those of before a reload are there still. */
  #lastMark: number;
  /** The browser goes back over what a tab has left: an entry that is put there meanwhile would be stepped over, too. */
  #isStepping = false;
  /** Entries of each frame, of which the tab shown knows. */
  readonly #added = new WeakMap<PageFrame, number>();

  constructor(options: TabsOptions) {
    const { app, places, slots, history } = options;
    this.#options = options;
    // Pages without scripts have one frame.
    this.#windows = new Windows({ app, slots: places instanceof SlotPlaces ? slots : null, places: this });
    this.#lastMark = markOf(history.state);
    this.#shown = this.#create();
    this.#shown.place = { mark: this.#lastMark, over: null };
    this.#tabs = [this.#shown];
    this.#shown.frames = { kind: "live", window: this.#createWindow(this.#shown) };
  }

  /** The window of the tab shown. */
  get shown(): AppWindow {
    const { frames } = this.#shown;
    if (frames.kind === "kept") throw new Error("Cannot show the tab: it has no frame");
    return frames.window;
  }

  /** Windows of all tabs that have their frames. */
  get all(): readonly AppWindow[] {
    return this.#tabs.flatMap((each) => windowOf(each) ?? []);
  }

  /** Each has a frame of its own. */
  get #haveFrames(): boolean {
    return this.#options.places instanceof SlotPlaces;
  }

  get state(): WindowState {
    const tabs = this.#tabs.map((each) => ({ id: each.id, isShown: each === this.#shown, ...pageOf(each) }));
    return { openedBy: this.#shown.openedBy, tabs };
  }

  /** @param host all frames go into it. */
  mount(host: ParentNode): void {
    this.#host = host;
    host.append(this.shown.frame.element);
    this.#arrange();
  }

  /** Pages are shown as large as the person wants those of their site. */
  lay(sizeOf: (url: string) => Pick<SiteSize, "isWide" | "zoom">): void {
    for (const { tab, frame } of this.all) {
      const { isWide, zoom } = sizeOf(tab.state.url);
      frame.element.style.setProperty("--zoom", String(zoom / 100));
      frame.element.classList.toggle("sized", isWide || zoom !== 100);
      frame.element.classList.toggle("wide", isWide);
    }
  }

  /** The window that a document is in, however deep. */
  of(source: Window): AppWindow | null {
    let page = source;
    // A window in no frame, or in a frame that is gone, is its own parent.
    while (page.parent !== page.parent.parent) page = page.parent;
    return this.all.find(({ frame }) => frame.isOf(page)) ?? null;
  }

  /**
   * As `Windows.take`. Pages say where the focus is, too: Chromium (156) lets a frame take it that is inert and that nobody
   * sees, which would hear what is typed in the page in front. A tab behind that does so loses its frames.
   */
  take(message: PageToShell, slot: Slot, speaker: Speaker): boolean {
    if (message.type === "focus") this.#hearOfFocus(message, speaker.from);
    if (message.type === "sound") this.#hearSound(message, speaker.from);
    return this.#windows.take(message, slot, speaker);
  }

  open(request: NavigationRequest | null = null, how: "in front" | "behind" = "in front"): void {
    this.#begin(this.#create(request === null ? undefined : this.#shown), request, how);
  }

  /** Puts a tab beside the one shown. @param name of its frame. */
  #begin(tab: OneTab, request: NavigationRequest | null, how: "in front" | "behind", name = ""): void {
    this.#tabs = this.#tabs.toSpliced(this.#tabs.indexOf(this.#shown) + 1, 0, tab);
    if (request !== null) {
      const { url, method } = request;
      // Until the page is there.
      tab.entries = [{ url, isRepeatable: method === "GET" || !this.#haveFrames, scroll: { x: 0, y: 0 } }];
      tab.frames = { kind: "kept", page: { url, title: "", icon: null } };
    }
    if (this.#haveFrames) {
      const { frame, tab: first } = this.#giveFrame(tab, name);
      if (request === null) frame.showStart();
      else first.sendTo(request);
    }
    if (how === "in front") return this.#turnTo(tab, request === null ? "anew" : "over");
    this.#makeRoom();
    this.#changed();
  }

  // Of `WindowPlaces`

  openForPage(request: NavigationRequest, how: "in front" | "behind", isAsked: boolean): boolean {
    if (!isAsked && (this.#openedByPages.areEnough || this.#tabs.length >= MOST_BY_PAGES)) return false;
    if (!isAsked) this.#openedByPages.count(performance.now());
    this.open(request, how);
    return true;
  }

  openBeside(from: AppWindow, request: NavigationRequest, name: string, openedBy: string): AppWindow {
    this.#begin(this.#create(this.#tabOf(from), openedBy), request, "in front", name);
    return this.shown;
  }

  isShown(window: AppWindow): boolean {
    return windowOf(this.#shown) === window;
  }

  isOfGroupShown(window: AppWindow): boolean {
    return this.#tabOf(window)?.group === this.#shown.group;
  }

  hasRoomBeside(window: AppWindow): boolean {
    const group = this.#tabOf(window)?.group;
    const live = this.#tabs.filter((each) => each.group === group && each.frames.kind === "live");
    return live.length < MOST_OF_GROUP && this.#tabs.length < MOST_BY_PAGES;
  }

  raise(window: AppWindow): void {
    const tab = this.#tabOf(window);
    if (tab !== undefined) this.#turnTo(tab);
  }

  closeWindow(window: AppWindow): void {
    const tab = this.#tabOf(window);
    if (tab !== undefined) this.#end(tab);
  }

  openLink(url: string, how: "in front" | "behind", download?: string): void {
    const { origin = null } = URL.parse(this.shown.tab.state.url) ?? {};
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
    const next = left.find(({ id }) => id === tab.from) ?? latest;
    // Its frame needs room no more.
    this.#tabs = left;
    const isBack = tab === this.#shown && next !== undefined && this.#stepsBack(tab, next);
    const steps = isBack ? this.#stepsOver(tab) : 0;
    if (tab === this.#shown && next !== undefined) this.#turnTo(next, isBack ? "back" : "anew");
    this.#rest(tab);
    // A frame that is still there would be led back, too.
    if (steps < 0) this.#options.history.go(steps);
    this.#changed();
  }

  move(id: number, to: number): void {
    const tab = this.#find(id);
    if (tab === undefined) return;
    this.#tabs = this.#tabs.filter((each) => each !== tab).toSpliced(to, 0, tab);
    this.#changed();
  }

  async picture({ url, picture = null }: TabLine): Promise<Blob | null> {
    if (picture === null) return null;
    return this.#options.app.tunnel.askStore({ kind: "picture", url: picture, topLevelOrigin: new URL(url).origin });
  }

  /** Tabs of before the app was closed. */
  resume({ tabs, at }: OtherTabs): void {
    const resumed = tabs.map(({ entries, title, picture = null }): OneTab => {
      const { url = "" } = entries.findLast(({ isAhead }) => !isAhead) ?? {};
      const page = { url, title, icon: null, picture };
      return { ...this.#create(), entries, frames: { kind: "kept", page } };
    });
    this.#tabs = [...resumed.slice(0, at), ...this.#tabs, ...resumed.slice(at)];
    this.#changed();
  }

  /**
   * Pages are not written down any more.
   *
   * @param isOf says of URLs whether they are meant.
   * @param closes tabs of such pages close; those with a frame have gone home before. Else they stay until the app is closed.
   * @returns what has the pages written down again.
   */
  forget(isOf: (url: string) => boolean, closes = false): () => void {
    const isIt = ({ url, forgottenBy }: KeptEntry) => url !== "" && !forgottenBy && isOf(url);
    if (this.#closed?.entries.some(isIt)) this.#closed = null;
    if (closes) this.#tabs = this.#tabs.filter(({ frames }) => frames.kind === "live" || !isOf(frames.page.url));
    this.#mark((entry) => (isIt(entry) ? { ...entry, ...(closes && START), forgottenBy: isOf } : entry));
    return () => this.#mark((entry) => (entry.forgottenBy === isOf ? { ...entry, forgottenBy: undefined } : entry));
  }

  #mark(change: (entry: KeptEntry) => KeptEntry): void {
    for (const tab of this.#tabs) {
      if (tab.frames.kind === "kept") tab.entries = tab.entries.map(change);
      else tab.frames.window.frame.history.mark(change);
    }
    this.#changed();
  }

  /** The browser's list has come to an entry of the app's own. */
  onEntry(state: unknown): void {
    const { mark, over } = this.#shown.place;
    // An entry ahead is of a tab that has closed.
    if (markOf(state) > mark) return;
    if (markOf(state) < mark) return this.#backFromBeginning(markOf(state));
    this.#isStepping = false;
    if (over !== null && over.length === null) this.#putEntry();
  }

  /** The phone's way back has left all that the tab shown has added, and come to an entry of this number. */
  #backFromBeginning(mark: number): void {
    const tab = this.#shown;
    const last = this.#lastMark;
    const { over } = tab.place;
    const { canGoBack, url } = this.shown.tab.state;
    tab.place = { mark, over: over && { ...over, length: null } };
    this.shown.frame.history.anchor();
    if (canGoBack) this.shown.tab.back();
    else if (url === "" && this.#tabs.length > 1) this.#end(tab);
    // Else the person is at the beginning of all, and leaves.
    else if (this.#tabs.length === 1) return;
    if (this.#lastMark !== last) return;
    if (tab === this.#shown) this.#anchor();
    // The tab below is as it was left, and the way may have led on over it.
    else this.onEntry({ tab: mark });
  }

  /** The browser's list leads nowhere from here. */
  #leadNowhere(): void {
    this.#shown.place = { ...this.#shown.place, over: null };
    this.shown.frame.history.anchor();
  }

  /** Likewise, and an entry of the app's own comes there. */
  #anchor(): void {
    this.#leadNowhere();
    this.#isStepping = false;
    this.#putEntry();
  }

  /** Where the tab shown begins. */
  #putEntry(): void {
    const { history } = this.#options;
    const { over } = this.#shown.place;
    history.pushState({ tab: ++this.#lastMark }, "");
    this.#shown.place = { mark: this.#lastMark, over: over && { ...over, length: history.length } };
  }

  /** A page of the tab that was in front has opened the one shown. */
  #putOver(former: OneTab): void {
    const { history } = windowOf(former)?.frame ?? {};
    history?.cut();
    const { mark } = former.place;
    this.#shown.place = { mark, over: { tab: former.id, mark, depth: history?.depth ?? 0, length: null } };
    if (!this.#isStepping) this.#putEntry();
  }

  /** Whether steps back from where a tab is, over what it has added, lead to this one as it was left. */
  #stepsBack({ place: { over } }: OneTab, next: OneTab): boolean {
    // Where that has gone on meanwhile, the steps would lead it back.
    const isThere = over !== null && over.tab === next.id && over.mark === next.place.mark;
    const { frame, tab } = windowOf(next) ?? {};
    // If another page is on its way there, its entry may come before the steps are made, which would lead back over it.
    return isThere && frame?.history.depth === over.depth && tab?.state.destination === null;
  }

  /**
   * Over what the tab has left in the browser's list. Its pages say how far they have gone, and a step too many would lead the
   * ones below back. Full lists grow no more.
   */
  #stepsOver(tab: OneTab): number {
    const { history } = this.#options;
    const length = tab.place.over?.length ?? null;
    if (length === null) return 0;
    const depth = windowOf(tab)?.frame.history.depth ?? 0;
    this.#isStepping = true;
    return -1 - Math.max(0, Math.min(depth, history.length - length));
  }

  #hearOfFocus({ has, isBehind }: PageToShell & { type: "focus" }, from: AppWindow): void {
    const tab = this.#tabOf(from);
    if (tab === undefined) return;
    if (tab === this.#shown && has) this.#endFocusTimer();
    else if (tab.group === this.#shown.group)
      // A page that a window of its own covers has no more right to the focus than others behind.
      this.#focusTimer ??= setTimeout(() => this.#keepFocus(), FOCUS_PAUSE);
    else if (has) {
      // The frame may have got the focus before it went behind, or have come there since.
      if (isBehind) this.#rest(tab);
      else this.#tellWhetherBehind(tab);
      this.#options.keepFocus();
      this.#changed();
    }
  }

  /** A document without a page script does not report the focus, so the app looks at which frame has it. */
  #keepFocus(): void {
    this.#endFocusTimer();
    const had = this.#options.keepFocus();
    const tab = this.#tabs.find((each) => windowOf(each)?.frame.element === had);
    if (tab === undefined || tab.group === this.#shown.group) return;
    if (tab.hadFocusBehind) this.#rest(tab);
    tab.hadFocusBehind = true;
    this.#changed();
  }

  #endFocusTimer(): void {
    clearTimeout(this.#focusTimer);
    this.#focusTimer = undefined;
  }

  #hearSound({ isOn }: PageToShell & { type: "sound" }, from: AppWindow): void {
    const tab = this.#tabOf(from);
    if (tab !== undefined) tab.isHeard = isOn === true;
  }

  #tabOf(window: AppWindow): OneTab | undefined {
    return this.#tabs.find((each) => windowOf(each) === window);
  }

  #find(id: number): OneTab | undefined {
    return this.#tabs.find((each) => each.id === id);
  }

  /**
   * @param how "over": a page of the tab in front has opened it; "back": from a tab that has closed, over which the browser
   *   steps.
   */
  #turnTo(tab: OneTab, how: "anew" | "over" | "back" = "anew"): void {
    const former = this.#shown;
    if (!this.#haveFrames) {
      const { shown } = this;
      former.frames = { kind: "kept", page: pageOf(former) };
      tab.frames = { kind: "live", window: shown };
    }
    const isNew = tab.frames.kind === "kept";
    if (isNew) this.#giveFrame(tab);
    this.#shown = tab;
    tab.hadFocusBehind = false;
    tab.shownAt = ++this.#turns;
    if (tab.group !== former.group) for (const each of this.#tabs) this.#tellWhetherBehind(each);
    this.#arrange();
    this.shown.tab.comeToFront();
    if (how === "over" && this.#haveFrames) this.#putOver(former);
    else if (how !== "back") this.#anchor();
    if (isNew || !this.#haveFrames) restoreTab(this.shown, tab.entries);
    this.#makeRoom();
    this.#changed();
    this.#options.focusPage();
  }

  /** The one in front is seen. */
  #arrange(): void {
    for (const each of this.all) {
      const { element } = each.frame;
      const isShown = this.isShown(each);
      element.title = isShown ? "Page" : "Page behind";
      element.inert = !isShown;
      element.classList.toggle("behind", !isShown);
    }
  }

  /** A page that a window of its own covers counts as one that is seen. */
  #tellWhetherBehind(tab: OneTab): void {
    const page = windowOf(tab)?.frame.element.contentWindow ?? null;
    const isBehind = tab.group !== this.#shown.group;
    if (page !== null && this.#haveFrames) tellDocuments(page, { tag: MESSAGE_TAG, type: "tab", isBehind });
  }

  /** @param name of the frame. */
  #giveFrame(tab: OneTab, name = ""): AppWindow {
    const window = this.#createWindow(tab);
    const { element } = window.frame;
    tab.frames = { kind: "live", window };
    element.name = name;
    this.#host?.append(element);
    this.#arrange();
    return window;
  }

  /** Its frame goes. */
  #rest(tab: OneTab): void {
    if (tab.frames.kind === "kept") return;
    const { window } = tab.frames;
    this.#part(tab);
    tab.frames = { kind: "kept", page: pageOf(tab) };
    tab.isHeard = false;
    window.frame.leave();
    window.frame.element.remove();
    window.tab.end();
  }

  /** No other tab's page has to do with it any more. */
  #part(tab: OneTab): void {
    const window = windowOf(tab);
    const former = tab.group;
    tab.group = ++this.#lastId;
    tab.openedBy = null;
    for (const each of this.#tabs) if (each.group === former) this.#tellWhetherBehind(each);
    if (window === null) return;
    // A document learns from it that it has an opener.
    window.frame.element.name = "";
    this.#windows.onEnd(window);
  }

  /**
   * The frames of tabs that were not seen for the longest time go; that of the one heard last is the last to go. Windows of the
   * page in front, and those that have opened it, stay.
   */
  #makeRoom(): void {
    const behind = this.#tabs
      .filter((each) => each.group !== this.#shown.group && each.frames.kind === "live")
      .sort((one, other) => other.shownAt - one.shownAt);
    const heard = behind.find(({ isHeard }) => isHeard);
    const kept = behind.toSorted((one, other) => Number(other === heard) - Number(one === heard));
    for (const tab of kept.slice(this.#options.mostBehind)) this.#rest(tab);
  }

  #create(from?: OneTab, openedBy: string | null = null): OneTab {
    const id = ++this.#lastId;
    return {
      id,
      from: from?.id ?? null,
      openedBy,
      group: openedBy === null ? id : (from?.group ?? id),
      entries: [],
      frames: { kind: "kept", page: { url: "", title: "", icon: null } },
      place: { mark: 0, over: null },
      shownAt: this.#turns,
      isHeard: false,
      hadFocusBehind: false,
    };
  }

  #createWindow(one: OneTab): AppWindow {
    const { app, places, createFrame, focusPage, openOtherApp } = this.#options;
    const tabNow = () => (this.#haveFrames ? one : this.#shown);
    const frame: PageFrame = new PageFrame(createFrame(), places, (entries) => {
      tabNow().entries = entries;
      this.#keep();
      this.#onEntries(frame, tabNow());
    });
    const id = ++this.#lastWindow;
    const isInFront = () => this.isShown(window);
    const onCommit = () => {
      if (isInFront()) focusPage();
      if (tabNow().group !== this.#shown.group) this.#tellWhetherBehind(tabNow());
      this.#windows.onPage(window);
    };
    const anchor = () => isInFront() && this.#anchor();
    const close = one.from === null ? undefined : () => this.#end(one);
    const part = () => this.#part(tabNow());
    const tab: Tab = new Tab({ id, app, frame, onCommit, close, part, isInFront, anchor, openOtherApp });
    const window: AppWindow = { frame, tab };
    return window;
  }

  /** A frame behind may have added entries of its own, after those of the tab shown. */
  #onEntries(frame: PageFrame, tab: OneTab): void {
    const { added } = frame.history;
    const isMore = added > (this.#added.get(frame) ?? 0);
    this.#added.set(frame, added);
    if (!isMore || tab === this.#shown) return;
    this.#leadNowhere();
    this.#anchorTimer ??= setTimeout(() => {
      this.#anchorTimer = undefined;
      this.#anchor();
    }, ANCHOR_PAUSE);
  }

  #changed(): void {
    this.#keep();
    this.#options.app.draw();
  }

  #keep(): void {
    const others = this.#tabs.filter((each) => each !== this.#shown);
    const tabs = others.map((each) => {
      const { title, picture } = pageOf(each);
      return { entries: each.entries, title, picture };
    });
    this.#options.keep(this.#shown.entries, { tabs, at: this.#tabs.indexOf(this.#shown) });
  }
}

/** Of an entry of the app's own in the browser's list; 0 where it is none. */
function markOf(state: unknown): number {
  return (state as { readonly tab?: number } | null)?.tab ?? 0;
}

/** The page that the tab had last comes into its frame. */
function restoreTab({ tab, frame }: AppWindow, entries: readonly KeptEntry[]): void {
  tab.restart(entries);
  frame.showStart();
}

function windowOf({ frames }: OneTab): AppWindow | null {
  return frames.kind === "live" ? frames.window : null;
}

function pageOf({ frames }: OneTab): Page {
  if (frames.kind === "kept") return frames.page;
  const { url, destination, title, icon, picture = null } = frames.window.tab.state;
  return { url: url || (destination?.url ?? ""), title, icon, picture };
}

/** All documents of a page, as far as they are there. */
function tellDocuments(page: Window, message: ShellToPage): void {
  const pages = [page];
  for (const each of pages) {
    each.postMessage(message, "*");
    for (let at = 0; at < each.length && pages.length < MOST_TOLD; at++) pages.push(each[at] as Window);
  }
}
