/** The controller: turns what the person, the tunnel and the pages say into the state that the views draw. */
import { ErrorCode } from "../../../shared/errors.ts";
import type { LinkPhase } from "../../messages/link.ts";
import { type DocumentPhase, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import type { NavigationRequest, TunnelToShell } from "../../messages/tunnel-messages.ts";
import type { BrowserOptions } from "../app/browser-options.ts";
import type { BrowserActions, BrowserState, PageError, Settings, Site } from "../app/browser-state.ts";
import { initialState, NO_COST } from "../app/initial-state.ts";
import type { Slot } from "../frames/slot-registry.ts";
import { parseAddress } from "./address-input.ts";
import { BootWatch } from "./boot-watch.ts";
import { FramePosition } from "./frame-position.ts";
import {
  canGoBack,
  canGoForward,
  EMPTY_HISTORY,
  type HistoryList,
  isTraversal,
  visit,
  visitUrl,
} from "./history-list.ts";
import { comesBackWithLink } from "./link-failure.ts";
import { loadProgress } from "./load-progress.ts";
import {
  isForOtherApp,
  isPartOf,
  isShownAlready,
  mayHaveActed,
  typedNavigation,
  withFragmentOf,
  withoutFragment,
} from "./navigation-request.ts";
import {
  type CommittedPage,
  type Destination,
  type DrawnNavigation,
  drawNavigation,
  type NavigationState,
} from "./navigation-state.ts";
import { pageNavigation } from "./page-navigation.ts";
import { SelfSends } from "./self-sends.ts";

/** Shown in the frame while the start page is; a real document, so that there is a way back to it. */
export const START_DOCUMENT = "/blank";

const NO_PAGE: CommittedPage = { url: "", title: "", icon: null };
const LOADED: NavigationState = { kind: "committed", isLoaded: true };
const LOADING: NavigationState = { kind: "committed", isLoaded: false };

/** Milliseconds after which a browser has surely made a download of a response. To leave before would end that. */
const TAKE_OVER_TIME = 1_000;

interface Start {
  readonly begun: number | null;
  readonly waitsForLink: boolean;
  readonly initiator: string | null;
}

type Change = Partial<Omit<BrowserState, keyof DrawnNavigation | "isFrameEmpty">>;

interface Going extends Partial<Omit<Start, "initiator">> {
  readonly by: Destination["kind"];
  readonly replace?: boolean;
  /** See SelfSends. */
  readonly isSelfSend?: boolean;
  /** When it was asked for, by `performance.now()`; now by default. */
  readonly askedAt?: number;
}

export class BrowserController implements BrowserActions {
  #options: BrowserOptions;
  #state: BrowserState;
  #history: HistoryList = EMPTY_HISTORY;
  /** The navigation that the shell itself has under way. */
  #navigation: {
    readonly id: number;
    readonly request: NavigationRequest;
    readonly by: Destination["kind"];
    /** It failed, and its site may have acted on it. */
    mayHaveRun: boolean;
  } | null = null;
  /** The page that stays when a navigation yields no document. */
  #committed: CommittedPage = NO_PAGE;
  #shown: NavigationState = LOADED;
  #iconUrl: string | null = null;
  /** Recent sites, until the notice of it is dismissed. */
  #forgotten: readonly Site[] = [];
  /** When the page shown, or on its way, was asked for; by `performance.now()`. */
  #askedAt = 0;
  /** Where the frame was last sent. */
  #sentTo = "";
  #bootWatch = new BootWatch({
    isAwaited: () => this.#isBootAwaited(),
    isLinkOpen: () => this.#state.link.kind === "open" && this.#state.phase === "loading",
    askAgain: () => this.#show(this.#sentTo, true, true),
    giveUp: () => this.#failBoot(),
  });
  /** The frame does not know of the navigation yet. */
  #setsOutWithLink = false;
  #frame = new FramePosition();
  readonly #selfSends = new SelfSends();
  /** The person pressed stop, and nothing was asked for since. */
  #isStopped = false;

  constructor(options: BrowserOptions) {
    this.#options = options;
    this.#state = initialState(options);
  }

  get state(): BrowserState {
    return this.#state;
  }

  /** For what has nothing to do with navigations (see `#draw`). */
  update(change: Change): void {
    const isFrameEmpty = this.#frame.hasLeftDocument;
    this.#state = { ...this.#state, ...change, ...drawNavigation(this.#committed, this.#shown), isFrameEmpty };
    const { notice, phase, url } = this.#state;
    // They are about the page shown.
    if ((notice?.kind === "resend" && phase !== "loaded") || (notice?.kind === "loop" && notice.url !== url))
      this.#state = { ...this.#state, notice: null };
    if (this.#state.phase === "loading" && this.#state.notice?.kind === "forgotten")
      this.#state = { ...this.#state, notice: null };
    this.#options.render(this.#state);
  }

  // What the person asks for

  /**
   * @param begun id of this very navigation, if the tunnel has it already.
   * @param initiator as of a NavigationRequest.
   * @param waitsForLink the frame sets out for the page once the link is open.
   */
  go(input: string, { begun = null, waitsForLink = false, initiator = null }: Partial<Start> = {}): void {
    if (input.trim() === "") return;
    const address = parseAddress(input, this.#state.settings.searchUrl);
    if (address.kind === "unsupported") this.#failUnsupported(address.input, address.scheme);
    else {
      // What the app was opened for has been waited for since then.
      const askedAt = begun === null ? performance.now() : 0;
      this.#navigate(typedNavigation(address.url, initiator), { by: "typed", begun, waitsForLink, askedAt });
    }
  }

  back(): void {
    if (this.#state.error !== null && this.#committed.url !== this.#state.url) this.#dismissError();
    else if (canGoBack(this.#history)) history.back();
  }

  forward(): void {
    if (canGoForward(this.#history)) history.forward();
  }

  reload(): void {
    const shown = this.#shown;
    if (shown.kind === "failed") this.#retry(shown);
    else if (shown.kind === "typed")
      this.#navigate(this.#navigation?.request ?? typedNavigation(shown.url), { by: "typed" });
    else if (shown.kind === "started") this.#stayAndReload();
    else this.#reloadPage();
  }

  stop(): void {
    this.#abandon();
    this.#isStopped = true;
    this.#tellPage({ tag: MESSAGE_TAG, type: "stop" });
    this.#restoreCommitted();
    if (this.#frame.hasLeftDocument) this.#bringBack(this.#committed.url);
  }

  home(): void {
    const { frames } = this.#options;
    this.#abandon();
    this.#frame.giveUp();
    if (frames !== null) frames.page.src = START_DOCUMENT;
    this.#commit(NO_PAGE, true, { cost: NO_COST });
  }

  pin(site: Site): void {
    this.#options.sites.pin(site);
    this.#showSites();
  }

  unpin(url: string): void {
    this.#options.sites.unpin(url);
    this.#showSites();
  }

  prepareToGo(): void {
    this.#options.tunnel.tell({ type: "hint", hint: "navigation" });
  }

  forgetRecent(url: string | "all"): void {
    const { sites } = this.#options;
    const former = sites.recent;
    sites.forget(url);
    this.#showSites();
    if (url !== "all") return;
    this.#forgotten = former;
    this.update({ notice: { kind: "forgotten", url: "" } });
  }

  rememberRecent(): void {
    this.#options.sites.remember(this.#forgotten);
    this.dismissNotice();
    this.#showSites();
  }

  changeSettings(change: Partial<Settings>): void {
    const settings = this.#options.settings.change(change);
    this.#options.tunnel.tellSettings(change);
    this.update({ settings });
  }

  dismissNotice(): void {
    this.#forgotten = [];
    this.update({ notice: null });
  }

  sendAgain(): void {
    const { notice, phase } = this.#state;
    this.dismissNotice();
    if (notice?.kind !== "resend" || phase !== "loaded" || notice.url !== this.#committed.url) return;
    this.#tellToReload(true);
  }

  pair(accessKey: string): void {
    void this.#options.pair(accessKey);
  }

  clearSiteData(): void {
    this.#options.forgetSlots();
    void this.#options.tunnel.clearSiteData();
    this.home();
  }

  // What the tunnel says

  onTunnelEvent(event: Exclude<TunnelToShell, { type: "answer" }>): void {
    switch (event.type) {
      case "link":
        this.#onLink(event.link);
        return;
      case "uncertain":
        if (this.#navigation !== null && withoutFragment(this.#navigation.request).url === event.url)
          this.#navigation.mayHaveRun = true;
        this.update({ notice: { kind: "uncertain", url: event.url } });
        return;
      case "progress": {
        const { phase, progress, cost } = this.#state;
        if (phase === "loading")
          this.update({
            cost: { ...event.progress, time: this.#timeSoFar },
            progress: loadProgress(event.progress, progress),
          });
        else if (phase === "loaded") this.update({ cost: { ...event.progress, time: cost.time } });
        return;
      }
      case "navigation-head":
        return;
      case "navigation-failed": {
        if (event.code === ErrorCode.CANCEL || event.id !== this.#navigation?.id) return;
        if (mayHaveActed(this.#navigation.request, event.code)) this.#navigation.mayHaveRun = true;
        const { method, url } = this.#navigation.request;
        this.#fail({ code: event.code, url, method, detail: event.message }, this.#navigation.by);
        return;
      }
      case "navigation-moved": {
        const url = withFragmentOf(this.#navigation?.request.url ?? "", event.url);
        this.#show(url, false, isPartOf(url, this.#committed.url));
        return;
      }
      case "no-document":
        // The frame may have gone on to another slot meanwhile.
        if (this.#state.phase === "loading" && event.origin === this.#frame.awaited) this.#stay();
        return;
      case "silent-document":
        this.#onSilentDocument(event);
        return;
      case "broken-document":
        this.#onBrokenDocument(event);
    }
  }

  // What pages say

  /** @param slot the slot that speaks, from the event's origin; null for the start document. */
  onPageMessage(message: PageToShell, slot: Slot | null, source: Window): void {
    const { frames } = this.#options;
    if (frames === null || source !== frames.page.contentWindow) return;
    if (message.type === "document") return this.#onDocument(message, slot);
    if (slot === null) return;
    switch (message.type) {
      case "booting":
      case "slot-ready":
        this.#frame.leaveDocument();
        this.update({});
        return;
      case "navigate":
        return this.#onNavigate(message, slot);
      case "leaving":
        this.#isStopped = false;
        this.#selfSends.end();
        this.#frame.setOut(slot.origin);
        this.#beginPage();
        this.#draw({ kind: "started", url: this.#toReal(message.url, slot) }, { progress: 0, cost: NO_COST });
        return;
      case "staying":
      case "reload-sends-form":
        return this.#onStaying(message.type, slot);
      case "failed":
        // A page can say anything, but only of its own origin: the address bar is what people trust.
        if (URL.parse(message.url)?.origin !== slot.origin) return;
        this.#frame.arrive();
        this.#visit(message.historyKey);
        this.#committed = { url: message.url, title: "", icon: null };
        // The shell's own navigation has reported the same failure.
        if (this.#shown.kind !== "failed")
          this.#fail(
            { code: message.code, url: message.url, method: message.method ?? null, detail: message.message },
            "started",
          );
        return;
      case "moved":
        this.#frame.leaveDocument();
        // A redirect out of the slot.
        this.#navigateAnywhere(typedNavigation(message.url, slot.origin), {
          by: "started",
          replace: true,
          askedAt: this.#askedAt,
        });
    }
  }

  /** A document has come into the frame, which may be a page of the browser's own in place of one that was lost. */
  onFrameLoad(): void {
    this.#bootWatch.onFrameLoad();
  }

  #isBootAwaited(): boolean {
    const { frames } = this.#options;
    const { awaited, hasLeftDocument } = this.#frame;
    if (frames === null || awaited === null || this.#navigation === null || hasLeftDocument) return false;
    return !frames.isBooted(frames.slotFor(awaited, awaited));
  }

  #failBoot(): void {
    const navigation = this.#navigation;
    if (navigation === null) return;
    const { method } = navigation.request;
    navigation.mayHaveRun = method !== "GET";
    const detail = "Cannot show the site: the page that sets up its host on this phone does not come";
    this.#fail({ code: ErrorCode.LINK_LOST, url: this.#sentTo, method, detail }, navigation.by);
  }

  #onStaying(type: "staying" | "reload-sends-form", slot: Slot): void {
    const { url } = this.#committed;
    const { awaited } = this.#frame;
    if (type === "staying") {
      if (this.#navigation === null && awaited === slot.origin) this.#frame.giveUp();
    } else if (awaited === null && URL.parse(url)?.origin === slot.origin)
      this.#draw(LOADED, { progress: null, notice: { kind: "resend", url } });
  }

  #onNavigate(message: PageToShell & { type: "navigate" }, slot: Slot): void {
    const url = this.#toReal(message.url, slot);
    if (!/^https?:/.test(url)) {
      // As in a browser, the page stays.
      if (!isForOtherApp(url) || !this.#options.openOtherApp(url)) this.update({ notice: { kind: "other-app", url } });
      return;
    }
    const isSelfSend = message.method === "GET" && url === this.#committed.url.split("#", 1)[0];
    if (isSelfSend) {
      const isUnderWay = this.#shown.kind === "started" && this.#shown.url === url;
      if (isUnderWay) return;
      if (this.#selfSends.isLoop()) return this.update({ notice: { kind: "loop", url } });
    }
    this.#navigateAnywhere(pageNavigation(message, url, slot.origin), {
      by: "started",
      replace: message.replace === true,
      isSelfSend,
    });
  }

  #onLink(link: LinkPhase): void {
    const { frames } = this.#options;
    const isBack = link.kind === "open" && this.#state.link.kind !== "open";
    this.update({ link });
    const { error } = this.#state;
    if (isBack && error !== null) {
      if (comesBackWithLink(error)) this.reload();
      return;
    }
    const url = this.#navigation?.request.url;
    if (!isBack || frames === null || url === undefined) return;
    const { origin } = new URL(url);
    const setsOut = this.#setsOutWithLink;
    this.#setsOutWithLink = false;
    // Without a link the boot page of a fresh slot cannot have loaded.
    if (setsOut || !frames.isBooted(frames.slotFor(origin, origin))) this.#show(url, false);
  }

  #onDocument(message: PageToShell & { type: "document" }, slot: Slot | null): void {
    const isBack = isTraversal(this.#history, message.historyKey, this.#navigation !== null);
    // What is come to was not stopped.
    if (isBack) {
      this.#isStopped = false;
      this.#selfSends.end();
    }
    // The frame has turned away from what was on its way. The page shown could say so to keep the person.
    if (isBack && URL.parse(this.#committed.url)?.origin !== slot?.origin) this.#abandon();
    if (isBack && this.#frame.awaited === null) this.#beginPage();
    this.#visit(message.historyKey);
    if (slot === null) {
      const { phase, url } = this.#state;
      this.#frame.arriveAtStart();
      // A failure that no document stands for: the start document under it may only just have loaded.
      const isCovered = phase === "failed" && this.#committed.url !== url;
      if (isBack || (phase !== "loading" && !isCovered)) {
        this.#frame.giveUp();
        this.#commit(NO_PAGE, true, { cost: NO_COST });
      }
      return;
    }
    const url = this.#toReal(message.url, slot);
    if (URL.parse(url)?.origin !== slot.origin) return;
    if (message.phase !== "loading" && !isBack && this.#isFormerPage(url)) {
      this.#bootWatch.hearFormerPage();
      this.#committed = { ...this.#committed, url, title: message.title };
      this.#draw(this.#shown);
      return;
    }
    if (isPartOf(`${this.#frame.brokenUrl}#`, url)) {
      this.#committed = { url, title: message.title, icon: null };
      return;
    }
    const isNew = isBack || message.phase === "loading" || this.#frame.awaited !== null;
    this.#frame.arrive();
    const icon = message.icon === null ? null : this.#toReal(message.icon, slot);
    const isLoaded = this.#showDocument(url, message.title, message.phase, message.isError);
    if (isNew) this.#options.onCommit();
    if (isLoaded) void this.#loadIcon(icon, slot.origin);
  }

  /**
   * Whether a document that had begun before is the one that the frame is about to leave: it goes on loading, and its
   * title changes, until the next one is there. That one says first that it loads, unless it is another part of the same.
   */
  #isFormerPage(url: string): boolean {
    if (this.#frame.awaited === null) return false;
    return url === this.#committed.url || (this.#navigation !== null && url !== this.#navigation.request.url);
  }

  #onSilentDocument({ url, title, phase }: TunnelToShell & { type: "silent-document" }): void {
    if (phase === "loaded") {
      if (this.#frame.awaited === null && this.#frame.silentUrl === url) this.#showDocument(url, title, phase);
      return;
    }
    if (!this.#frame.mayBePage(url, this.#committed.url)) return;
    this.#history = visitUrl(this.#history, url, this.#navigation !== null);
    this.update({ canGoBack: canGoBack(this.#history), canGoForward: canGoForward(this.#history) });
    this.#frame.arrive(url);
    this.#showDocument(url, title, phase);
    this.#options.onCommit();
  }

  /** Costs are counted from here. */
  #beginPage(): void {
    this.#askedAt = performance.now();
    this.#options.tunnel.tell({ type: "page-begins" });
  }

  get #timeSoFar(): number {
    return performance.now() - this.#askedAt;
  }

  /** What there is of it is not left to be taken for the whole. A page that has all it needs may have lost a frame's. */
  #onBrokenDocument({ url, code, message }: TunnelToShell & { type: "broken-document" }): void {
    const { awaited } = this.#frame;
    const { request, by } = this.#navigation ?? { by: "started" };
    const isPage = awaited === null ? isPartOf(`${url}#`, this.#committed.url) : awaited === new URL(url).origin;
    if (this.#state.phase !== "loading" || !isPage || code === ErrorCode.CANCEL) return;
    if (awaited !== null) this.#frame.breakOff(url);
    if (this.#navigation !== null) this.#navigation.mayHaveRun ||= request?.method !== "GET";
    const from = awaited === null ? this.#committed.url : (request?.url ?? "");
    this.#fail({ code, url: withFragmentOf(from, url), method: request?.method ?? null, detail: message }, by);
  }

  /** @returns whether it is all there. */
  #showDocument(url: string, title: string, phase: DocumentPhase, isError = false): boolean {
    const sameSite = URL.parse(this.#committed.url)?.origin === new URL(url).origin;
    const icon = sameSite ? this.#committed.icon : null;
    // The document was on its way when the person pressed stop.
    if (this.#isStopped && phase !== "loaded") this.#tellPage({ tag: MESSAGE_TAG, type: "stop" });
    const loaded = phase === "loaded" || this.#isStopped;
    if (loaded) this.#navigation = null;
    // A page that is there says so again when its title changes.
    const isNew = loaded && this.#state.phase === "loading";
    const cost = { ...this.#state.cost, time: this.#timeSoFar };
    this.#commit({ url, title, icon }, loaded, isNew ? { cost } : {});
    if (!loaded) return false;
    if (!isError) this.#options.sites.visit({ url, title: title || url, icon });
    this.#showSites();
    void this.#options.tunnel.stats().then((stats) => this.update({ totals: this.#options.totals.add(stats) }));
    return true;
  }

  /** As `#navigate`, to an address of any kind. */
  #navigateAnywhere(request: NavigationRequest, going: Going): void {
    const scheme = URL.parse(request.url)?.protocol ?? "";
    if (scheme === "http:" || scheme === "https:") this.#navigate(request, going);
    else this.#failUnsupported(request.url, scheme.slice(0, -1));
  }

  #visit(historyKey: string): void {
    this.#history = visit(this.#history, historyKey, this.#navigation !== null);
    this.update({ canGoBack: canGoBack(this.#history), canGoForward: canGoForward(this.#history) });
  }

  #retry({ by, error }: NavigationState & { kind: "failed" }): void {
    this.prepareToGo();
    const { request, mayHaveRun = false } = this.#navigation ?? {};
    // What a form sent goes once. To look there for what became of it takes its address alone.
    if (request?.url === error.url && !mayHaveRun) this.#navigate(request, { by });
    else this.#navigateAnywhere(typedNavigation(error.url, request?.initiator), { by });
  }

  #reloadPage(): void {
    const { url } = this.#committed;
    if (this.#frame.silentUrl === url)
      this.#navigate(withoutFragment(typedNavigation(url)), { by: "started", replace: true });
    else if (url !== "") this.#tellToReload(false);
  }

  #tellToReload(isConfirmed: boolean): void {
    this.#draw(LOADING, { progress: 0 });
    this.#tellPage({ tag: MESSAGE_TAG, type: "reload", isConfirmed });
  }

  /** The person wants the page that is there, not where that sends the frame. */
  #stayAndReload(): void {
    this.#abandon();
    this.#restoreCommitted();
    if (this.#frame.hasLeftDocument) this.#bringBack(this.#committed.url);
    else this.#reloadPage();
  }

  #navigate(request: NavigationRequest, going: Going): void {
    const {
      by,
      replace = false,
      begun = null,
      waitsForLink = false,
      askedAt = performance.now(),
      isSelfSend = false,
    } = going;
    const { frames, tunnel } = this.#options;
    if (!isSelfSend) this.#selfSends.end();
    if (frames === null) {
      if (begun !== null) tunnel.tell({ type: "abandon", id: begun });
      const detail = "Cannot show pages: this edge has only one host; give it a wildcard host and set ROPEWAY_HOST";
      this.#fail({ code: ErrorCode.NO_SLOT_HOST, url: request.url, method: request.method, detail }, by);
      return;
    }
    const isShown = isShownAlready(request.url, this.#state);
    const isStep = begun === null && !isShown && this.#isOtherPart(request);
    this.#isStopped = false;
    this.#askedAt = askedAt;
    this.#bootWatch.begin();
    this.#options.ensurePaired();
    this.#abandon();
    // The frame steps to another part of its document by itself.
    this.#navigation = isStep
      ? null
      : { id: begun ?? tunnel.navigate(withoutFragment(request)), request, by, mayHaveRun: false };
    this.#iconUrl = null;
    this.#draw({ kind: by, url: request.url }, { progress: 0, cost: NO_COST });
    this.#setsOutWithLink = waitsForLink && this.#state.link.kind === "connecting";
    if (!this.#setsOutWithLink) this.#show(request.url, replace || isShown, isShown);
  }

  #isOtherPart({ method, url }: NavigationRequest): boolean {
    const isPage = this.#state.phase === "loaded" && this.#state.error === null && this.#frame.silentUrl === null;
    return isPage && !this.#frame.hasLeftDocument && method === "GET" && isPartOf(url, this.#committed.url);
  }

  /** What the shell has under way is not wanted any more. */
  #abandon(): void {
    if (this.#navigation !== null) this.#options.tunnel.tell({ type: "abandon", id: this.#navigation.id });
    this.#navigation = null;
    this.#setsOutWithLink = false;
  }

  /**
   * Points the frame at the slot of a URL; its service worker claims the response that is under way.
   *
   * @param isAgain also where the frame has a document of this very URL, which may be a notice or a boot page.
   */
  #show(url: string, replace: boolean, isAgain = false): void {
    const { frames } = this.#options;
    if (frames === null) return;
    const origin = new URL(url).origin;
    this.#frame.setOut(origin);
    this.#sentTo = url;
    this.#bootWatch.setOut();
    const target = frames.slotUrl(frames.slotFor(origin, origin), url, isAgain);
    if (replace) frames.page.contentWindow?.location.replace(target);
    else frames.page.src = target;
  }

  #fail(error: PageError, by: Destination["kind"]): void {
    this.#draw({ kind: "failed", by, error }, { progress: null });
  }

  #failUnsupported(url: string, scheme: string): void {
    const detail = `Cannot open ${scheme || "this"}: Ropeway loads http: and https: pages`;
    this.#fail({ code: ErrorCode.UNSUPPORTED_SCHEME, url, method: null, detail }, "started");
  }

  /** The navigation has ended without a document: the page before stays, or comes back where the frame has left it. */
  #stay(): void {
    const { url } = this.#committed;
    this.#navigation = null;
    this.#restoreCommitted();
    if (this.#frame.hasLeftDocument) setTimeout(() => this.#bringBack(url), TAKE_OVER_TIME);
  }

  #bringBack(url: string): void {
    if (!this.#frame.hasLeftDocument || this.#frame.awaited !== null || this.#committed.url !== url) return;
    if (url === "") this.#options.frames?.page.contentWindow?.location.replace(START_DOCUMENT);
    else {
      this.#draw({ kind: "started", url }, { progress: 0 });
      this.#isStopped = false;
      this.#show(url, true, true);
    }
  }

  #dismissError(): void {
    this.#navigation = null;
    this.#restoreCommitted();
  }

  #restoreCommitted(): void {
    this.#frame.giveUp();
    this.#draw(LOADED, { progress: null });
  }

  #commit(page: CommittedPage, isLoaded: boolean, change: Change = {}): void {
    this.#committed = page;
    this.#draw(isLoaded ? LOADED : LOADING, isLoaded ? { progress: null, ...change } : change);
  }

  #draw(shown: NavigationState, change: Change = {}): void {
    this.#shown = shown;
    this.update(change);
  }

  async #loadIcon(url: string | null, origin: string): Promise<void> {
    if (url === null || url === this.#iconUrl) return;
    this.#iconUrl = url;
    const icon = url.startsWith("data:image/") ? url : await this.#options.tunnel.icon(url, origin);
    if (icon === null || this.#iconUrl !== url) return;
    this.#committed = { ...this.#committed, icon };
    this.#draw(this.#shown);
    this.#options.sites.showIcon(this.#committed.url, icon);
    this.#showSites();
  }

  #showSites(): void {
    this.update({ recent: this.#options.sites.recent, pinned: this.#options.sites.pinned });
  }

  #tellPage(message: ShellToPage): void {
    this.#options.frames?.page.contentWindow?.postMessage(message, "*");
  }

  /** A slot's own URL as the real one; any other as it is. */
  #toReal(url: string, slot: Slot): string {
    const slotOrigin = this.#options.frames?.originOf(slot) ?? "";
    return url === slotOrigin || url.startsWith(`${slotOrigin}/`) ? slot.origin + url.slice(slotOrigin.length) : url;
  }
}
