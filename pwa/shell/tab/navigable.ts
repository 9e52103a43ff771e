import { ErrorCode } from "../../../shared/errors.ts";
import { type DocumentPhase, MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest, TunnelToShell } from "../../messages/tunnel-messages.ts";
import type { App } from "../app/app.ts";
import type { Destination, PageError, TabState } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import { BootWatch } from "./boot-watch.ts";
import { Failures } from "./failures.ts";
import { IconLoader } from "./icon-loader.ts";
import * as step from "./navigation.ts";
import { type CommittedPage, drawNavigation, type Navigation, NO_PAGE, type SentNavigation } from "./navigation.ts";
import { isPartOf, isShownAlready, withFragmentOf, withoutFragment } from "./navigation-request.ts";
import type { PageFrame } from "./page-frame.ts";
import { NO_COST, PageMeter } from "./page-meter.ts";
import { SelfSends } from "./self-sends.ts";

/** Milliseconds after which a browser has surely made a download of a response. To leave before would end that. */
const TAKE_OVER_TIME = 1_000;

type Told = TunnelToShell & { type: "no-document" | "document-failed" | "silent-document" | "broken-document" };

/** A frame with the document that it shows, what is on its way there, and the session history (HTML section 7.3.1). */
export class Navigable {
  readonly frame: PageFrame;
  readonly meter = new PageMeter();
  readonly selfSends = new SelfSends();
  readonly failures: Failures;
  readonly #bootWatch: BootWatch;
  readonly #tab: number;
  readonly #app: App;
  readonly #onCommit: () => void;
  readonly #icons: IconLoader;
  #navigation: Navigation = step.LOADED;
  /** The page that stays when a navigation yields no document. */
  #committed = NO_PAGE;

  /**
   * @param tab as of `Tab`.
   * @param onCommit another document has come into the frame.
   * @param tryAgain what failed may be there now.
   */
  constructor(tab: number, app: App, frame: PageFrame, onCommit: () => void, tryAgain: () => void) {
    this.#tab = tab;
    this.#app = app;
    this.frame = frame;
    this.#onCommit = onCommit;
    this.failures = new Failures(tryAgain);
    this.#icons = new IconLoader((url, origin) => app.tunnel.icon(url, origin));
    this.#bootWatch = new BootWatch({
      awaited: () => (this.sent && this.state.phase === "loading" ? frame.awaited(app.state.link.kind) : "nothing"),
      standIn: (url) => this.sent?.isAnswered === true && frame.places?.standIn(url) === true,
      askAgain: (url) => this.show(url, true, true),
      giveUp: (url) => this.#failBoot(url),
    });
    frame.element.addEventListener("load", () => frame.hasOwnOrigin || this.#bootWatch.onFrameLoad());
  }

  get state(): TabState {
    return {
      ...drawNavigation(this.#committed, this.#navigation),
      canGoBack: this.frame.history.canGoBack,
      canGoForward: this.frame.history.canGoForward,
      ...this.failures.draw(this.#navigation),
      progress: this.meter.progress,
      cost: this.meter.cost,
      storedAt: this.meter.storedAt(this.#committed.url),
      hasNewer: this.meter.hasNewer(this.#committed.url),
      isFrameEmpty: this.frame.position.hasLeftDocument,
    };
  }

  get navigation(): Navigation {
    return this.#navigation;
  }

  get committed(): CommittedPage {
    return this.#committed;
  }

  get sent(): SentNavigation | null {
    return step.sentBy(this.#navigation);
  }

  // What leads to another page, or back to the one that was there

  /** @param request of an http: or https: URL. */
  navigate(request: NavigationRequest, going: step.Going): void {
    const { by, replace = false, begun = null, waitsForLink = false, askedAt, isSelfSend = false } = going;
    const { tunnel } = this.#app;
    if (!isSelfSend) this.selfSends.end();
    const problem = this.frame.problemWith(request.url);
    if (problem !== null) {
      if (begun !== null) tunnel.tell({ type: "abandon", id: begun });
      return this.fail({ ...problem, url: request.url, method: request.method }, by);
    }
    const isShown = isShownAlready(request.url, this.state);
    const former = this.failures.before(this.#navigation, request.url);
    const keepsPage = this.#hasPage;
    // The frame steps to another part of its document by itself.
    const isPart = this.frame.position.hasOwnDocument && isPartOf(request.url, this.#committed.url);
    const isStep = begun === null && !isShown && isPart && request.method === "GET" && this.state.phase === "loaded";
    this.#bootWatch.begin();
    this.#app.ensurePaired();
    this.abandon();
    if (going.isReopening === true) this.frame.history.reopen();
    const id = isStep ? null : (begun ?? tunnel.navigate(this.#tab, withoutFragment(request), keepsPage));
    const frameWaits = { replaces: replace || isShown, isAgain: isShown };
    const sent = id === null ? null : { ...former, id, request, by, mayHaveRun: false, isAnswered: false, frameWaits };
    this.#icons.forget();
    this.meter.begin(request.url, askedAt);
    this.#enter(step.setOut({ kind: by, url: request.url }, sent));
    const { kind: link } = this.#app.state.link;
    // A boot page would take the place of the page shown, for what may never come.
    const losesPage =
      keepsPage && link !== "open" && (isShown || this.frame.places?.needsBootPage(request.url) === true);
    if (sent === null) this.show(request.url, frameWaits.replaces, isShown);
    else if (!losesPage && !(waitsForLink && link === "connecting")) this.setFrameOut(sent);
  }

  /** Sends the frame to the page, if it has waited. @returns whether it had. */
  setFrameOut(sent: SentNavigation): boolean {
    const { frameWaits, request } = sent;
    sent.frameWaits = null;
    if (frameWaits !== null) this.show(request.url, frameWaits.replaces, frameWaits.isAgain);
    return frameWaits !== null;
  }

  /** The page goes to another document of its slot by itself. */
  depart(url: string, slot: Slot): void {
    this.selfSends.end();
    this.failures.forget();
    this.frame.position.setOut(slot.origin);
    this.meter.begin(url);
    this.#app.tunnel.tell({ type: "page-begins", tab: this.#tab, url: url.split("#", 1)[0] ?? url });
    this.#enter(step.setOut({ kind: "started", url }, this.sent));
  }

  /** As `PageFrame.show`. */
  show(url: string, replaces: boolean, isAgain = false): void {
    this.frame.show(url, replaces, isAgain);
    this.#bootWatch.setOut(url);
  }

  /** A redirect of what is on its way. */
  redirect(to: string): void {
    const url = withFragmentOf(this.sent?.request.url ?? "", to);
    this.show(url, false, isPartOf(url, this.#committed.url));
  }

  /** @param how as of `ShellToPage`. */
  reloadDocument(how: { readonly isConfirmed: boolean; readonly isHard: boolean }): void {
    this.meter.progress = 0;
    this.meter.forgetStored(this.#committed.url);
    this.#enter(step.reload(this.#navigation));
    this.frame.tell({ tag: MESSAGE_TAG, type: "reload", ...how });
  }

  /** What the shell has under way is not wanted any more. */
  abandon(): void {
    const { sent } = this;
    if (sent !== null) this.#app.tunnel.tell({ type: "abandon", id: sent.id });
    this.failures.forget();
    this.#navigation = step.giveUp(this.#navigation);
    this.frame.history.leave();
  }

  /** A page that is shown stays, or comes back; without one the error is all there is. */
  fail(error: PageError, by: Destination["kind"]): void {
    // Without a key nothing goes on.
    if (!this.#hasPage || error.code === ErrorCode.KEY_NOT_ACCEPTED) return this.#failInPlace(error, by);
    this.failures.waitBeside(step.fail(this.#navigation, by, error));
    this.restore();
    this.bringBack();
  }

  /** The page that is committed is what counts, whatever was on its way. */
  restore(isStopped = false): void {
    this.frame.position.giveUp();
    this.#enter(isStopped ? step.STOPPED : step.LOADED);
  }

  /** The frame gets the committed page anew, if it has left it. */
  bringBack(): void {
    const { url } = this.#committed;
    const { hasLeftDocument, awaited } = this.frame.position;
    if (!hasLeftDocument || awaited !== null) return;
    if (url === "") return this.frame.showStart(true);
    this.meter.progress = 0;
    this.#enter(step.comeBack(this.#navigation, url));
    this.show(url, true, true);
  }

  /** The navigation has ended without a document: the page before stays, or comes back where the frame has left it. */
  #stay(origin: string): void {
    if (this.state.phase !== "loading") return;
    const { url } = this.#committed;
    // The frame may have gone on to another slot meanwhile; on its way back to the page it may have been kept from that.
    if (origin === this.frame.position.awaited) this.restore();
    else if (!this.failures.isBeside) return;
    if (!this.frame.position.hasLeftDocument) return;
    setTimeout(() => {
      if (this.#committed.url !== url || !this.frame.position.hasLeftDocument) return;
      if (this.failures.isBeside) this.restore();
      if (this.#navigation.kind === "loaded") this.bringBack();
    }, TAKE_OVER_TIME);
  }

  commitStart(): void {
    this.frame.position.giveUp();
    this.#committed = NO_PAGE;
    this.meter.cost = NO_COST;
    this.#enter(step.LOADED);
  }

  /** The start document will send the frame there. */
  expect(url: string): void {
    this.#enter(step.setOut({ kind: "typed", url }, null));
  }

  /** @param slot null for the start document. */
  onDocument(message: PageToShell & { type: "document" }, slot: Slot | null): void {
    const { position } = this.frame;
    const { historyKey, title, phase } = message;
    const isBack = this.frame.history.isTraversal(historyKey, this.sent !== null);
    if (isBack) this.#traverse(slot);
    this.#visit(historyKey);
    if (slot === null) return this.#onStartDocument(isBack);
    const url = this.frame.toReal(message.url, slot);
    if (URL.parse(url)?.origin !== slot.origin) return;
    this.frame.history.note(url, message.isPosted === false && this.sent?.request.method !== "POST");
    const isFormer = position.isFormerPage(url, this.#committed.url, this.sent?.request.url ?? null);
    if (phase !== "loading" && !isBack && isFormer) {
      this.#bootWatch.hearFormerPage();
      this.#committed = { ...this.#committed, url, title };
      this.#app.draw();
      return;
    }
    if (isPartOf(`${position.brokenUrl}#`, url)) {
      this.#committed = { url, title, icon: null };
      return;
    }
    const isNew = isBack || phase === "loading" || position.awaited !== null;
    position.arrive();
    const isLoaded = this.#commit(url, title, phase, message.isError);
    if (isNew) this.#onCommit();
    if (isLoaded && message.icon !== null) void this.#loadIcon(this.frame.toReal(message.icon, slot), slot.origin);
  }

  /** In place of a document. */
  onFailedDocument(message: PageToShell & { type: "failed" }): void {
    const { url, code, method = null, message: detail } = message;
    if (step.isNoticeOfFormer(this.#navigation, message)) {
      this.frame.position.leaveDocument();
      return this.#visit(message.historyKey);
    }
    this.frame.position.arriveAtNotice();
    this.#visit(message.historyKey);
    this.frame.history.note(url, method === "GET");
    this.#committed = { ...NO_PAGE, url };
    // The shell's own navigation has reported the same failure.
    if (this.#navigation.kind !== "failed") this.fail({ code, url, method, detail }, "started");
  }

  /** The tunnel tells what the document cannot. */
  onToldDocument(event: Told): void {
    switch (event.type) {
      case "no-document":
        return this.#stay(event.origin);
      case "document-failed":
        return this.#onMissedDocument(event);
      case "silent-document":
        return this.#onSilentDocument(event);
      case "broken-document":
        return this.#onBrokenDocument(event);
    }
  }

  /** The page has left for it by itself, and is still there. */
  #onMissedDocument({ url, code, method, message: detail }: Told & { type: "document-failed" }): void {
    const navigation = this.#navigation;
    if (navigation.kind !== "underway" || navigation.sent !== null) return;
    const { destination } = navigation;
    if (isPartOf(`${url}#`, destination.url)) this.fail({ code, url: destination.url, method, detail }, "started");
  }

  #onSilentDocument({ url, title, phase }: Told & { type: "silent-document" }): void {
    const { position } = this.frame;
    if (phase === "loaded") {
      if (position.awaited === null && position.silentUrl === url) this.#commit(url, title, phase);
      return;
    }
    if (!position.mayBePage(url, this.#committed.url)) return;
    this.frame.history.visitUrl(url, this.sent !== null);
    this.frame.history.note(url, this.sent?.request.method === "GET");
    position.arrive(url);
    this.#commit(url, title, phase);
    this.#onCommit();
  }

  /** What there is of it is not left to be taken for the whole. A page that has all it needs may have lost a frame's. */
  #onBrokenDocument({ url, code, message: detail }: Told & { type: "broken-document" }): void {
    const { sent } = this;
    const { awaited } = this.frame.position;
    const isPage = awaited === null ? isPartOf(`${url}#`, this.#committed.url) : awaited === new URL(url).origin;
    if (this.state.phase !== "loading" || !isPage || code === ErrorCode.CANCEL) return;
    if (awaited !== null) this.frame.position.breakOff(url);
    if (sent !== null) sent.mayHaveRun ||= sent.request.method !== "GET";
    const from = awaited === null ? this.#committed.url : (sent?.request.url ?? "");
    const error = { code, url: withFragmentOf(from, url), method: sent?.request.method ?? null, detail };
    this.#failInPlace(error, sent?.by ?? "started");
  }

  /** An app page (boot page, notice) has taken the place of the document. */
  onDocumentLeft(): void {
    this.frame.position.leaveDocument();
    // That was for what has failed meanwhile.
    if (this.failures.isBeside && this.#navigation.kind === "loaded") return this.bringBack();
    this.#app.draw();
  }

  /** A document of a site's is in the frame, or was until a boot page took its place. */
  get #hasPage(): boolean {
    return this.#committed.url !== "" && this.#navigation.kind !== "failed" && !this.frame.position.showsNotice;
  }

  #failInPlace(error: PageError, by: Destination["kind"]): void {
    const failed = step.fail(this.#navigation, by, error);
    this.failures.add(failed);
    this.#enter(failed);
  }

  /** @param slot whose document the history has led to; null for the start document. */
  #traverse(slot: Slot | null): void {
    // What is come to was not stopped.
    if (this.#navigation.kind === "loaded") this.#navigation = step.LOADED;
    this.selfSends.end();
    this.failures.forget();
    // The frame has turned away from what was on its way. The page shown could say so to keep the person.
    if (slot === null || URL.parse(this.#committed.url)?.origin !== slot.origin) this.abandon();
    if (this.frame.position.awaited !== null) return;
    this.meter.askedAt = performance.now();
    this.#app.tunnel.tell({ type: "page-begins", tab: this.#tab, url: null });
  }

  #onStartDocument(isBack: boolean): void {
    const { phase, url } = this.state;
    this.frame.position.arriveAtStart();
    // A failure that no document stands for: the start document under it may only just have loaded.
    const isCovered = phase === "failed" && this.#committed.url !== url;
    if (isBack || (phase !== "loading" && !isCovered)) this.commitStart();
    const page = this.frame.pageOfBefore(isBack);
    if (page !== null) this.navigate(page, { by: "typed", replace: true, isReopening: true });
  }

  #visit(historyKey: string): void {
    this.frame.history.visit(historyKey, this.sent !== null);
    this.#app.draw();
  }

  /** @returns whether the document is all there. */
  #commit(url: string, title: string, phase: DocumentPhase, isError = false): boolean {
    const isSameSite = URL.parse(this.#committed.url)?.origin === new URL(url).origin;
    const icon = isSameSite ? this.#committed.icon : null;
    const navigation = step.arrive(this.#navigation, phase);
    const isLoaded = navigation.kind === "loaded";
    // The document was on its way when the person pressed stop.
    if (isLoaded && phase !== "loaded") this.frame.tell({ tag: MESSAGE_TAG, type: "stop" });
    // A page that is there says so again when its title changes.
    if (isLoaded && this.state.phase === "loading") this.meter.stopClock();
    this.#committed = { url, title, icon };
    this.#enter(navigation);
    if (isLoaded) this.#app.onPageLoaded(isError ? null : { url, title: title || url, icon });
    return isLoaded;
  }

  async #loadIcon(url: string, origin: string): Promise<void> {
    const icon = await this.#icons.load(url, origin);
    if (icon === null) return;
    this.#committed = { ...this.#committed, icon };
    this.#app.showIcon(this.#committed.url, icon);
  }

  #failBoot(url: string): void {
    const { sent } = this;
    if (sent === null) return;
    const { method } = sent.request;
    sent.mayHaveRun = method !== "GET";
    const detail = "Cannot show the site: the page that sets up its host on this phone does not come";
    // A page of the browser's own is in its place.
    this.frame.position.leaveDocument();
    this.fail({ code: ErrorCode.LINK_LOST, url, method, detail }, sent.by);
  }

  /** All changes of the navigation end here. */
  #enter(navigation: Navigation): void {
    this.#navigation = navigation;
    if (navigation.kind === "loaded" || navigation.kind === "failed") this.meter.progress = null;
    this.#app.draw();
  }
}
