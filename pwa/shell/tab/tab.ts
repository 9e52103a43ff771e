import { ErrorCode, later, toErrorCode } from "../../../shared/errors.ts";
import { type DocumentPhase, MESSAGE_TAG, type PageToShell, type Trouble } from "../../messages/page-messages.ts";
import type { NavigationRequest, SignInAsked, TunnelToShell } from "../../messages/tunnel-messages.ts";
import type { App, AppTab, TabEvent } from "../app/app.ts";
import type { Destination, Held, Notice, PageError, Settings, TabActions, TabState } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import type { Activation } from "../frames/slot-services.ts";
import { parseAddress } from "./address-input.ts";
import type { TabNavigation } from "./navigation.ts";
import * as step from "./navigation.ts";
import {
  isPartOf,
  isShownAlready,
  mayHaveActed,
  movedNavigation,
  pageNavigation,
  typedNavigation,
  webAddress,
  withFragmentOf,
  withoutFragment,
} from "./navigation-request.ts";
import { Openings } from "./openings.ts";
import { NO_FREE_HOST, type PageFrame } from "./page-frame.ts";
import { NO_COST, OVERTAKING, PageMeter } from "./page-meter.ts";
import type { KeptEntry } from "./session-history.ts";

/** Characters of a page's title, which can be megabytes: it is shown in lists, and kept with recent and pinned sites. */
const MOST_TITLE = 300;

const TROUBLES: readonly unknown[] = [
  "frame",
  "hidden",
  "tap",
  "socket",
  "form",
  "film",
  "passkey",
  "sync",
] satisfies readonly Trouble[];

/** Links that a page names, of which the tunnel takes as many as it may. */
const MOST_LINKS = 10;

export interface TabOptions {
  /** Different for each tab of this window. */
  readonly id: number;
  readonly app: App;
  readonly frame: PageFrame;
  /** Another document has come into the frame. */
  readonly onCommit: () => void;
  /** Closes it; only where a page, or a link, has led to it. */
  readonly close?: (() => void) | undefined;
  /** The person makes it their own: pages of other tabs have nothing to do with it any more. */
  readonly part?: (() => void) | undefined;
  /** The person sees it: news of others wait. */
  readonly isInFront: () => boolean;
  /** The tab goes through its history without the browser's list, which is to lead nowhere from here. */
  readonly anchor: () => void;
  /** The page in front, of this origin, has a URL that another app of the phone may open. */
  /** @param isOwn false: another site has led there, for which the answer to this one does not count. */
  readonly openOtherApp: (url: string, origin: string, isOwn?: boolean) => void;
}

/** How the tab comes to a navigation. */
interface Going {
  readonly by: Destination["kind"];
  readonly replace?: boolean;
  /** Id of this very navigation, if the tunnel has it already. */
  readonly begun?: number | null;
  /** The frame sets out for the page once the link is open. */
  readonly waitsForLink?: boolean;
  /** When it was asked for, by `performance.now()`; now by default. */
  readonly askedAt?: number;
  /** The page goes to its own address. */
  readonly isSelfSend?: boolean;
  /** The entry shown is one of before the app was closed, and this is its page. */
  readonly isReopening?: boolean;
}

type DocumentNews = TunnelToShell & { type: "document" };
type SilentNews = TunnelToShell & { type: "silent-document" };
type EarlyNews = SilentNews | (DocumentNews & { kind: "none" | "failed" });
/** Pieces of news: a page may have any number of frames. */
const MOST_EARLY = 8;

/**
 * A frame, its session history, and its navigation (HTML section 7.3.1). The person, the tunnel and the pages say what they
 * want; `navigation.ts` says which state follows; the tab does what belongs to that. The app may have several.
 */
export class Tab implements AppTab, TabActions {
  readonly #id: number;
  readonly #app: App;
  readonly #frame: PageFrame;
  readonly #onCommit: () => void;
  readonly #close: TabOptions["close"];
  readonly #part: TabOptions["part"];
  readonly #openOtherApp: TabOptions["openOtherApp"];
  readonly #isInFront: () => boolean;
  readonly #anchor: () => void;
  readonly #meter = new PageMeter();
  readonly #icons: IconLoader;
  #navigation: TabNavigation = step.START;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Closes this tab soon: its only navigation has ended in a file. */
  #closing: ReturnType<typeof setTimeout> | undefined;
  #signIn: SignInAsked | null = null;
  /** Origin that the person has answered for the document that is there: its parts ask no more. */
  #answered: string | null = null;
  #held: Held | null = null;
  /** Lists of a held link that the person has closed: a page could open the next each time, over the whole app. */
  readonly #letGo = new Openings();
  /** News of where the page goes by itself, which came before its word that it goes there. */
  #early: readonly { readonly news: EarlyNews; readonly at: number }[] = [];
  /** Troubles of the page, and whether the person was told of each. */
  #troubles = new Map<Trouble, boolean>();

  constructor({ id, app, frame, onCommit, close, part, isInFront, anchor, openOtherApp }: TabOptions) {
    this.#id = id;
    this.#app = app;
    this.#frame = frame;
    this.#onCommit = onCommit;
    this.#close = close;
    this.#part = part;
    this.#icons = new IconLoader((url, origin) => app.tunnel.icon(url, origin));
    frame.element.addEventListener("load", () => {
      if (!frame.hasOwnOrigin) this.#keep(step.documentCame(this.#navigation, performance.now(), this.#isLinkOpen));
    });
    this.#openOtherApp = openOtherApp;
    this.#isInFront = isInFront;
    this.#anchor = anchor;
    app.add(this);
  }

  get state(): TabState {
    const { page } = this.#navigation;
    return {
      ...step.draw(this.#navigation),
      canGoBack: this.#close !== undefined || this.#frame.history.canGoBack,
      canGoForward: this.#frame.history.canGoForward,
      progress: this.#meter.progress,
      cost: this.#meter.cost,
      storedAt: this.#meter.storedAt(page.url),
      hasNewer: this.#meter.hasNewer(page.url),
      held: this.#held,
      signIn: this.#signIn?.origin === this.#shownOrigin && this.#isAtPage ? this.#signIn : null,
    };
  }

  get #page(): step.CommittedPage {
    return this.#navigation.page;
  }

  /** Whether it is of the page that is there. @param url without fragment. */
  #isShown(url: string): boolean {
    return this.#page.url.split("#", 1)[0] === url;
  }

  /** Of what the frame goes to, else of what it shows. */
  get #shownOrigin(): string | undefined {
    return this.#awaited ?? URL.parse(this.#page.url)?.origin;
  }

  /** Before that, a refused page may be on its way, and the frame could show it in place of the one that the person signs in to. */
  get #isAtPage(): boolean {
    return this.#navigation.kind !== "underway";
  }

  get #sent(): step.SentNavigation | null {
    return step.sentBy(this.#navigation);
  }

  /** Origin of the slot that the frame goes to. */
  get #awaited(): string | null {
    return step.awaitedOrigin(this.#navigation);
  }

  /** Goes where the person was when the app was closed: to the last of the entries. */
  resume(entries: readonly KeptEntry[]): void {
    const url = this.#frame.history.resume(entries);
    // The start document will send the frame there.
    if (url !== null) this.#enter(step.setOut(this.#navigation, { kind: "typed", url }, null));
  }

  /** The frame is another tab's from now on: that goes where its history ends. */
  restart(entries: readonly KeptEntry[]): void {
    this.#abandon();
    this.#frame.history.reset();
    this.#settleAtStart({ kind: "former" });
    this.resume(entries);
  }

  // The person asks

  /** @param initiator as of a NavigationRequest. */
  go(input: string, going: Pick<Going, "begun" | "waitsForLink"> = {}, initiator: string | null = null): void {
    if (input.trim() === "") return;
    const address = parseAddress(input, this.#app.state.settings.searchUrl);
    if (address.kind === "unsupported") return this.#failUnsupported(address.input, address.scheme);
    this.#part?.();
    // If the app was opened for this page, the wait began when it was opened.
    const askedAt = (going.begun ?? null) === null ? performance.now() : 0;
    this.#navigate(typedNavigation(address.url, initiator), { by: "typed", askedAt, ...going });
  }

  /** A page sends the window there: the one that has opened it, or that it has opened. */
  sendTo(request: NavigationRequest): void {
    this.#navigateAnywhere(request, { by: "started" });
  }

  back(): void {
    const { error, url } = this.state;
    const page = this.#page.url;
    if (error !== null && page !== url && (page !== "" || this.#close === undefined)) this.#settle();
    else if (this.#frame.history.canGoBack) this.#step(-1);
    else this.close();
  }

  #step(delta: 1 | -1): void {
    if (this.#frame.history.leadsTo(delta)) {
      this.#change(step.traverse);
      return history.go(delta);
    }
    if (!this.step(delta)) this.#notify({ kind: "no-way-back" });
  }

  /**
   * Goes so many entries on, or back, without the browser's list.
   *
   * @param by whose wish it is.
   * @returns false where no such page is to be had.
   */
  step(delta: number, by: Destination["kind"] = "typed"): boolean {
    if (!this.#frame.history.has(delta)) return false;
    this.#abandon();
    const entry = this.#frame.history.step(delta);
    if (entry === null) return false;
    this.#anchor();
    if (entry.url !== "") this.#reopen(entry.url, by);
    else {
      this.#showStart(true);
      this.#settleAtStart({ kind: "former" });
    }
    return true;
  }

  /** Shows the page of the entry that the history has come to, in place of the one that is there. */
  #reopen(url: string, by: Destination["kind"] = "typed"): void {
    const page = { ...typedNavigation(url), cache: "force-cache" } as const;
    this.#navigate(page, { by, replace: true, isReopening: true });
  }

  close(): void {
    this.#close?.();
  }

  /** The tab, or its frame, is gone. */
  end(): void {
    this.#abandon();
    clearTimeout(this.#timer);
    this.#app.tunnel.tell({ type: "navigation", kind: "closed", tab: this.#id });
    this.#app.remove(this);
  }

  forward(): void {
    if (this.state.canGoForward) this.#step(1);
  }

  reload(): void {
    const navigation = this.#navigation;
    const sent = this.#sent;
    if (navigation.kind === "failed") return this.#tryAgain("asked");
    if (navigation.kind === "underway" && navigation.destination.kind === "typed")
      return this.#navigate(sent?.request ?? typedNavigation(navigation.destination.url), { by: "typed" });
    if (navigation.kind !== "underway" && navigation.kind !== "returning") return this.#reloadPage();
    // The person wants the page that is there, not where that sends the frame.
    this.#abandon();
    this.#settle();
    if (step.hasLeftDocument(this.#navigation)) this.#bringPageBack();
    else this.#reloadPage();
  }

  hardReload(): void {
    const [url = ""] = this.state.url.split("#", 1);
    if (url !== "") {
      this.#change((navigation) => ({ ...navigation, hardReload: "asked" }));
      this.#app.tunnel.set({ reloadedPage: url });
    }
    this.reload();
  }

  loadWaiting(): void {
    const [url = ""] = this.#page.url.split("#", 1);
    this.#app.tunnel.set({ sparedPage: url });
    this.reload();
  }

  stop(): void {
    this.#abandon();
    this.#frame.tell({ tag: MESSAGE_TAG, type: "stop" });
    this.#settle(true);
    this.#bringPageBack();
  }

  home(): void {
    this.#part?.();
    this.#abandon();
    this.#showStart();
    this.#settleAtStart({ kind: "former" });
  }

  print(): void {
    this.#frame.tell({ tag: MESSAGE_TAG, type: "print" });
  }

  openFailed(): void {
    this.#tryAgain("asked");
  }

  forgetFailed(): void {
    this.#change(step.forgetFailed);
    this.#app.draw();
  }

  keepVersion(): void {
    this.#meter.newer = null;
    this.#app.draw();
  }

  signIn(given: { readonly name: string; readonly password: string } | null): void {
    // The history may have led elsewhere meanwhile.
    const { signIn } = this.state;
    this.#signIn = null;
    this.#answered = signIn?.origin ?? null;
    this.#app.draw();
    if (given === null || signIn === null) return;
    const isOfPage = !signIn.isPart && (this.#sent !== null || this.#isShown(signIn.url));
    void this.#app.tunnel.signIn(signIn.origin, given.name, given.password).then(() => {
      this.#answered = null;
      if (isOfPage) return this.#askAgain(signIn.origin);
      // The page comes once more, and its parts with what their server wants.
      if (this.#shownOrigin === signIn.origin && this.#isAtPage) this.reload();
    });
  }

  letGo(isUsed = false): void {
    if (!isUsed) this.#letGo.count(performance.now());
    this.#held = null;
    this.#app.draw();
  }

  /** The refused request is made once more, with what its server wants. */
  #askAgain(origin: string): void {
    const request = this.#sent?.request ?? typedNavigation(this.state.destination?.url ?? this.#page.url);
    if (URL.parse(request.url)?.origin !== origin) return;
    // A boot page that is on its way there may bring the refused page.
    this.#change(step.loseGoal);
    this.#navigate(request, { by: "typed", replace: true });
  }

  sendAgain(): void {
    const { notice } = this.#app.state;
    this.#app.dismissNotice();
    const { phase, url } = this.state;
    if (notice?.kind === "resend" && phase === "loaded" && notice.url === url)
      this.#reloadDocument({ isConfirmed: true });
  }

  // The tunnel tells

  onLinkBack(): void {
    this.#frame.places?.endStandIns();
    const navigation = this.#navigation;
    const sent = this.#sent;
    if (step.failureOf(navigation) !== null) {
      if (this.state.tryingAgain === "with the link") this.#tryAgain("by itself");
      return;
    }
    if (sent === null) return;
    const { url } = sent.request;
    const isOnItsWay = !this.#setFrameOut() && step.isUnderWay(navigation);
    // Without a link the boot page of a fresh slot cannot have loaded.
    if (isOnItsWay && !this.#isBooted(url)) this.#show(url, false);
  }

  onTunnelEvent(event: TabEvent): void {
    const sent = this.#sent;
    const meter = this.#meter;
    switch (event.type) {
      case "uncertain":
        if (sent !== null && withoutFragment(sent.request).url === event.url) this.#learnThatItMayHaveRun();
        return;
      case "progress":
        if (event.tab !== this.#id) return;
        meter.count(event.progress, this.state.phase);
        return this.#app.draw();
      case "navigation":
        return event.id === sent?.id ? this.#onNavigationNews(event, sent) : undefined;
      case "document":
        return this.#onDocumentNews(event);
      case "sign-in":
        return this.#onSignIn(event);
      case "silent-document":
        return this.#onSilentDocument(event);
    }
  }

  #onSignIn(asked: SignInAsked): void {
    const isOfPage = asked.origin === this.#shownOrigin;
    // A redirect may have led there, of which the frame does not know yet.
    if (!isOfPage && (asked.isPart || this.#sent === null)) return;
    const isUnderWay = this.#sent !== null || !this.#isAtPage;
    if (asked.isPart || !(isUnderWay || this.#isShown(asked.url))) {
      // A tab behind asks for nothing that its page can be without, nor a person twice.
      if (!this.#isInFront() || this.#signIn?.origin === asked.origin || this.#answered === asked.origin) return;
    }
    this.#signIn = asked;
    this.#app.draw();
  }

  #onNavigationNews(news: TunnelToShell & { type: "navigation" }, sent: step.SentNavigation): void {
    if (news.kind === "moved") return this.#redirect(news.url);
    if (news.kind === "answered") {
      const { url } = sent.request;
      const hasLostItsWay = sent.isAnswered && step.journeyOf(this.#navigation)?.url === url;
      this.#change((navigation) => step.learnOfSent(navigation, { isAnswered: true }));
      if (this.#setFrameOut() || !hasLostItsWay || step.isBooting(this.#navigation, performance.now())) return;
      if (this.#isBooted(url)) return this.#show(url, false, true);
      return this.#change((navigation) => step.documentCame(navigation, performance.now(), this.#isLinkOpen, false));
    }
    if (news.code === ErrorCode.CANCEL) return;
    if (mayHaveActed(sent.request, news.code)) this.#learnThatItMayHaveRun();
    const { method, url } = sent.request;
    this.#fail({ code: news.code, url, method, detail: news.message }, sent.by);
  }

  #onDocumentNews(news: DocumentNews): void {
    // The boot page has gone on to it.
    this.#change(step.loseGoal);
    switch (news.kind) {
      case "none":
        return this.#endWithoutDocument(news);
      case "failed":
        return this.#onMissedDocument(news);
      case "broken":
        return this.#onBrokenDocument(news);
      case "newer":
        this.#meter.newer = news.url;
        return this.#app.draw();
      case "stored":
        this.#meter.answerStored(news.url, news.storedAt);
        return this.#app.draw();
    }
  }

  /** If a page has opened this tab, and a file is all that came, it closes, as in browsers. */
  #endWithoutDocument(news: DocumentNews & { kind: "none" }): void {
    if (this.#awaited === null) this.#keepEarly(news);
    const { id = null, by = "started" } = this.#sent ?? {};
    const isOwn = step.isEndOf(this.#navigation, news);
    this.#enter(step.endWithoutDocument(this.#navigation, news, performance.now()));
    if (isOwn && news.leadsTo !== undefined) this.#goToOtherApp(news.leadsTo, by === "started" ? news.origin : null);
    if (id === null || id !== news.id || by !== "started") return;
    const isUnused = () => this.#page.url === "" && !this.#frame.history.canGoBack;
    if (isUnused()) this.#closing = setTimeout(() => isUnused() && this.close(), step.TAKE_OVER_TIME);
  }

  /** Asks in the name of the page that stays. @param by origin whose server has led there; null: the person has gone there. */
  #goToOtherApp(address: string, by: string | null): void {
    const { origin } = URL.parse(this.#page.url) ?? {};
    if (origin === undefined || by === null) this.#failUnsupported(address, address.split(":", 1)[0] as string);
    else if (this.#isInFront()) this.#openOtherApp(address, origin, by === origin);
  }

  // The page speaks

  /** Origins of what the frame shows, or is on its way to. */
  get origins(): readonly string[] {
    const { url, destination } = this.state;
    return [this.#page.url, url, destination?.url ?? ""].flatMap((each) => URL.parse(each)?.origin ?? []);
  }

  /** There is no host for the page of this origin that the frame was on its way to. */
  onNoHost(origin: string): void {
    const sent = this.#sent;
    if (this.#awaited === origin) this.#failWithoutHost(sent?.request.url ?? this.state.url);
  }

  /**
   * The history has led the frame to a host that more than one origin has had.
   *
   * @param slot whose it is; null where it is nobody's.
   * @returns whether the entry is the slot's. Another one's page is opened again in its place.
   */
  mayShowEntry(slotUrl: string, slot: Slot | null): boolean {
    const { history } = this.#frame;
    const url = history.comeTo((each) => pathOf(each) === pathOf(slotUrl));
    if (url === null) this.#showStart(true);
    else if (URL.parse(url)?.origin === slot?.origin) return true;
    else this.#reopen(url);
    return false;
  }

  /** @param slot the slot that speaks, from the event's origin; null for the start document. */
  onPageMessage(message: PageToShell, slot: Slot | null, source: Window, activation?: Activation): void {
    if (!this.#frame.isOf(source) || (slot !== null && this.#isOfFormer(message))) return;
    if (this.#isTooLate(message, slot, activation)) {
      if (message.type === "leaving") this.#showAnew();
    } else if (message.type === "document") {
      this.#onDocument({ ...message, title: message.title.slice(0, MOST_TITLE) }, slot);
      if (message.phase === "loaded" && this.#mayWarm) this.#frame.tell({ tag: MESSAGE_TAG, type: "links-wanted" });
    } else if (slot !== null) this.#onSlotMessage(message, slot);
  }

  /** Whether the document speaks that the start document is to replace. Until then the history may lead to another page. */
  #isOfFormer(message: PageToShell): boolean {
    if (this.#navigation.content.kind !== "former") return false;
    const begins = message.type === "document" && message.phase === "loading";
    return !begins || !this.#frame.history.isTraversal(message.historyKey, false);
  }

  /**
   * Whether the page goes elsewhere by itself while the person is on the way to an address that was typed: that does not
   * count, as in browsers (Chromium's `ShouldIgnoreIncomingRendererRequest`).
   */
  #isTooLate({ type }: PageToShell, slot: Slot | null, activation: Activation | undefined): boolean {
    const state = this.#navigation;
    const isTyped = state.kind === "underway" && state.destination.kind === "typed" && state.waits === null;
    if (!isTyped || activation?.isActive !== false) return false;
    return type === "navigate" || type === "leaving" || (type === "moved" && slot?.origin !== this.#awaited);
  }

  /** The page in the frame goes elsewhere each time that the frame is sent to the typed address: that gets a new frame. */
  #showAnew(): void {
    const { url = "" } = step.journeyOf(this.#navigation) ?? {};
    this.#frame.showAnew(url);
    this.#anchor();
    this.#keep(step.sendFrame(step.leaveDocument(this.#navigation), url, this.#isBooted(url)));
  }

  #onSlotMessage(message: PageToShell, slot: Slot): void {
    switch (message.type) {
      case "booting":
      case "slot-ready":
        return this.#onBootPage(slot);
      case "navigate":
        return this.#onNavigate(message, slot);
      case "scrolled":
        return this.#onScrolled(message, slot);
      case "leaving": {
        const url = addressOf(slot, this.#frame.toReal(message.url, slot));
        // The message may come after the next page's.
        const isOfPage = URL.parse(this.#page.url)?.origin === slot.origin;
        return url === null || !isOfPage ? undefined : this.#leaveByItself(url, slot, message.isAgain === true);
      }
      case "staying":
        if (this.#sent === null && this.#awaited === slot.origin) this.#change(step.stayAfterAll);
        return;
      case "trouble":
        return this.#onTrouble(message.trouble, slot, message.isOver === true);
      case "held":
        return this.#onHeld(message.url, message.picture);
      case "links":
        return this.#onLinks(message.urls, slot);
      case "reload-sends-form":
        return this.#onFormPage(slot);
      case "failed": {
        const url = addressOf(slot, message.url);
        const code = toErrorCode(message.code);
        // No page can have the app ask for its key: the link itself tells.
        const isPages = code !== ErrorCode.KEY_NOT_ACCEPTED || this.#app.state.link.kind === "refused";
        if (url !== null) this.#onFailedDocument({ ...message, url, code: isPages ? code : ErrorCode.LINK_LOST });
        return;
      }
      case "moved": {
        // The frame was sent to another site since.
        if (step.isOvertaken(this.#navigation, slot.origin)) return this.#change(step.leaveOvertaken);
        this.#change(step.leaveByRedirect);
        const { askedAt } = this.#meter;
        const request = movedNavigation(message, slot.origin);
        this.#navigateAnywhere(request, { by: "started", replace: true, askedAt });
      }
    }
  }

  #onNavigate(message: PageToShell & { type: "navigate" }, slot: Slot): void {
    const navigation = this.#navigation;
    const url = this.#frame.toReal(message.url, slot);
    if (!/^https?:/.test(url)) {
      // As in a browser, the page stays.
      // A frame of another site would ask in the page's name.
      if (this.#isInFront() && slot.topLevel) this.#openOtherApp(url, slot.topLevelOrigin);
      return;
    }
    const isSelfSend = message.method === "GET" && url === this.#page.url.split("#", 1)[0];
    if (isSelfSend) {
      const destination = navigation.kind === "underway" ? navigation.destination : null;
      if (destination?.kind === "started" && destination.url === url) return;
      this.#change(step.sendItself);
      if (step.isInLoop(this.#navigation)) return this.#notify({ kind: "loop", url }, () => this.state.url !== url);
    }
    const replace = message.replace === true;
    this.#navigateAnywhere(pageNavigation(message, url, slot.origin), { by: "started", replace, isSelfSend });
  }

  /** The page is in front from now on: the person hears of what went wrong behind. */
  comeToFront(): void {
    this.#coverNotice();
    this.#tellTroubles();
  }

  /** A failure is newer than the notice that is shown. */
  #coverNotice(): void {
    this.#app.cover(() => !this.#isInFront() || step.unopenedOf(this.#navigation) === null);
  }

  /** A page may say so as often as it likes: the person hears of each kind once. */
  #onTrouble(trouble: Trouble, { topLevelOrigin }: Slot, isOver = false): void {
    const { notice } = this.#app.state;
    const isOther = URL.parse(this.#page.url)?.origin !== topLevelOrigin || this.#awaited !== null;
    if (isOther || this.state.unopened !== null || !TROUBLES.includes(trouble)) return;
    if (!isOver) {
      if (!this.#troubles.has(trouble)) this.#troubles.set(trouble, false);
      this.#tellTroubles();
    } else if (this.#troubles.get(trouble) === false) this.#troubles.delete(trouble);
    else if (notice?.kind === "trouble" && notice.trouble === trouble) this.#app.dismissNotice();
  }

  /** They hide no other news. */
  #tellTroubles(): void {
    const told = this.#troubles;
    for (const [trouble, isTold] of told) {
      const { notice } = this.#app.state;
      if (isTold || !this.#isInFront() || (notice !== null && notice.kind !== "trouble")) continue;
      told.set(trouble, true);
      const isLeft = () => this.#troubles !== told || this.#page.url === "";
      this.#notify({ kind: "trouble", trouble, url: this.state.url }, isLeft);
    }
  }

  #onHeld(...addresses: readonly string[]): void {
    const [url = null, picture = null] = addresses.map((address) => webAddress(String(address)));
    if (!this.#isInFront() || (url === null && picture === null) || this.#letGo.areEnough) return;
    this.#held = { url, picture };
    this.#app.draw();
  }

  /** As `App.notify`, where the person sees the page that it is about. */
  #notify(notice: Notice, isOver = () => false): void {
    if (this.#isInFront()) this.#app.notify(notice, () => isOver() || !this.#isInFront());
  }

  #onScrolled({ historyKey, position, fields }: PageToShell & { type: "scrolled" }, { origin }: Slot): void {
    const { x, y }: Partial<Record<"x" | "y", unknown>> = position ?? {};
    if (Number.isFinite(x) && Number.isFinite(y))
      this.#frame.history.scrolled({ key: historyKey, origin }, { x: Number(x), y: Number(y) }, fields);
  }

  /** Its links may be warmed. */
  get #mayWarm(): boolean {
    return this.state.phase === "loaded" && mayWarmLinks(this.#app.state.settings, networkCost());
  }

  #onLinks(urls: readonly string[], slot: Slot): void {
    const [page = ""] = this.#page.url.split("#", 1);
    const isOwn = this.#awaited === null && URL.parse(page)?.origin === slot.origin;
    if (!isOwn || !this.#mayWarm || !Array.isArray(urls)) return;
    const links = urls.slice(0, MOST_LINKS).map((url) => this.#frame.toReal(String(url), slot));
    this.#app.tunnel.tell({ type: "navigation", kind: "links", page, links });
  }

  #learnThatItMayHaveRun(): void {
    this.#change((navigation) => step.learnOfSent(navigation, { mayHaveRun: true }));
  }

  /** A reload would send a form again. */
  #onFormPage(slot: Slot): void {
    const { url } = this.#page;
    if (this.#awaited !== null || URL.parse(url)?.origin !== slot.origin) return;
    this.#settle();
    this.#notify({ kind: "resend", url }, () => this.state.phase !== "loaded");
  }

  // Where that leads

  /** As `#navigate`, to an address of any kind. */
  #navigateAnywhere(request: NavigationRequest, going: Going): void {
    const scheme = URL.parse(request.url)?.protocol ?? "";
    if (scheme === "http:" || scheme === "https:") this.#navigate(request, going);
    else this.#failUnsupported(request.url, scheme.slice(0, -1));
  }

  #tryAgain(how: "asked" | "by itself"): void {
    const failed = step.failureOf(this.#navigation);
    if (failed === null) return;
    const { error, sent } = failed;
    // The bar goes on to show the page that is shown.
    const by = how === "by itself" && this.state.unopened !== null ? "started" : failed.by;
    this.#app.prepareToGo();
    // A form is sent once. To look for its outcome takes the address alone.
    if (sent?.request.url === error.url && !sent.mayHaveRun) this.#navigate(sent.request, { by });
    else this.#navigateAnywhere(typedNavigation(error.url, sent?.request.initiator), { by });
  }

  #reloadPage(): void {
    const { url } = this.#page;
    const { content } = this.#navigation;
    if (content.kind === "silent" && content.url === url)
      this.#navigate(withoutFragment(typedNavigation(url)), { by: "started", replace: true });
    else if (url !== "") this.#reloadDocument({ isConfirmed: false });
  }

  /** The tunnel was redirected. */
  #redirect(to: string): void {
    const navigation = this.#navigation;
    if (this.#frame.problemWith(to) !== null) return this.#failWithoutHost(to);
    if (navigation.kind !== "underway" && navigation.kind !== "loading") return;
    const url = withFragmentOf(navigation.sent?.request.url ?? "", to);
    this.#show(url, false, isPartOf(url, navigation.page.url));
  }

  #failWithoutHost(url: string): void {
    const { by = "started", request } = this.#sent ?? {};
    this.#abandon();
    this.#fail({ ...NO_FREE_HOST, url, method: request?.method ?? null }, by);
  }

  #failUnsupported(url: string, scheme: string): void {
    const detail = `Cannot open ${scheme || "this"}: ${later("Ropeway loads http: and https: pages")}`;
    this.#fail({ code: ErrorCode.UNSUPPORTED_SCHEME, url, method: null, detail }, "started");
  }

  // Ways to another page, and back

  /** @param request of an http: or https: URL. */
  #navigate(request: NavigationRequest, going: Going): void {
    const { by, replace = false, begun = null, waitsForLink = false, askedAt, isSelfSend = false } = going;
    const { tunnel } = this.#app;
    this.#change((navigation) => step.askAnother(navigation, isSelfSend));
    this.#signIn = null;
    this.#answered = null;
    const problem = this.#frame.problemWith(request.url);
    if (problem !== null) {
      if (begun !== null) tunnel.tell({ type: "navigation", kind: "abandon", id: begun });
      return this.#fail({ ...problem, url: request.url, method: request.method }, by);
    }
    const before = this.#navigation;
    const isShown = isShownAlready(request.url, this.state);
    const tries = step.triesBefore(before, request.url);
    const keepsPage = step.hasPage(before);
    // The frame steps to another part of its document by itself.
    const isPart = before.content.kind === "document" && isPartOf(request.url, before.page.url);
    const isStep = begun === null && !isShown && isPart && request.method === "GET" && this.state.phase === "loaded";
    this.#app.ensurePaired();
    this.#abandon();
    if (going.isReopening === true) this.#frame.history.reopen();
    const id = isStep ? null : (begun ?? tunnel.navigate(this.#id, withoutFragment(request), keepsPage));
    const waits = { replaces: replace || isShown, isAgain: isShown };
    const sent = id === null ? null : { ...tries, id, request, by, mayHaveRun: false, isAnswered: false };
    this.#icons.forget();
    this.#meter.begin(request.url, askedAt);
    this.#enter(step.setOut(this.#navigation, { kind: by, url: request.url }, sent, waits));
    const { kind: link } = this.#app.state.link;
    // A boot page would take the place of the page shown, for what may never come.
    const losesPage =
      keepsPage && link !== "open" && (isShown || this.#frame.places?.needsBootPage(request.url) === true);
    if (sent === null || !(losesPage || (waitsForLink && link === "connecting"))) this.#setFrameOut();
  }

  /** Sends the frame to the page, if it has waited. @returns whether it had. */
  #setFrameOut(): boolean {
    const navigation = this.#navigation;
    if (navigation.kind !== "underway" || navigation.waits === null) return false;
    const { destination, waits } = navigation;
    this.#show(navigation.sent?.request.url ?? destination.url, waits.replaces, waits.isAgain);
    return true;
  }

  /** The page goes to another document of its slot by itself. */
  #leaveByItself(url: string, slot: Slot, isAgain: boolean): void {
    const [address = url] = url.split("#", 1);
    // The refusal may have come before the page said that it goes there.
    if (this.#signIn?.url !== address) this.#signIn = null;
    this.#answered = null;
    this.#meter.beginByPage(url, this.#page.url);
    this.#app.tunnel.tell({ type: "navigation", kind: "by-page", tab: this.#id, url: address, isAgain });
    this.#enter(step.leaveByItself(this.#navigation, url, slot.origin));
    const early = this.#early;
    this.#early = [];
    for (const { news, at } of early)
      if (news.url === address && performance.now() - at < OVERTAKING) this.onTunnelEvent(news);
  }

  /** The news may be of a frame of the page. It counts only once the page says that it goes there. */
  #keepEarly(news: EarlyNews): void {
    const { origin } = URL.parse(news.url ?? "") ?? {};
    if (origin !== undefined && origin === URL.parse(this.#page.url)?.origin)
      this.#early = [...this.#early.slice(1 - MOST_EARLY), { news, at: performance.now() }];
  }

  /** As `PageFrame.show`. */
  #show(url: string, replaces: boolean, isAgain = false): void {
    const before = this.#navigation;
    const goesThere = step.bootGoal(before) === url && step.isBooting(before, performance.now());
    if (!goesThere && !this.#frame.show(url, replaces, isAgain)) return;
    this.#keep(step.sendFrame(goesThere ? before : step.loseGoal(before), url, goesThere || this.#isBooted(url)));
  }

  /** Whether the service worker of the URL's slot is known to answer. */
  #isBooted(url: string): boolean {
    return this.#frame.places?.isBooted(new URL(url).origin) === true;
  }

  /** @param how as of `ShellToPage`. */
  #reloadDocument(how: { readonly isConfirmed: boolean }): void {
    this.#meter.progress = 0;
    this.#meter.forgetStored(this.#navigation.page.url);
    this.#enter(step.reload(this.#navigation));
    const isHard = this.#navigation.hardReload !== "none";
    this.#frame.tell({ tag: MESSAGE_TAG, type: "reload", ...how, isHard });
  }

  /** The navigation that the shell has under way is not wanted any more. */
  #abandon(): void {
    const sent = this.#sent;
    clearTimeout(this.#closing);
    if (sent !== null) this.#app.tunnel.tell({ type: "navigation", kind: "abandon", id: sent.id });
    this.#change(step.abandon);
    this.#frame.history.leave();
  }

  /** A page that is shown stays, or comes back; without one the error is all there is. */
  #fail(error: PageError, by: Destination["kind"]): void {
    this.#enter(step.fail(this.#navigation, by, error, performance.now()));
    this.#bringPageBack();
  }

  /** As the step of this name. */
  #settle(isStopped = false): void {
    this.#enter(step.settle(this.#navigation, isStopped));
  }

  /** The frame gets the committed page anew, if it has left it. @param isAgain though it is on its way there. */
  #bringPageBack(isAgain = false): void {
    const { kind, page } = this.#navigation;
    if (isAgain && kind === "returning") return this.#show(page.url, true, true);
    if (kind !== "settled" || !step.hasLeftDocument(this.#navigation)) return;
    if (page.url === "") return this.#showStart(true);
    this.#meter.progress = 0;
    this.#enter(step.goBack(this.#navigation));
    this.#show(page.url, true, true);
  }

  #showStart(replaces = false): void {
    this.#change(step.loseGoal);
    this.#frame.showStart(replaces);
  }

  /** The start page is what counts. */
  #settleAtStart(content?: step.Content): void {
    this.#signIn = null;
    this.#meter.cost = NO_COST;
    this.#enter(step.settleAtStart(this.#navigation, content));
  }

  // Documents come into the frame

  /** @param slot null for the start document. */
  #onDocument(message: PageToShell & { type: "document" }, slot: Slot | null): void {
    const { historyKey, title, phase } = message;
    this.#change(step.loseGoal);
    const { history } = this.#frame;
    const isBack = history.isTraversal(historyKey, this.#sent !== null);
    const url = slot && addressOf(slot, this.#frame.toReal(message.url, slot));
    if (url !== null && phase !== "loading" && this.#isOfPageLeft(url, isBack))
      return this.#change(step.hearFormerPage);
    if (isBack) this.#traverse(slot);
    this.#visit(historyKey);
    if (slot === null) return this.#onStartDocument(isBack);
    if (url === null) return;
    const begins = phase === "loading";
    if (begins) {
      history.beginDocument();
      this.#answered = null;
    }
    history.note(url, message.isPosted === false && this.#sent?.request.method !== "POST");
    history.restore(begins);
    const navigation = this.#navigation;
    if (phase !== "loading" && !isBack && step.isFormerPage(navigation, url))
      return this.#enter(step.hearFormerPage(step.describePage(navigation, { url, title })));
    if (step.isBroken(navigation, url)) return this.#keep(step.describePage(navigation, { url, title, icon: null }));
    if (!isBack && step.isOvertaken(navigation, slot.origin))
      return this.#enter(step.arriveOvertaken(navigation, { url, title, icon: null }));
    const isNew = isBack || phase === "loading" || step.awaitedOrigin(navigation) !== null;
    const [former, next] = [this.#page.url, url].map((each) => each.split("#", 1)[0]);
    // A reload says nothing new.
    if (phase === "loading" && former !== next) this.#troubles = new Map();
    const said = message.picture && this.#frame.toReal(`${message.picture}`, slot);
    const picture = said ? webAddress(said) : this.#page.url === url ? this.#page.picture : null;
    const isLoaded = this.#commit({ url, title, picture }, phase, message.isError);
    if (isNew) this.#onCommit();
    if (isLoaded && message.icon !== null) void this.#loadIcon(this.#frame.toReal(message.icon, slot), slot.origin);
  }

  /**
   * Whether a document speaks that the frame has left: its message may come late, as each site has a process of its own. A
   * page that the history leads to begins with "loading".
   */
  #isOfPageLeft(url: string, isBack: boolean): boolean {
    const isOfOther = new URL(url).origin !== URL.parse(this.#page.url)?.origin;
    return isBack ? isOfOther : this.#frame.history.isReopening && step.isFormerPage(this.#navigation, url);
  }

  /** In place of a document. */
  #onFailedDocument(message: PageToShell & { type: "failed" }): void {
    const { url, code, method = null, message: detail } = message;
    if (step.isOvertaken(this.#navigation, new URL(url).origin)) {
      this.#change(step.leaveOvertaken);
      return this.#visit(message.historyKey);
    }
    // No notice of it is in the frame, whose page stays.
    if (message.historyKey === "") return this.#fail({ code, url, method, detail }, "started");
    const isOfBootPage = step.bootGoal(this.#navigation) !== null;
    this.#change(step.loseGoal);
    if (step.isNoticeOfFormer(this.#navigation, message)) {
      this.#change(step.leaveDocument);
      this.#visit(message.historyKey);
      // The boot page has brought the failure of the try before.
      if (isOfBootPage) this.#show(step.journeyOf(this.#navigation)?.url ?? url, true, true);
      return;
    }
    this.#change((navigation) => step.noticeCame(navigation, url));
    this.#visit(message.historyKey);
    this.#frame.history.beginDocument();
    this.#frame.history.note(url, method === "GET");
    // The shell's own navigation has reported the same failure.
    if (this.#navigation.kind !== "failed") this.#fail({ code, url, method, detail }, "started");
  }

  /** The page has left for it by itself, and is still there. */
  #onMissedDocument(news: DocumentNews & { kind: "failed" }): void {
    if (this.#awaited === null) return this.#keepEarly(news);
    const { url, code, method, message: detail } = news;
    const navigation = this.#navigation;
    if (navigation.kind !== "underway") return;
    const { destination, sent } = navigation;
    // The app's own navigation, which may be on its way beside the page's, has news of its own.
    if (sent !== null && isPartOf(`${url}#`, sent.request.url)) return;
    if (isPartOf(`${url}#`, destination.url)) this.#fail({ code, url: destination.url, method, detail }, "started");
  }

  #onSilentDocument(news: SilentNews): void {
    const { url, phase, id } = news;
    const title = news.title.slice(0, MOST_TITLE);
    const navigation = this.#navigation;
    if (navigation.content.kind === "former") return;
    const content = { kind: "silent", url } as const;
    if (phase === "loaded") {
      const isShown = navigation.content.kind === "silent" && navigation.content.url === url;
      if (step.awaitedOrigin(navigation) === null && isShown) this.#commit({ url, title }, phase, false, content);
      else this.#keepEarly(news);
      return;
    }
    const isPage =
      id === null ? step.mayBePage(navigation, url, this.#frame.history.knows(url)) : id === navigation.asked;
    if (!isPage) return this.#keepEarly(news);
    this.#early = this.#early.filter((early) => early.news.url !== url);
    this.#frame.history.visitUrl(url, this.#sent !== null);
    this.#frame.history.beginDocument();
    this.#frame.history.note(url, this.#sent?.request.method === "GET");
    this.#frame.history.restore();
    this.#commit({ url, title }, phase, false, content);
    this.#onCommit();
  }

  /** A part of a page is not to be taken for the whole. A page that has all it needs may have lost a frame's document. */
  #onBrokenDocument({ url, id, code, message: detail }: DocumentNews & { kind: "broken" }): void {
    const navigation = this.#navigation;
    const sent = this.#sent;
    const awaited = step.awaitedOrigin(navigation);
    const { page } = navigation;
    const isOfPage = isPartOf(`${url}#`, page.url);
    const isOther = sent !== null && isOfPage && !step.leadsTo(navigation, url);
    const isFormer = id === null ? isOther : id !== navigation.asked;
    const isMeant = awaited === null ? isOfPage : awaited === new URL(url).origin && !isFormer;
    if (!step.isUnderWay(navigation) || !isMeant || code === ErrorCode.CANCEL) return;
    const method = sent?.request.method ?? null;
    const from = awaited === null ? page.url : (sent?.request.url ?? "");
    const error = { code, url: withFragmentOf(from, url), method, detail };
    const asked = method === null || method === "GET" ? navigation : step.learnOfSent(navigation, { mayHaveRun: true });
    const brokenUrl = awaited === null ? null : url;
    this.#enter(step.failInPlace(asked, sent?.by ?? "started", error, performance.now(), brokenUrl));
  }

  /** A boot page has taken the place of the document. */
  #onBootPage({ origin }: Slot): void {
    if (step.isBootPageLate(this.#navigation, origin)) return;
    this.#held = null;
    const isAwaited = origin === step.awaitedOrigin(this.#navigation);
    this.#enter(step.bootPageCame(this.#navigation, origin, performance.now()));
    // A boot page on its way to a page that has failed goes on there, and cuts off the page that is to come back.
    // So does the boot page of a site that nobody waits for any more.
    const isUnwanted = step.isUnwanted(this.#navigation, origin);
    if (isUnwanted || step.unopenedOf(this.#navigation) !== null) this.#bringPageBack(!isAwaited);
  }

  /** @param slot whose document the history has led to; null for the start document. */
  #traverse(slot: Slot | null): void {
    this.#change(step.traverse);
    // The frame has turned away from what was on its way. The page shown could say so to keep the person.
    if (slot === null || URL.parse(this.#navigation.page.url)?.origin !== slot.origin) this.#abandon();
    if (step.awaitedOrigin(this.#navigation) !== null) return;
    this.#meter.askedAt = performance.now();
    this.#app.tunnel.tell({ type: "navigation", kind: "by-page", tab: this.#id, url: null });
  }

  #onStartDocument(isBack: boolean): void {
    this.#change(step.startDocumentCame);
    const navigation = this.#navigation;
    // A failure that no document stands for: the start document under it may only just have loaded.
    const isCovered = navigation.kind === "failed" && navigation.page.url !== navigation.failure.error.url;
    if (isBack || !(step.isUnderWay(navigation) || isCovered)) this.#settleAtStart();
    const page = this.#frame.pageOfBefore(isBack);
    if (page !== null) this.#navigate(page, { by: "typed", replace: true, isReopening: true });
  }

  #visit(historyKey: string): void {
    if (historyKey !== "") this.#frame.history.visit(historyKey, this.#sent !== null);
    this.#app.draw();
  }

  /** @returns whether the document is all there. */
  #commit(
    page: Omit<step.CommittedPage, "icon">,
    phase: DocumentPhase,
    isError = false,
    content?: step.Content,
  ): boolean {
    const { url, title } = page;
    const before = this.#navigation;
    const isSameSite = URL.parse(before.page.url)?.origin === new URL(url).origin;
    const icon = isSameSite ? before.page.icon : null;
    const navigation = step.arrive(before, { ...page, icon }, phase, content);
    const isLoaded = navigation.kind === "settled";
    if (phase === "loading") this.#held = null;
    // The document was on its way when the person pressed stop.
    if (isLoaded && phase !== "loaded") this.#frame.tell({ tag: MESSAGE_TAG, type: "stop" });
    // A page that is there says so again when its title changes.
    if (isLoaded && step.isUnderWay(before)) this.#meter.stopClock();
    this.#enter(navigation);
    const isNew = step.isUnderWay(before) || before.page.url !== url;
    if (isLoaded) this.#app.onPageLoaded(isError ? null : { url, title: title || url, icon }, isNew);
    return isLoaded;
  }

  async #loadIcon(url: string, origin: string): Promise<void> {
    const icon = await this.#icons.load(url, origin);
    if (icon === null || URL.parse(this.#page.url)?.origin !== origin) return;
    this.#change((navigation) => step.describePage(navigation, { icon }));
    this.#app.showIcon(this.#navigation.page.url, icon);
  }

  // Times pass

  get #isLinkOpen(): boolean {
    return this.#app.state.link.kind === "open";
  }

  #onTime(): void {
    const [navigation, order] = step.timeOut(this.#navigation, performance.now(), this.#isLinkOpen);
    const { url = "" } = step.journeyOf(navigation) ?? {};
    if (order === "open-failed") return this.#tryAgain("by itself");
    this.#enter(navigation);
    if (order === "bring-back") this.#bringPageBack();
    else if (order === "give-up") this.#failBoot(url);
    else if (order !== "nothing" && (order !== "stand-in" || this.#standsIn(url)))
      this.#show(url, order !== "send-out", true);
  }

  /** Another slot takes the place of that of the URL, if that has something to show. */
  #standsIn(url: string): boolean {
    return this.#sent?.isAnswered === true && this.#frame.places?.standIn(url) === true;
  }

  #failBoot(url: string): void {
    const sent = this.#sent;
    if (sent === null) return;
    const { method } = sent.request;
    const detail = later("Cannot show the site: the page that sets up its host on this phone does not come");
    // A page of the browser's own is in its place.
    this.#change((navigation) => step.leaveDocument(step.learnOfSent(navigation, { mayHaveRun: method !== "GET" })));
    this.#fail({ code: ErrorCode.LINK_LOST, url, method, detail }, sent.by);
  }

  /** A change of the navigation that the person sees. */
  #enter(navigation: TabNavigation): void {
    this.#keep(navigation);
    this.#app.draw();
  }

  #keep(navigation: TabNavigation): void {
    const { hardReload } = this.#navigation;
    const isNews = step.unopenedOf(this.#navigation) === null && step.unopenedOf(navigation) !== null;
    this.#navigation = navigation;
    if (isNews) this.#coverNotice();
    if (hardReload !== "none" && navigation.hardReload === "none") this.#app.tunnel.set({ reloadedPage: null });
    if (!step.isUnderWay(navigation)) this.#meter.progress = null;
    clearTimeout(this.#timer);
    const at = step.nextTime(navigation);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#onTime(), at - performance.now());
  }

  /** A change that nobody sees, or that is drawn with another. */
  #change(how: (navigation: TabNavigation) => TabNavigation): void {
    this.#keep(how(this.#navigation));
  }
}

function pathOf(url: string): string | null {
  const { pathname, search, hash } = URL.parse(url) ?? {};
  return pathname === undefined ? null : `${pathname}${search}${hash}`;
}

/** Network Information API; not in all browsers. */
interface NetworkCost {
  readonly saveData?: boolean;
  readonly type?: string;
}

/** Types of that API on which data costs nothing. Where a browser tells no type, the person's choice alone decides. */
const UNMETERED: readonly string[] = ["wifi", "ethernet", "other", "unknown"];

/** Whether links may be warmed: the person wants it, and nothing says that data is dear. @param network as of now. */
export function mayWarmLinks(settings: Settings, { saveData, type }: NetworkCost): boolean {
  const { warmsLinks, takesPushes, pictures, pageBudget } = settings;
  const isSaving = !takesPushes || pictures !== "off" || pageBudget !== null || saveData === true;
  return warmsLinks && !isSaving && (type === undefined || UNMETERED.includes(type));
}

function networkCost(): NetworkCost {
  return (navigator as Navigator & { readonly connection?: NetworkCost }).connection ?? {};
}

/** Loads the icon of the page shown, once for each address. */
export class IconLoader {
  readonly #fetchIcon: (url: string, origin: string) => Promise<string | null>;
  #url: string | null = null;

  /** @param fetchIcon gives a data: URL, or null. */
  constructor(fetchIcon: (url: string, origin: string) => Promise<string | null>) {
    this.#fetchIcon = fetchIcon;
  }

  /** Another page is on its way: what loads is not wanted any more, and its icon is loaded even if it is the same. */
  forget(): void {
    this.#url = null;
  }

  /**
   * @param url as the page names it, with its real address.
   * @returns a data: URL, or null where there is none, or no new one, or another is wanted by now.
   */
  async load(url: string, origin: string): Promise<string | null> {
    if (url === this.#url) return null;
    this.#url = url;
    const icon = url.startsWith("data:") ? iconIn(url) : await this.#fetchIcon(url, origin);
    return this.#url === url ? icon : null;
  }
}

/** Characters of an icon that a page gives as a data: URL. Recent and pinned sites keep them. */
const MOST_ICON = 96 * 1024;

/** Pages say `data:,` for none. */
function iconIn(url: string): string | null {
  return url.startsWith("data:image/") && url.length <= MOST_ICON ? url : null;
}

/** The URL that a page says of itself, if it is of its own origin: people trust the address bar. Null: it is not, or no page's. */
function addressOf(slot: Slot, said: string): string | null {
  const url = webAddress(said);
  return url !== null && new URL(url).origin === slot.origin ? url : null;
}
