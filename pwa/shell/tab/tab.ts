import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { App, AppTab, TabEvent } from "../app/app.ts";
import type { TabActions, TabState } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import { parseAddress } from "./address-input.ts";
import { mayWarmLinks, networkCost } from "./link-warming.ts";
import { Navigable } from "./navigable.ts";
import type { Going } from "./navigation.ts";
import { isForOtherApp, mayHaveActed, pageNavigation, typedNavigation, withoutFragment } from "./navigation-request.ts";
import { NO_FREE_HOST, type PageFrame } from "./page-frame.ts";
import type { KeptEntry } from "./session-history.ts";

/** Characters of a page's title, which can be megabytes: it is shown in lists, and kept with recent and pinned sites. */
const MOST_TITLE = 300;

/** That a page names, of which the tunnel takes what it may. */
const MOST_LINKS = 10;

export interface TabOptions {
  /** Different for each tab of this window. */
  readonly id: number;
  readonly app: App;
  readonly frame: PageFrame;
  /** Another document has come into the frame. */
  readonly onCommit: () => void;
  /** Hands a URL to the app of the phone that opens such. @returns false where the person has done nothing that asks for it. */
  readonly openOtherApp: (url: string) => boolean;
}

/** What the person, the tunnel and the pages want of one frame. The app may have several tabs. */
export class Tab implements AppTab, TabActions {
  readonly #id: number;
  readonly #app: App;
  readonly #frame: PageFrame;
  readonly #navigable: Navigable;
  readonly #openOtherApp: (url: string) => boolean;
  /** Until the page is loaded: the one before may yet say that it is. */
  #hardReload: "none" | "asked" | "begun" = "none";

  constructor({ id, app, frame, onCommit, openOtherApp }: TabOptions) {
    this.#id = id;
    this.#app = app;
    this.#frame = frame;
    this.#navigable = new Navigable(id, app, frame, onCommit, () => this.#tryAgain("by itself"));
    this.#openOtherApp = openOtherApp;
    app.add(this);
  }

  get state(): TabState {
    return this.#navigable.state;
  }

  /** Goes where the person was when the app was closed: to the last of the entries. */
  resume(entries: readonly KeptEntry[]): void {
    const url = this.#frame.history.resume(entries);
    if (url !== null) this.#navigable.expect(url);
  }

  // What the person asks for

  /** @param initiator as of a NavigationRequest. */
  go(input: string, going: Pick<Going, "begun" | "waitsForLink"> = {}, initiator: string | null = null): void {
    if (input.trim() === "") return;
    const address = parseAddress(input, this.#app.state.settings.searchUrl);
    if (address.kind === "unsupported") return this.#failUnsupported(address.input, address.scheme);
    // If the app was opened for this page, the wait began when it was opened.
    const askedAt = (going.begun ?? null) === null ? performance.now() : 0;
    this.#navigable.navigate(typedNavigation(address.url, initiator), { by: "typed", askedAt, ...going });
  }

  back(): void {
    const { error, url, canGoBack } = this.state;
    if (error !== null && this.#navigable.committed.url !== url) this.#navigable.restore();
    else if (canGoBack) history.back();
  }

  forward(): void {
    if (this.state.canGoForward) history.forward();
  }

  reload(): void {
    const { navigation, sent } = this.#navigable;
    if (navigation.kind === "failed") return this.#tryAgain("asked");
    if (navigation.kind !== "underway") return this.#reloadPage();
    const { kind, url } = navigation.destination;
    if (kind === "typed") return this.#navigable.navigate(sent?.request ?? typedNavigation(url), { by: "typed" });
    // The person wants the page that is there, not where that sends the frame.
    this.#navigable.abandon();
    this.#navigable.restore();
    if (this.#frame.position.hasLeftDocument) this.#navigable.bringBack();
    else this.#reloadPage();
  }

  hardReload(): void {
    const [url = ""] = this.state.url.split("#", 1);
    this.#hardReload = url === "" ? "none" : "asked";
    if (url !== "") this.#app.tunnel.tell({ type: "hard-reload", url });
    this.reload();
  }

  loadWaiting(): void {
    const [url = ""] = this.#navigable.committed.url.split("#", 1);
    this.#app.tunnel.tell({ type: "spare-page", url });
    this.reload();
  }

  stop(): void {
    this.#endHardReload();
    this.#navigable.abandon();
    this.#frame.tell({ tag: MESSAGE_TAG, type: "stop" });
    this.#navigable.restore(true);
    this.#navigable.bringBack();
  }

  home(): void {
    this.#navigable.abandon();
    this.#frame.showStart();
    this.#navigable.commitStart();
  }

  openFailed(): void {
    this.#tryAgain("asked");
  }

  forgetFailed(): void {
    this.#navigable.failures.forget();
    this.#app.draw();
  }

  keepVersion(): void {
    this.#navigable.meter.newer = null;
    this.#app.draw();
  }

  sendAgain(): void {
    const { notice } = this.#app.state;
    this.#app.dismissNotice();
    const { phase, url } = this.state;
    if (notice?.kind === "resend" && phase === "loaded" && notice.url === url)
      this.#navigable.reloadDocument({ isConfirmed: true, isHard: this.#hardReload !== "none" });
  }

  // What the tunnel says

  onLinkBack(): void {
    this.#frame.places?.endStandIns();
    const { failures, navigation, sent } = this.#navigable;
    if (failures.latest(navigation) !== null) {
      if (this.state.tryingAgain === "with the link") this.#tryAgain("by itself");
      return;
    }
    if (sent === null) return;
    const { url } = sent.request;
    const isOnItsWay = !this.#navigable.setFrameOut(sent);
    // Without a link the boot page of a fresh slot cannot have loaded.
    if (isOnItsWay && this.#frame.places?.isBooted(new URL(url).origin) === false) this.#navigable.show(url, false);
  }

  onTunnelEvent(event: TabEvent): void {
    const { sent, meter } = this.#navigable;
    switch (event.type) {
      case "uncertain":
        if (sent !== null && withoutFragment(sent.request).url === event.url) sent.mayHaveRun = true;
        return;
      case "progress":
        if (event.tab !== this.#id) return;
        meter.count(event.progress, this.state.phase);
        return this.#app.draw();
      case "navigation-failed": {
        if (event.code === ErrorCode.CANCEL || sent === null || event.id !== sent.id) return;
        sent.mayHaveRun ||= mayHaveActed(sent.request, event.code);
        const { method, url } = sent.request;
        return this.#navigable.fail({ code: event.code, url, method, detail: event.message }, sent.by);
      }
      case "navigation-answered":
        if (event.id !== sent?.id) return;
        sent.isAnswered = true;
        this.#navigable.setFrameOut(sent);
        return;
      case "navigation-moved":
        if (event.id === sent?.id) this.#redirect(event.url);
        return;
      case "no-document":
      case "document-failed":
      case "silent-document":
      case "broken-document":
        return this.#navigable.onToldDocument(event);
      case "newer-page":
        meter.newer = event.url;
        return this.#app.draw();
      case "stored-page":
        meter.answerStored(event.url, event.storedAt);
        return this.#app.draw();
    }
  }

  // What the page says

  /** Origins of what the frame shows, or is on its way to. */
  get origins(): readonly string[] {
    const { url, destination } = this.state;
    return [this.#navigable.committed.url, url, destination?.url ?? ""].flatMap(
      (each) => URL.parse(each)?.origin ?? [],
    );
  }

  /** There is no host for the page of this origin that the frame was on its way to. */
  onNoHost(origin: string): void {
    const { sent } = this.#navigable;
    if (this.#frame.position.awaited === origin) this.#failWithoutHost(sent?.request.url ?? this.state.url);
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
    if (url === null) this.#frame.showStart(true);
    else if (URL.parse(url)?.origin === slot?.origin) return true;
    else {
      const page = { ...typedNavigation(url), cache: "force-cache" } as const;
      this.#navigable.navigate(page, { by: "typed", replace: true, isReopening: true });
    }
    return false;
  }

  /** @param slot the slot that speaks, from the event's origin; null for the start document. */
  onPageMessage(message: PageToShell, slot: Slot | null, source: Window): void {
    if (!this.#frame.isOf(source)) return;
    if (message.type === "document") {
      this.#navigable.onDocument({ ...message, title: message.title.slice(0, MOST_TITLE) }, slot);
      if (this.#hardReload === "asked" && message.phase !== "loaded") this.#hardReload = "begun";
      else if (this.#hardReload === "begun" && this.state.phase === "loaded") this.#endHardReload();
      if (message.phase === "loaded" && this.#mayWarm) this.#frame.tell({ tag: MESSAGE_TAG, type: "links-wanted" });
    } else if (slot !== null) this.#onSlotMessage(message, slot);
  }

  #onSlotMessage(message: PageToShell, slot: Slot): void {
    const { position } = this.#frame;
    switch (message.type) {
      case "booting":
      case "slot-ready":
        return this.#navigable.onDocumentLeft();
      case "navigate":
        return this.#onNavigate(message, slot);
      case "scrolled":
        return this.#onScrolled(message.historyKey, message.position);
      case "leaving":
        return this.#navigable.depart(this.#frame.toReal(message.url, slot), slot);
      case "staying":
        if (this.#navigable.sent === null && position.awaited === slot.origin) position.giveUp();
        return;
      case "links":
        return this.#onLinks(message.urls, slot);
      case "reload-sends-form":
        return this.#onFormPage(slot);
      case "failed":
        // A page can say anything, but only of its own origin: the address bar is what people trust.
        if (URL.parse(message.url)?.origin === slot.origin) this.#navigable.onFailedDocument(message);
        return;
      case "moved": {
        position.leaveDocument();
        // A redirect out of the slot.
        const { askedAt } = this.#navigable.meter;
        this.#navigateAnywhere(typedNavigation(message.url, slot.origin), { by: "started", replace: true, askedAt });
      }
    }
  }

  #onNavigate(message: PageToShell & { type: "navigate" }, slot: Slot): void {
    const { committed, navigation, selfSends } = this.#navigable;
    const url = this.#frame.toReal(message.url, slot);
    if (!/^https?:/.test(url)) {
      // As in a browser, the page stays.
      if (!isForOtherApp(url) || !this.#openOtherApp(url)) this.#app.notify({ kind: "other-app", url });
      return;
    }
    const isSelfSend = message.method === "GET" && url === committed.url.split("#", 1)[0];
    if (isSelfSend) {
      const destination = navigation.kind === "underway" ? navigation.destination : null;
      if (destination?.kind === "started" && destination.url === url) return;
      if (selfSends.isLoop()) return this.#app.notify({ kind: "loop", url }, () => this.state.url !== url);
    }
    const replace = message.replace === true;
    this.#navigateAnywhere(pageNavigation(message, url, slot.origin), { by: "started", replace, isSelfSend });
  }

  #onScrolled(historyKey: string, position: Partial<Record<"x" | "y", unknown>> | undefined): void {
    const { x, y } = position ?? {};
    if (Number.isFinite(x) && Number.isFinite(y))
      this.#frame.history.scrolled(historyKey, { x: Number(x), y: Number(y) });
  }

  /** Its links may be warmed. */
  get #mayWarm(): boolean {
    return this.state.phase === "loaded" && mayWarmLinks(this.#app.state.settings, networkCost());
  }

  #onLinks(urls: readonly string[], slot: Slot): void {
    const [page = ""] = this.#navigable.committed.url.split("#", 1);
    const isOwn = this.#frame.position.awaited === null && URL.parse(page)?.origin === slot.origin;
    if (!isOwn || !this.#mayWarm || !Array.isArray(urls)) return;
    const links = urls.slice(0, MOST_LINKS).map((url) => this.#frame.toReal(String(url), slot));
    this.#app.tunnel.tell({ type: "warm-links", page, links });
  }

  #endHardReload(): void {
    if (this.#hardReload !== "none") this.#app.tunnel.tell({ type: "hard-reload", url: null });
    this.#hardReload = "none";
  }

  /** A reload would send a form again. */
  #onFormPage(slot: Slot): void {
    const { url } = this.#navigable.committed;
    if (this.#frame.position.awaited !== null || URL.parse(url)?.origin !== slot.origin) return;
    this.#navigable.restore();
    this.#app.notify({ kind: "resend", url }, () => this.state.phase !== "loaded");
  }

  // Where that leads

  /** As `Navigable.navigate`, to an address of any kind. */
  #navigateAnywhere(request: NavigationRequest, going: Going): void {
    const scheme = URL.parse(request.url)?.protocol ?? "";
    if (scheme === "http:" || scheme === "https:") this.#navigable.navigate(request, going);
    else this.#failUnsupported(request.url, scheme.slice(0, -1));
  }

  #tryAgain(how: "asked" | "by itself"): void {
    const { failures, navigation } = this.#navigable;
    const failed = failures.latest(navigation);
    if (failed === null) return;
    const { error, sent } = failed;
    // The bar goes on to show the page that is shown.
    const by = how === "by itself" && this.state.unopened !== null ? "started" : failed.by;
    this.#app.prepareToGo();
    // What a form sent goes once. To look there for what became of it takes its address alone.
    if (sent?.request.url === error.url && !sent.mayHaveRun) this.#navigable.navigate(sent.request, { by });
    else this.#navigateAnywhere(typedNavigation(error.url, sent?.request.initiator), { by });
  }

  #reloadPage(): void {
    const { url } = this.#navigable.committed;
    if (this.#frame.position.silentUrl === url)
      this.#navigable.navigate(withoutFragment(typedNavigation(url)), { by: "started", replace: true });
    else if (url !== "") this.#navigable.reloadDocument({ isConfirmed: false, isHard: this.#hardReload !== "none" });
  }

  #redirect(url: string): void {
    if (this.#frame.problemWith(url) === null) this.#navigable.redirect(url);
    else this.#failWithoutHost(url);
  }

  #failWithoutHost(url: string): void {
    const { by = "started", request } = this.#navigable.sent ?? {};
    this.#navigable.abandon();
    this.#navigable.fail({ ...NO_FREE_HOST, url, method: request?.method ?? null }, by);
  }

  #failUnsupported(url: string, scheme: string): void {
    const detail = `Cannot open ${scheme || "this"}: Ropeway loads http: and https: pages`;
    this.#navigable.fail({ code: ErrorCode.UNSUPPORTED_SCHEME, url, method: null, detail }, "started");
  }
}

function pathOf(url: string): string | null {
  const { pathname, search, hash } = URL.parse(url) ?? {};
  return pathname === undefined ? null : `${pathname}${search}${hash}`;
}
