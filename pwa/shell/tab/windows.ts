/**
 * The windows of a tab: that which the person opened, and those that pages have opened over it, each with a frame of its
 * own beside the others, so that a page goes on while its window is in front. They form a stack, since the browser has one
 * session history for all frames of a window: what a window adds to it lies behind what the ones below it have added, and
 * is stepped over when it closes. Scripts of different windows cannot reach each other: what they say goes through here,
 * where it is known who has opened whom.
 */
import {
  MESSAGE_TAG,
  type OpensWindow,
  type PageToShell,
  type ShellToPage,
  type WindowNews,
  type WindowOrder,
} from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import { siteName } from "../../messages/tunnel-messages.ts";
import { OPENED_NAME } from "../../slot/slot-url.ts";
import type { App } from "../app/app.ts";
import type { SiteSize, WindowState } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import type { Activation } from "../frames/slot-services.ts";
import { pageNavigation, typedNavigation, webAddress } from "./navigation-request.ts";
import { Openings } from "./openings.ts";
import type { PageFrame } from "./page-frame.ts";
import type { Tab, TabOptions } from "./tab.ts";

/** Each holds a page in memory. The one below the limit shows what would open another. */
const MOST_WINDOWS = 8;

/** Windows of one document that it may still speak of. */
const MOST_LINKS = 64;

/** Characters of a window's id, and of its name: a page can give any. */
const MOST_NAME = 1_000;

export interface AppWindow {
  readonly tab: Tab;
  readonly frame: PageFrame;
}

interface OpenedWindow extends AppWindow {
  /** The way to its opener; null once it has none. */
  opener: Link | null;
  /** Real origin of the page that has opened it. */
  readonly openedBy: string;
  /** How far down their histories the others were. */
  readonly depths: ReadonlyMap<AppWindow, number>;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** Of the browser's history, with the one that was put there for it; null while it waits for that. */
  entries: number | null;
  /** Turns of the tab before. */
  readonly turn: number;
}

/** A document's window that opens others, and one of those. */
interface Link {
  readonly id: string;
  readonly name: string;
  /** As it speaks; what is in it may change. */
  readonly source: Window;
  readonly slot: Slot;
  readonly from: AppWindow;
  /** As of `OpensWindow`. */
  readonly isApart: boolean;
  state: /** The person has asked for it, and the script has not yet said where it goes. */
  { readonly kind: "blank" } | { readonly kind: "open"; readonly window: OpenedWindow } | { readonly kind: "closed" };
}

type Opening = PageToShell & { readonly type: "navigate" };

/** Of a message: the window that speaks, however deep in which window, and what came with it. */
export interface Speaker {
  readonly source: Window;
  readonly from: AppWindow;
  readonly ports: readonly MessagePort[];
  readonly userActivation?: Activation | undefined;
}

export interface WindowsOptions {
  readonly app: App;
  /** Null where some pages have no slots: there new windows open in the one view. */
  readonly slots: Pick<SlotFrames, "find" | "originOf"> | null;
  /** Makes a tab, whose frame is in no document yet. */
  readonly create: (window: NonNullable<TabOptions["window"]>) => AppWindow;
  /** The browser's own list of what the person has seen. */
  readonly history: Pick<History, "go" | "length"> & {
    /** Adds an entry, at which the tab has so many windows. @param isBeginning the tab's entries begin with it. */
    mark(windows: number, isBeginning: boolean): void;
  };
  /**
   * A page wants a tab for this address.
   *
   * @param isAsked the person has said so, to the app.
   * @returns false where pages have just opened as many as a tap may.
   */
  readonly openTab: (request: NavigationRequest, how: "in front" | "behind", isAsked: boolean) => boolean;
  /** Gives the window in front the focus of the keyboard. */
  readonly focusPage: () => void;
}

interface Post {
  readonly data: unknown;
  /** Real, or "*". */
  readonly targetOrigin: string;
  readonly to: Window;
  /** As of `WindowNews`. */
  readonly id?: string;
  readonly from: Slot;
  /** Top-level origin of the page that it is for; null: it is the page. */
  readonly partition: string | null;
}

export class Windows {
  readonly #options: WindowsOptions;
  /** The person has opened it. */
  readonly first: AppWindow;
  #opened: readonly OpenedWindow[] = [];
  readonly #links = new WeakMap<Window, Map<string, Link>>();
  #host: ParentNode | null = null;
  /** Has had a tap, and is not open yet. */
  #blank: Link | null = null;
  /** The person sees the tab. */
  #isInFront = false;
  /** How often the tab got a new place in the browser's list, as it does each time that it comes to the front. */
  #turns = 0;
  /** The browser goes back over what a window has left: an entry that is put there meanwhile would be stepped over, too. */
  #isStepping = false;
  /** Windows that pages have closed since. */
  readonly #closedByPages = new Openings();

  constructor(first: AppWindow, options: WindowsOptions) {
    this.first = first;
    this.#options = options;
  }

  get shown(): AppWindow {
    return this.#opened.at(-1) ?? this.first;
  }

  get all(): readonly AppWindow[] {
    return [this.first, ...this.#opened];
  }

  get state(): Pick<WindowState, "openedBy"> {
    return { openedBy: this.#opened.at(-1)?.openedBy ?? null };
  }

  /** @param host the first window's frame goes into it, and all others. */
  mount(host: ParentNode): void {
    this.#host = host;
    host.append(this.first.frame.element);
    this.#arrange();
  }

  /** The tab comes to the front, or goes behind another. */
  turn(isInFront: boolean): void {
    this.#isInFront = isInFront;
    for (const { frame } of this.all) this.#tellWhetherBehind(frame);
    this.#arrange();
  }

  #tellWhetherBehind({ element }: PageFrame): void {
    if (element.contentWindow !== null && this.#options.slots !== null)
      tellDocuments(element.contentWindow, { tag: MESSAGE_TAG, type: "tab", isBehind: !this.#isInFront });
  }

  /** The browser's list leads nowhere from here, in none of the windows. */
  part(): void {
    this.#turns += 1;
    for (const { frame } of this.all) frame.history.anchor();
  }

  /** Likewise, and an entry of the app's own comes there. */
  anchor(): void {
    this.part();
    this.#options.history.mark(this.#opened.length, true);
    for (const window of this.#opened) window.entries ??= this.#options.history.length;
    this.#isStepping = false;
  }

  isShown({ frame }: Pick<AppWindow, "frame">): boolean {
    return this.#isInFront && this.shown.frame === frame;
  }

  /** The tab goes, with all of its windows. */
  end(): void {
    this.#isInFront = false;
    this.closeAll();
    this.first.frame.element.remove();
    this.first.tab.end();
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

  /** @returns whether the message is about windows, and all is done. */
  take(message: PageToShell, slot: Slot, { source, from, ports, userActivation }: Speaker): boolean {
    if (message.type === "window") this.#hear(message, slot, source, ports);
    return (
      message.type === "window" ||
      (message.type === "navigate" && this.#open(message, slot, source, from, userActivation))
    );
  }

  /**
   * A document in `from` opens a window. It is blank until its script says where it goes, where it has no address.
   *
   * @returns false where there are no windows: the page itself is to go there.
   */
  #open(opening: Opening, slot: Slot, source: Window, from: AppWindow, activation?: Activation): boolean {
    const { opens } = opening;
    const isBlank = opening.url === "about:blank";
    const url = isBlank ? opening.url : webAddress(opening.url);
    if (opens === undefined || url === null) return false;
    const request = pageNavigation(opening, url, slot.origin);
    const { id } = opens;
    const isTab = opens.tab !== undefined || (id === null && this.#options.slots !== null);
    if (isTab) return this.#openTab(opens.tab, request, slot, from, activation);
    if (this.#options.slots === null || id === null) return isBlank;
    const link = this.#link({ ...opens, id }, slot, source, from);
    const named = this.#named(link);
    if (named !== null) {
      link.state = { kind: "open", window: named };
      if (!isBlank) named.tab.sendTo(request);
      return true;
    }
    // A tap opens one window: the page that was tapped is behind that.
    const hasTap =
      link === this.#blank || ((activation ?? navigator.userActivation).isActive && !this.#closedByPages.areEnough);
    const isAsked = this.#mayCover(slot, from) && (hasTap || this.#isAllowed(slot));
    if (isAsked && isBlank) return this.#keepBlank(link);
    if (isAsked && this.#opened.length < MOST_WINDOWS) this.#show(link, request, slot);
    else if (isAsked || isBlank) this.#end(link);
    if (isAsked) return link.state.kind === "open";
    return this.#offer(slot, from, isBlank ? null : () => this.#show(link, request, slot));
  }

  /** The person has allowed it to the site. */
  #isAllowed({ topLevelOrigin }: Slot): boolean {
    return this.#options.app.state.settings.windowOpeners.includes(siteName(topLevelOrigin));
  }

  /** A page that another window covers may cover that one in turn only where the person lets its site open windows. */
  #mayCover(slot: Slot, from: AppWindow): boolean {
    return this.isShown(from) || (this.#isInFront && this.#isAllowed(slot));
  }

  /** The person may open it, while the page that wanted it is there. @returns true. */
  #offer({ topLevelOrigin: url }: Slot, from: AppWindow, show: (() => void) | null): true {
    if (this.#isInFront) this.#options.app.notify({ kind: "window", url, show }, () => !this.isShown(from));
    return true;
  }

  /**
   * Opens a tab: a window without an opener and its page know nothing of each other.
   *
   * @param how by a key or button of the mouse. @returns true.
   */
  #openTab(how: unknown, request: NavigationRequest, slot: Slot, from: AppWindow, activation?: Activation): true {
    const hasTap = (activation ?? navigator.userActivation).isActive && this.isShown(from);
    if (request.url === "about:blank" || (how !== undefined && !hasTap)) return true;
    const open = (isAsked: boolean) => this.#options.openTab(request, how === "behind" ? how : "in front", isAsked);
    const mayOpen = hasTap || (this.#isInFront && this.#isAllowed(slot));
    return (mayOpen && open(false)) || this.#offer(slot, from, () => open(true));
  }

  /** A document speaks of a window that it has opened, or to the one that has opened it. */
  #hear(order: WindowOrder, slot: Slot, source: Window, ports: readonly MessagePort[]): void {
    const { id, act } = order;
    if (id === undefined) return this.#hearOpened(act, slot, source, ports);
    const link = this.#links.get(source)?.get(id);
    if (link === undefined) return;
    const { state } = link;
    const address = act.kind === "go" ? webAddress(act.url) : null;
    const going = address === null ? null : typedNavigation(address, slot.origin);
    if (going !== null && state.kind === "blank") {
      const mayShow = this.#mayCover(slot, link.from) && this.#opened.length < MOST_WINDOWS;
      return mayShow ? this.#show(link, going, slot) : this.#end(link);
    }
    if (act.kind === "close" && state.kind === "blank") return this.#end(link);
    if (state.kind !== "open") return;
    const { window } = state;
    const page = window.frame.element.contentWindow;
    if (act.kind === "close") this.#closeByPage(window);
    else if (act.kind === "focus") this.#raise(window);
    else if (going !== null) window.tab.sendTo(going);
    else if (act.kind === "post" && page !== null) this.#post({ ...act, to: page, from: slot, partition: null }, ports);
  }

  #hearOpened(act: WindowOrder["act"], slot: Slot, source: Window, ports: readonly MessagePort[]): void {
    const window = this.#opened.find(({ frame }) => frame.isOf(source));
    if (act.kind === "close") return window === undefined ? this.#closeTab(source) : this.#closeByPage(window);
    if (window === undefined) return;
    const { opener } = window;
    const isApart = act.kind === "disown" && act.isApart === true;
    const isParted = opener !== null && (opener.isApart || isApart) && opener.slot.origin !== slot.origin;
    if (isParted) this.#end(opener);
    if (opener === null || isParted) return tell(source, "*", undefined, { kind: "closed" });
    const address = act.kind === "go" ? webAddress(act.url) : null;
    if (act.kind === "disown" && !isApart) this.#end(opener);
    else if (address !== null && opener.from.frame.isOf(opener.source))
      opener.from.tab.sendTo(typedNavigation(address, slot.origin));
    else if (act.kind === "post") {
      const partition = opener.slot.topLevelOrigin;
      this.#post({ ...act, to: opener.source, id: opener.id, from: slot, partition }, ports);
    }
  }

  /** As HTML has it, where the page is all that the tab has shown, and another page has led there. */
  #closeTab(source: Window): void {
    const { frame, tab } = this.first;
    if (frame.isOf(source) && !frame.history.canGoBack && this.#opened.length === 0) tab.close();
  }

  /** A document has come into the frame of an opened window: a script of its origin may see which. */
  onPage(frame: PageFrame): void {
    if (!this.#isInFront) this.#tellWhetherBehind(frame);
    const window = this.#opened.find((each) => each.frame === frame);
    if (window === undefined) return;
    const { url } = window.tab.state;
    for (const link of this.#linksOf(window)) {
      const isOwn = URL.parse(url)?.origin === link.slot.origin;
      this.#news(link, { kind: "at", url: isOwn ? url : null });
    }
  }

  #goHome(): void {
    this.closeAll();
    this.first.tab.home();
  }

  /** Windows that pages have opened. */
  closeAll(): void {
    for (const window of [...this.#opened].reverse()) this.close(window);
  }

  /** The page may open the next one at once, but not for ever. */
  #closeByPage(window: OpenedWindow): void {
    this.#closedByPages.count(window.openedAt);
    this.close(window);
  }

  /**
   * Its opener wants it in front of those that were opened since. Chromium lets nobody else do so: a window's
   * `opener.focus()` raises nothing (`DOMWindow::focus`).
   */
  #raise(window: OpenedWindow): void {
    if (!this.#isInFront || window === this.shown) return;
    this.#opened = [...this.#opened.filter((each) => each !== window), window];
    this.#arrange();
    this.#options.focusPage();
  }

  /** @param isBack the browser's history has left it already. */
  close(window: AppWindow, isBack = false): void {
    const closing = this.#opened.find((each) => each === window);
    if (closing === undefined) return;
    const isTop = closing === this.shown;
    const { frame, tab, depths, entries } = closing;
    // Its pages say how far they have gone, and a step too many would lead the ones below back. Full lists grow no more.
    const added = Math.max(0, Math.min(frame.history.depth, this.#options.history.length - (entries ?? 0))) + 1;
    for (const link of this.#linksOf(closing)) this.#end(link);
    this.#opened = this.#opened.filter((each) => each !== closing);
    for (const { opener, frame: other } of this.#opened)
      if (opener?.from === closing && other.element.contentWindow !== null)
        tell(other.element.contentWindow, "*", undefined, { kind: "closed" });
    frame.element.remove();
    tab.end();
    // Where one below has gone on meanwhile, the steps back would lead that one back.
    const isStill = this.all.every((each) => each.frame.history.depth === (depths.get(each) ?? 0));
    const leads = closing.turn === this.#turns && isStill;
    if (isTop && this.#isInFront && !isBack) {
      if (leads && entries !== null) {
        this.#isStepping = true;
        this.#options.history.go(-added);
      }
      if (closing.turn !== this.#turns) this.anchor();
    }
    this.#arrange();
  }

  /** The browser's history has come to an entry that was there when so many windows were open. */
  onEntry(count: number): void {
    const marked = this.#opened.filter(({ entries }) => entries !== null);
    for (const window of marked.slice(count).reverse()) this.close(window, true);
    if (count > marked.length) return;
    this.#isStepping = false;
    // A tab that went behind gets one as it comes back.
    if (this.#isInFront) this.#mark();
  }

  /** The phone's own way back leads to the entry of a window, and closes it. */
  #mark(): void {
    const { history } = this.#options;
    for (const [at, window] of this.#opened.entries()) {
      if (this.#isStepping || window.entries !== null) continue;
      history.mark(at + 1, false);
      window.entries = history.length;
    }
  }

  #link(
    { id, name, isApart }: OpensWindow & { readonly id: string },
    slot: Slot,
    source: Window,
    from: AppWindow,
  ): Link {
    const [ownId = "", ownName = ""] = [id, name].map((text) => String(text).slice(0, MOST_NAME));
    const told = { id: ownId, name: ownName, isApart: isApart === true };
    const link: Link = { ...told, source, slot, from, state: { kind: "blank" } };
    // A script opens a window again by its name.
    const known = this.#links.get(source)?.get(ownId);
    if (known !== undefined && known.slot.origin === slot.origin && known.state.kind !== "closed") return known;
    const links = this.#links.get(source) ?? new Map<string, Link>();
    for (const [first] of links) if (links.size >= MOST_LINKS) links.delete(first);
    this.#links.set(source, links.set(link.id, link));
    return link;
  }

  /** The window that the same page has opened by this name. */
  #named({ name, slot, from, state }: Link): OpenedWindow | null {
    if (state.kind === "open") return state.window;
    if (name === "") return null;
    const isIt = ({ opener }: OpenedWindow) =>
      opener?.name === name && opener.from === from && opener.slot.origin === slot.origin;
    return this.#opened.find(isIt) ?? null;
  }

  #show(link: Link, request: NavigationRequest, slot: Slot): void {
    const { create } = this.#options;
    const depths = new Map(this.all.map((each) => [each, each.frame.history.depth]));
    const { tab, frame } = create({ close: () => this.close(opened), closeAll: () => this.#goHome() });
    const hasOpener = this.#links.get(link.source)?.get(link.id) === link;
    if (this.#blank !== link) this.#endBlank();
    const opened: OpenedWindow = {
      tab,
      frame,
      opener: hasOpener ? link : null,
      openedBy: slot.topLevelOrigin,
      depths,
      openedAt: performance.now(),
      entries: null,
      turn: this.#turns,
    };
    if (hasOpener) frame.element.name = OPENED_NAME + link.name;
    link.state = { kind: "open", window: opened };
    this.#opened = [...this.#opened, opened];
    this.#mark();
    this.#host?.append(frame.element);
    tab.sendTo(request);
    this.#arrange();
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
    this.#options.app.draw();
  }

  #linksOf(window: OpenedWindow): Link[] {
    const { opener } = window;
    if (opener === null) return [];
    const links = [...(this.#links.get(opener.source)?.values() ?? [])];
    return links.filter(({ state }) => state.kind === "open" && state.window === window);
  }

  /** A tap opens one window, now or later. @returns true. */
  #keepBlank(link: Link): true {
    this.#endBlank();
    this.#blank = link;
    return true;
  }

  #endBlank(): void {
    if (this.#blank?.state.kind === "blank") this.#end(this.#blank);
    this.#blank = null;
  }

  /** The two know nothing of each other any more. */
  #end(link: Link): void {
    if (link.state.kind === "open") link.state.window.opener = null;
    link.state = { kind: "closed" };
    this.#news(link, { kind: "closed" });
  }

  /** The browser compares the page that gets it with the slot of the origin that it is for. */
  #post({ data, targetOrigin, to, id, from, partition }: Post, ports: readonly MessagePort[]): void {
    const { slots } = this.#options;
    const target = targetOrigin === "*" ? null : slots?.find(targetOrigin, partition ?? targetOrigin);
    if (slots === null || target === undefined || (target === null && targetOrigin !== "*")) return;
    const origin = target === null ? "*" : slots.originOf(target);
    tell(to, origin, id, { kind: "message", data, origin: from.origin }, ports);
  }

  #news(link: Link, news: WindowNews["news"]): void {
    const origin = this.#options.slots?.originOf(link.slot);
    if (origin !== undefined) tell(link.source, origin, link.id, news);
  }
}

/** Documents that are told: a page can have any number of frames. */
const MOST_TOLD = 200;

/** In all frames of a page, as far as they are there. */
function tellDocuments(page: Window, message: ShellToPage): void {
  const pages = [page];
  for (const each of pages) {
    each.postMessage(message, "*");
    for (let at = 0; at < each.length && pages.length < MOST_TOLD; at++) pages.push(each[at] as Window);
  }
}

function tell(
  to: Window,
  origin: string,
  id: string | undefined,
  news: WindowNews["news"],
  ports: readonly MessagePort[] = [],
): void {
  const message: WindowNews = { tag: MESSAGE_TAG, type: "window", ...(id !== undefined && { id }), news };
  to.postMessage(message, origin, [...ports]);
}
