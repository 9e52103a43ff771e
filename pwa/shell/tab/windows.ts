/**
 * Windows that pages open. Each is a tab (`tabs.ts`) in front of that of the page that wants it. Scripts of different tabs
 * cannot reach each other: what they say goes through here, where it is known who has opened whom.
 */
import {
  MESSAGE_TAG,
  type OpensWindow,
  type PageToShell,
  type WindowNews,
  type WindowOrder,
} from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import { siteName } from "../../messages/tunnel-messages.ts";
import { openedName } from "../../slot/slot-url.ts";
import type { App } from "../app/app.ts";
import type { Slot } from "../frames/places.ts";
import type { Meeting, SlotFrames } from "../frames/slot-frames.ts";
import type { Activation } from "../frames/slot-services.ts";
import { pageNavigation, webAddress, windowNavigation } from "./navigation-request.ts";
import { Openings } from "./openings.ts";
import type { PageFrame } from "./page-frame.ts";
import type { Tab } from "./tab.ts";

/** Windows of one document that it may still speak of. */
const MOST_LINKS = 64;

/** Characters of a window's id, and of its name: a page can give any. */
const MOST_NAME = 1_000;

export interface AppWindow {
  readonly tab: Tab;
  readonly frame: PageFrame;
}

interface OpenedWindow {
  readonly window: AppWindow;
  /** The way to its opener; null once it has none. */
  opener: Link | null;
  /** Of all documents that can speak of it. */
  readonly links: Set<Link>;
  /** With its opener. */
  readonly meeting: Meeting | null;
  /** Where they meet there is a document. */
  canMeet: boolean;
  /** By `performance.now()`. */
  readonly openedAt: number;
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

/** The tabs, each of which has a window. */
export interface WindowPlaces {
  /** The person sees it. */
  isShown(window: AppWindow): boolean;
  /** The person sees it, or a window that it or one of its windows has opened, or that has opened it. */
  isOfGroupShown(window: AppWindow): boolean;
  /** Whether one more may be opened: each holds a page in memory. */
  hasRoomBeside(window: AppWindow): boolean;
  /** Opens one in front. @param name of its frame. @param openedBy real origin. */
  openBeside(from: AppWindow, request: NavigationRequest, name: string, openedBy: string): AppWindow;
  /**
   * A page wants a tab for this address.
   *
   * @param isAsked the person has said so, to the app.
   * @returns false where pages have just opened as many as a tap may.
   */
  openForPage(request: NavigationRequest, how: "in front" | "behind", isAsked: boolean): boolean;
  /** Brings it to the front. */
  raise(window: AppWindow): void;
  closeWindow(window: AppWindow): void;
}

export interface WindowsOptions {
  readonly app: App;
  /** Null where some pages have no slots: there new windows open in the one view. */
  readonly slots: Pick<SlotFrames, "find" | "originOf" | "meet"> | null;
  readonly places: WindowPlaces;
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
  readonly #opened = new Map<AppWindow, OpenedWindow>();
  readonly #links = new WeakMap<Window, Map<string, Link>>();
  /** Has had a tap, and is not open yet. */
  #blank: Link | null = null;
  /** Windows that pages have closed since. */
  readonly #closedByPages = new Openings();
  /** Windows that pages have brought to the front. */
  readonly #raised = new Openings();

  constructor(options: WindowsOptions) {
    this.#options = options;
  }

  /** @returns whether the message is about windows, and all is done. */
  take(message: PageToShell, slot: Slot, speaker: Speaker): boolean {
    const { source, from, userActivation } = speaker;
    if (message.type === "window") this.#hear(message, slot, speaker);
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
    const { slots, places } = this.#options;
    const { opens } = opening;
    const isBlank = opening.url === "about:blank";
    const url = isBlank ? opening.url : webAddress(opening.url);
    if (opens === undefined || url === null) return false;
    const request = pageNavigation(opening, url, slot.origin);
    const { id } = opens;
    const isTab = opens.tab !== undefined || (id === null && slots !== null);
    if (isTab) return this.#openTab(opens.tab, request, slot, from, activation);
    if (slots === null || id === null) return isBlank;
    const link = this.#link({ ...opens, id }, slot, source, from);
    const named = this.#named(link);
    if (named !== null) {
      this.#connect(link, named);
      if (!isBlank) named.window.tab.sendTo(request);
      return true;
    }
    // A tap opens one window: the page that was tapped is behind that.
    const hasTap =
      link === this.#blank || ((activation ?? navigator.userActivation).isActive && !this.#closedByPages.areEnough);
    const isAsked = this.#mayCover(slot, from) && (hasTap || this.#isAllowed(slot));
    if (isAsked && isBlank) return this.#keepBlank(link);
    if (isAsked && places.hasRoomBeside(from)) this.#show(link, request, slot);
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
    const { places } = this.#options;
    return places.isShown(from) || (places.isOfGroupShown(from) && this.#isAllowed(slot));
  }

  /** The person may open it, while the page that wanted it is there. @returns true. */
  #offer({ topLevelOrigin: url }: Slot, from: AppWindow, show: (() => void) | null): true {
    const { app, places } = this.#options;
    if (places.isOfGroupShown(from)) app.notify({ kind: "window", url, show }, () => !places.isShown(from));
    return true;
  }

  /**
   * Opens a tab: a window without an opener and its page know nothing of each other.
   *
   * @param how by a key or button of the mouse. @returns true.
   */
  #openTab(how: unknown, request: NavigationRequest, slot: Slot, from: AppWindow, activation?: Activation): true {
    const { places } = this.#options;
    const hasTap = (activation ?? navigator.userActivation).isActive && places.isShown(from);
    if (request.url === "about:blank" || (how !== undefined && !hasTap)) return true;
    const open = (isAsked: boolean) => places.openForPage(request, how === "behind" ? how : "in front", isAsked);
    const mayOpen = hasTap || (places.isOfGroupShown(from) && this.#isAllowed(slot));
    return (mayOpen && open(false)) || this.#offer(slot, from, () => open(true));
  }

  /** A document speaks of a window that it has opened, or to the one that has opened it. */
  #hear({ id, act }: WindowOrder, slot: Slot, speaker: Speaker): void {
    const { places } = this.#options;
    const { source, ports, userActivation } = speaker;
    if (id === undefined) return this.#hearOpened(act, slot, speaker);
    const link = this.#links.get(source)?.get(id);
    if (link === undefined) return;
    const { state } = link;
    const going = windowNavigation(act, slot.origin);
    if (going !== null && state.kind === "blank") {
      const isWanted = link === this.#blank || this.#isAllowed(slot);
      const mayShow = isWanted && this.#mayCover(slot, link.from) && places.hasRoomBeside(link.from);
      return mayShow ? this.#show(link, going, slot) : this.#end(link);
    }
    if (act.kind === "close" && state.kind === "blank") return this.#end(link);
    if (state.kind !== "open") return;
    const { window } = state.window;
    const page = window.frame.element.contentWindow;
    if (act.kind === "close") this.#closeByPage(state.window);
    else if (act.kind === "focus") this.#raise(window, link.from, userActivation);
    else if (going !== null) window.tab.sendTo(going);
    else if (act.kind === "post" && page !== null) this.#post({ ...act, to: page, from: slot, partition: null }, ports);
  }

  #hearOpened(act: WindowOrder["act"], slot: Slot, { source, from, ports }: Speaker): void {
    if (!from.frame.isOf(source)) return;
    if (act.kind === "step") {
      // The browser lets the frame step through its own entries alone, and the app through all.
      const isShown = this.#options.places.isShown(from);
      const isTaken = !(isShown && from.frame.history.leadsTo(act.delta)) && from.tab.step(act.delta, "started");
      return tell(source, "*", undefined, { kind: "step", isYours: isShown && !isTaken });
    }
    const opened = this.#opened.get(from);
    if (opened === undefined) return act.kind === "close" ? closeTab(from) : undefined;
    if (act.kind === "close") return this.#closeByPage(opened);
    const { opener } = opened;
    const isApart = act.kind === "disown" && act.isApart === true;
    const isParted = opener !== null && (opener.isApart || isApart) && opener.slot.origin !== slot.origin;
    if (isParted) this.#endAll(opened);
    if (opener === null || isParted) return tell(source, "*", undefined, { kind: "closed" });
    const going = windowNavigation(act, slot.origin);
    if (act.kind === "disown" && !isApart) this.#endAll(opened);
    else if (going !== null && opener.from.frame.isOf(opener.source)) opener.from.tab.sendTo(going);
    else if (act.kind === "post") {
      const partition = opener.slot.topLevelOrigin;
      this.#post({ ...act, to: opener.source, id: opener.id, from: slot, partition }, ports);
    }
  }

  /** A document has come into the frame of a window: a script of its origin that has opened that may see which. */
  onPage(window: AppWindow): void {
    const { url } = window.tab.state;
    for (const link of this.#opened.get(window)?.links ?? []) {
      const isOwn = URL.parse(url)?.origin === link.slot.origin;
      this.#news(link, { kind: "at", url: isOwn ? url : null });
    }
  }

  /** The page may open the next one at once, but not for ever. */
  #closeByPage({ window, openedAt }: OpenedWindow): void {
    this.#closedByPages.count(openedAt);
    this.#options.places.closeWindow(window);
  }

  /**
   * Its opener wants it in front of others of the group; in front of itself by a tap alone, since the person may have turned to
   * it. Chromium lets nobody else do so: a window's `opener.focus()` raises nothing (`DOMWindow::focus`).
   */
  #raise(window: AppWindow, opener: AppWindow, activation: Activation = navigator.userActivation): void {
    const { places } = this.#options;
    if (!places.isOfGroupShown(window) || places.isShown(window)) return;
    if (places.isShown(opener) ? !activation.isActive : this.#raised.areEnough) return;
    this.#raised.count(performance.now());
    places.raise(window);
  }

  /** The frame of a window goes, or its pages have to do with no others any more. */
  onEnd(window: AppWindow): void {
    const ended = this.#opened.get(window);
    if (ended !== undefined) this.#endAll(ended);
    this.#opened.delete(window);
    for (const opened of this.#opened.values()) {
      if (opened.opener?.from !== window) continue;
      part(opened);
      const page = opened.window.frame.element.contentWindow;
      if (page !== null) tell(page, "*", undefined, { kind: "closed" });
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
    return [...this.#opened.values()].find(isIt) ?? null;
  }

  #show(link: Link, request: NavigationRequest, slot: Slot): void {
    const hasOpener = this.#links.get(link.source)?.get(link.id) === link;
    if (this.#blank !== link) this.#endBlank();
    const { places, slots } = this.#options;
    const meeting = (hasOpener && slots?.meet(link.slot, () => this.#onMeeting(opened))) || null;
    const name = hasOpener ? openedName(link.name, meeting?.id ?? "") : "";
    const window = places.openBeside(link.from, request, name, slot.topLevelOrigin);
    const opener = hasOpener ? link : null;
    const opened: OpenedWindow = {
      window,
      opener,
      links: new Set<Link>(),
      meeting,
      canMeet: false,
      openedAt: performance.now(),
    };
    this.#opened.set(window, opened);
    this.#connect(link, opened);
  }

  /** Scripts of the opener's origin, in the window or not, may find each other. */
  #onMeeting(opened: OpenedWindow): void {
    const { window, opener, links, meeting } = opened;
    const page = window.frame.element.contentWindow;
    if (opener === null || meeting === null || page === null) return;
    opened.canMeet = true;
    const origin = this.#options.slots?.originOf(opener.slot);
    if (origin !== undefined) tell(page, origin, undefined, { kind: "meeting", meeting: meeting.id });
    for (const link of links) this.#tellMeeting(link, opened);
  }

  #tellMeeting(link: Link, { opener, meeting, canMeet }: OpenedWindow): void {
    if (canMeet && meeting !== null && link.slot.label === opener?.slot.label)
      this.#news(link, { kind: "meeting", meeting: meeting.id });
  }

  #connect(link: Link, window: OpenedWindow): void {
    link.state = { kind: "open", window };
    window.links.add(link);
    this.#tellMeeting(link, window);
  }

  /** A tap opens one window, now or later; on a site that may open windows unasked, more. @returns true. */
  #keepBlank(link: Link): true {
    this.#endBlank();
    this.#blank = link;
    return true;
  }

  #endBlank(): void {
    const blank = this.#blank;
    if (blank?.state.kind === "blank" && !this.#isAllowed(blank.slot)) this.#end(blank);
    this.#blank = null;
  }

  /** The window and those that have opened it know nothing of each other any more. */
  #endAll(window: OpenedWindow): void {
    part(window);
    for (const link of window.links) this.#end(link);
  }

  #end(link: Link): void {
    if (link.state.kind === "open") link.state.window.links.delete(link);
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

/** The window has no opener any more. */
function part(window: OpenedWindow): void {
  if (window.opener !== null) window.meeting?.end();
  window.opener = null;
}

/** As HTML has it, where the page is all that the tab has shown, and another page has led there. */
function closeTab({ tab, frame }: AppWindow): void {
  if (!frame.history.canGoBack) tab.close();
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
