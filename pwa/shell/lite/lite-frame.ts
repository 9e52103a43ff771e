import { ErrorCode } from "../../../shared/errors.ts";
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import {
  LITE_KEEP_ALIVE,
  LITE_WORKER_QUERY,
  type LiteAnswer,
  type LiteOutcome,
  type LiteQuestion,
  type LiteToShell,
  liteAddress,
  realOf,
} from "../../messages/lite-messages.ts";
import {
  type DocumentPhase,
  entryKey,
  isHold,
  type KeyPress,
  MESSAGE_TAG,
  type PageToShell,
} from "../../messages/page-messages.ts";
import type { PageOrder, Slot } from "../frames/places.ts";
import { NavigationJudge } from "./navigation-judge.ts";

/** Milliseconds between two looks at a document that is on its way. */
const LOOK = 50;
/** Milliseconds between two messages that keep the service worker from being stopped. */
const KEEP_ALIVE = 15_000;
/** Milliseconds between two reports of how far the page is scrolled. */
const SCROLL_PAUSE = 300;
/** Milliseconds in which the service worker has told of a document that it gave. */
const TOLD_WITHIN = 500;
/** Milliseconds until the active service worker is asked once more to take the window over. */
const ASK_AGAIN = 1_000;
/** How often in a row the frame is sent to a page again for which the service worker was not there. */
const ATTEMPTS = 10;

/** The frame, and whom it is for. */
export interface LiteFrameOptions {
  readonly element: HTMLIFrameElement;
  readonly workers: ServiceWorkerContainer;
  readonly bind: (slot: Slot) => MessagePort;
  /** As a page in a slot would say it. @param slot null for the start document. */
  readonly hear: (message: PageToShell, slot: Slot | null) => void;
  /** @returns whether the key was one of the app's. */
  readonly press: (press: KeyPress) => boolean;
  /** A page is all there. @param asksForPassword it has a field for one. */
  readonly onLoaded: (asksForPassword: boolean) => void;
  readonly onDownload: (url: string) => void;
  /** The start document has no script either. */
  readonly reportsStart: boolean;
}

type LiteDocument = LiteOutcome & { kind: "document" };

/**
 * Does from outside, for pages without scripts, the work of the page script in a slot: tells the tab where the page
 * is, how far, and where it wants to go. The app's service worker says what it is about to show, and the frame's document
 * says when it is there.
 */
export class LiteFrame {
  readonly #options: LiteFrameOptions;
  /** Where the tab has sent the frame, until a document is there. */
  #sent: string | null = null;
  readonly #judge = new NavigationJudge(() => performance.now());
  /** Boot pages since the tab has sent the frame to this page. */
  #attempts = 0;
  /** A page has come: the browser asks the service worker for some. */
  #hasShown = false;
  /** The document that the service worker has given, and that is not in the frame yet. */
  #coming: LiteOutcome | null = null;
  #document: Document | null = null;
  #page: LiteDocument | null = null;
  #phase: DocumentPhase = "loaded";
  #scrollsTo: { readonly x: number; readonly y: number } | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  #keptAliveAt = 0;

  constructor(options: LiteFrameOptions) {
    this.#options = options;
    const { element, workers } = options;
    workers.addEventListener("message", ({ data, ports }: MessageEvent<LiteToShell>) => this.#onWorker(data, ports[0]));
    workers.startMessages();
    element.addEventListener("load", () => this.#onLoad());
  }

  /** The frame shows a page without scripts. */
  get isShown(): boolean {
    return this.#location?.pathname.startsWith(LITE_PATH) === true;
  }

  setOut(url: string): void {
    if (url !== this.#sent) this.#attempts = 0;
    this.#sent = url;
    // As the worker hears of it: without a name and a password, or an empty query.
    this.#judge.permit(realOf(new URL(liteAddress(url), location.origin)) ?? url);
    this.#coming = null;
  }

  /** The frame goes to a page with scripts, or nowhere: a boot page that is in it asks for its page no more. */
  leave(): void {
    this.#sent = null;
    this.#judge.withdraw();
    const { contentDocument } = this.#options.element;
    if (this.#coming !== null || contentDocument === this.#document) return;
    this.#document = contentDocument;
    this.#page = null;
  }

  tell(order: PageOrder): void {
    // No script of the page's own could tell.
    if (order.type === "links-wanted") return;
    const page = this.#options.element.contentWindow;
    if (order.type === "print") return page?.print();
    this.#judge.withdraw();
    if (order.type === "stop") {
      this.leave();
      page?.stop();
    } else if (order.type === "scroll") this.#scrollsTo = order.position;
    else if (this.#page?.isPosted === true && !order.isConfirmed)
      this.#say({ tag: MESSAGE_TAG, type: "reload-sends-form" });
    else {
      if (order.isConfirmed) this.#judge.permitResending();
      const url = this.#location === null ? null : realOf(this.#location);
      if (url !== null) this.#say({ tag: MESSAGE_TAG, type: "leaving", url, isAgain: true });
      page?.location.reload();
    }
  }

  get #location(): Location | null {
    // Null while a page of the browser's own is there.
    return this.#options.element.contentDocument === null
      ? null
      : (this.#options.element.contentWindow?.location ?? null);
  }

  // The service worker tells

  #onWorker(message: LiteToShell, port: MessagePort | undefined): void {
    switch (message.type) {
      case "lite-navigation":
      case "lite-port-wanted":
        return port && this.#answer(message, port);
      case "lite-outcome":
        return this.#onOutcome(message.outcome);
    }
  }

  #onOutcome(outcome: LiteOutcome): void {
    if (outcome.kind === "download") return this.#options.onDownload(outcome.url);
    this.#coming = outcome;
    this.#watch();
  }

  #answer(question: LiteQuestion, port: MessagePort): void {
    const isPort = question.type === "lite-port-wanted";
    const answer: LiteAnswer = isPort ? "go" : this.#letGo(question);
    const origin = isPort ? question.origin : new URL(question.url).origin;
    port.postMessage(answer, answer === "go" ? [this.#options.bind(slotOf(origin))] : []);
  }

  #letGo(question: LiteQuestion & { type: "lite-navigation" }): LiteAnswer {
    const { url, method, headers, body, referrer } = question;
    const shown = this.#location === null ? null : realOf(this.#location);
    const judgement = this.#judge.judge(question, shown);
    if (judgement === "untold") {
      const message = "Cannot show the page: this browser does not say who asks";
      this.#fail({ url, method, code: ErrorCode.NO_SLOT_HOST, message });
      return "not-mine";
    }
    if (judgement !== "leaves" && judgement !== "hand-over") return judgement;
    const slot = slotOf(new URL(shown ?? "").origin);
    const request = { url, method, headers, body, referrer, replace: false };
    if (judgement === "leaves") this.#options.hear({ tag: MESSAGE_TAG, type: "leaving", url }, slot);
    else this.#options.hear({ tag: MESSAGE_TAG, type: "navigate", ...request }, slot);
    return judgement === "leaves" ? "go" : "stay";
  }

  #fail({ url, method, code, message }: Omit<LiteOutcome & { kind: "failed" }, "kind">): void {
    const { contentDocument, contentWindow } = this.#options.element;
    this.#sent = null;
    // Where a page with scripts is shown, its own entry stays.
    const historyKey = contentDocument === null || contentWindow === null ? "" : historyKeyOf(contentWindow);
    const failed = { url, method, code, message, historyKey };
    this.#options.hear({ tag: MESSAGE_TAG, type: "failed", ...failed }, slotOf(new URL(url).origin));
  }

  // Documents come into the frame

  #onLoad(): void {
    const { contentDocument: document, contentWindow: page } = this.#options.element;
    if (document === null || page === null) return;
    // The site before may have named it.
    page.name = "";
    this.#hearDepartures(page);
    if (page.location.pathname === "/blank") this.#onStart(document, page);
    else if (this.#coming === null && document !== this.#document)
      setTimeout(() => this.#onBootPage(document), TOLD_WITHIN);
    this.#look();
  }

  #onStart(document: Document, page: Window): void {
    this.#document = document;
    this.#page = null;
    if (!this.#options.reportsStart) return;
    const report = () => {
      const about = { url: page.location.href, title: "", icon: null, historyKey: historyKeyOf(page) };
      this.#options.hear({ tag: MESSAGE_TAG, type: "document", phase: "loaded", ...about }, null);
    };
    page.addEventListener("popstate", report);
    report();
  }

  /** The service worker was away, and the edge has answered in its place. */
  async #onBootPage(document: Document): Promise<void> {
    const { element, workers } = this.#options;
    if (this.#coming !== null || element.contentDocument !== document || document === this.#document) return;
    const method = find(document, "meta[name=ropeway-boot]")?.getAttribute("content");
    if (method === null || method === undefined) return;
    await controlled(workers);
    if (element.contentDocument !== document) return;
    // A detour to the page has an address of its own.
    const url = (this.#location === null ? null : realOf(this.#location)) ?? this.#sent;
    if (url === null) return;
    // Not to be taken for the next one.
    this.#document = document;
    this.#attempts += 1;
    if (method === "GET" && this.#attempts < ATTEMPTS) return this.#sendAgain(url);
    const message =
      method === "GET"
        ? "Cannot show the page: the app's service worker is not asked"
        : "Cannot send the form: the app was not there; nothing was sent";
    const code = method === "GET" && !this.#hasShown ? ErrorCode.NO_SLOT_HOST : ErrorCode.LINK_LOST;
    this.#arrive(document, { kind: "failed", url, method, code, message });
  }

  /** In place of a page for which nobody was there. Where the tab did not send the frame, the page before did. */
  #sendAgain(url: string): void {
    if (this.#sent !== null) {
      this.setOut(this.#sent);
      this.#options.element.contentWindow?.location.replace(liteAddress(this.#sent));
    } else if (this.#page !== null) {
      const request = { url, method: "GET", headers: [], body: null, referrer: "", replace: true };
      this.#options.hear({ tag: MESSAGE_TAG, type: "navigate", ...request }, slotOf(new URL(this.#page.url).origin));
    }
  }

  #watch(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK);
  }

  #look(): void {
    this.#keepWorker();
    const document = this.#options.element.contentDocument;
    const real = this.#location === null ? null : realOf(this.#location);
    if (document === null || real === null) return;
    const coming = this.#coming;
    if (coming !== null && document !== this.#document) {
      const url = coming.kind === "moved" ? coming.from : coming.url;
      if (new URL(real).origin === new URL(url).origin) {
        this.#arrive(document, coming);
        // Scripts that watch the app see that it loads.
        setTimeout(() => this.#look());
        return;
      }
    }
    const phase = phaseOf(document);
    if (document === this.#document && this.#page !== null && phase !== this.#phase) this.#progress(phase);
    if (this.#coming === null && phase === "loaded" && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  #arrive(document: Document, outcome: LiteOutcome): void {
    this.#document = document;
    this.#coming = null;
    this.#page = null;
    const page = this.#options.element.contentWindow as Window;
    this.#hearDepartures(page);
    switch (outcome.kind) {
      case "document":
        this.#sent = null;
        this.#hasShown = true;
        this.#page = outcome;
        this.#phase = "loading";
        this.#listen(page);
        return this.#report("loading");
      case "failed":
        return this.#fail(outcome);
      case "moved":
        return this.#say({ tag: MESSAGE_TAG, type: "moved", url: outcome.url });
    }
  }

  #progress(phase: DocumentPhase): void {
    this.#phase = phase;
    if (this.#document !== null) showLazyPictures(this.#document);
    this.#report(phase);
    if (phase !== "loaded") return;
    const { x, y } = this.#scrollsTo ?? {};
    if (x !== undefined && y !== undefined) this.#options.element.contentWindow?.scrollTo(x, y);
    this.#scrollsTo = null;
    const asksForPassword = this.#document !== null && find(this.#document, "input[type=password i]") !== null;
    this.#options.onLoaded(asksForPassword);
  }

  /** Of any document here, also the app's own. Once, since the listener is the same. */
  #hearDepartures(page: Window): void {
    navigation(page)?.addEventListener("navigate", this.#onDeparture);
  }

  readonly #onDeparture = ({ destination, navigationType, hashChange }: NavigateEvent): void => {
    const address = URL.parse(destination.url);
    if (hashChange || address?.origin !== location.origin) return;
    const isRestored = navigationType === "reload" || navigationType === "traverse";
    this.#judge.announce(targetOf(address), isRestored);
  };

  /** Listeners of the app's run in a document without scripts (Chromium 156, Firefox; not WebKit, bug 218086). */
  #listen(page: Window): void {
    let isScrolling = false;
    page.addEventListener("hashchange", () => this.#report(this.#phase));
    page.addEventListener("keydown", (event) => {
      if (this.#options.press(event)) event.preventDefault();
    });
    page.addEventListener("contextmenu", (event) => this.#onHeld(event));
    page.addEventListener("scroll", () => {
      if (isScrolling) return;
      isScrolling = true;
      setTimeout(() => {
        isScrolling = false;
        const position = { x: Math.round(page.scrollX), y: Math.round(page.scrollY) };
        this.#say({ tag: MESSAGE_TAG, type: "scrolled", historyKey: historyKeyOf(page), position });
      }, SCROLL_PAUSE);
    });
  }

  /** A link or a picture under a finger, for a while. */
  #onHeld(event: PointerEvent): void {
    const target = event.target as Element;
    const href = closest.call(target, "a[href],area[href]")?.getAttribute("href") ?? null;
    const picture = target.localName === "img" ? (target as HTMLImageElement).currentSrc : null;
    const [url = "", source = ""] = [href, picture].map((address) => {
      const { href: absolute } = (address !== null && URL.parse(address, target.baseURI)) || {};
      return absolute === undefined ? "" : (realOf(new URL(absolute)) ?? absolute);
    });
    if (!isHold(event) || !/^https?:/.test(url || source)) return;
    event.preventDefault();
    this.#say({ tag: MESSAGE_TAG, type: "held", url, picture: source });
  }

  #report(phase: DocumentPhase): void {
    const page = this.#options.element.contentWindow;
    const url = this.#location === null ? null : realOf(this.#location);
    if (page === null || url === null || this.#document === null || this.#page === null) return;
    const { isError, isPosted } = this.#page;
    this.#say({
      tag: MESSAGE_TAG,
      type: "document",
      phase,
      url,
      title: titleOf(this.#document),
      icon: phase === "loading" ? null : iconOf(this.#document, url),
      historyKey: historyKeyOf(page),
      isError,
      isPosted,
    });
  }

  #say(message: PageToShell): void {
    const url = this.#location === null ? null : realOf(this.#location);
    if (url !== null) this.#options.hear(message, slotOf(new URL(url).origin));
  }

  #keepWorker(): void {
    const now = Date.now();
    if (now - this.#keptAliveAt < KEEP_ALIVE) return;
    this.#keptAliveAt = now;
    this.#options.workers.controller?.postMessage(LITE_KEEP_ALIVE);
  }
}

/** Real URL of a place, or that of another app. */
function targetOf(place: URL): string {
  return realOf(place) ?? (place.pathname + place.search).slice(LITE_PATH.length);
}

/** The place as the tab knows it, with no host of its own. */
function slotOf(origin: string): Slot {
  return { label: "~", origin, topLevelOrigin: origin, topLevel: true };
}

export function isControlled({ controller }: ServiceWorkerContainer): boolean {
  return controller?.scriptURL.endsWith(LITE_WORKER_QUERY) === true;
}

/** Resolves when the app's service worker answers, and knows pages without scripts. */
async function controlled(workers: ServiceWorkerContainer): Promise<void> {
  while (!isControlled(workers)) {
    const changed = new Promise((resolve) => workers.addEventListener("controllerchange", resolve, { once: true }));
    // A window that was loaded past it is not its until it says so.
    // The former worker is not asked: it goes once nothing is asked of it.
    void workers.ready.then(({ active }) => {
      if (active?.scriptURL.endsWith(LITE_WORKER_QUERY)) active.postMessage(LITE_KEEP_ALIVE);
    });
    // It may have been the former one that was asked, and the next may have come by without this window.
    await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, ASK_AGAIN))]);
  }
}

// Reads documents of sites, which run no script, but whose elements stand in the way of whatever has their name: with
// `<img name="title">` a document's `title` is that image (DOM clobbering). So the platform's own accessors are called.

function reader<Value>(owner: object, name: string): (self: object) => Value {
  const get = Object.getOwnPropertyDescriptor(owner, name)?.get;
  return (self) => get?.call(self) as Value;
}

const title = reader<string>(Document.prototype, "title");
const readyState = reader<DocumentReadyState>(Document.prototype, "readyState");
const navigation = reader<Navigation | undefined>(window, "navigation");
const { querySelector } = Document.prototype;
const { closest } = Element.prototype;

const PHASES: Readonly<Record<DocumentReadyState, DocumentPhase>> = {
  loading: "loading",
  interactive: "interactive",
  complete: "loaded",
};

export const titleOf = (document: Document): string => title(document);
export const phaseOf = (document: Document): DocumentPhase => PHASES[readyState(document)];
/** As `entryKey`. `location` of a window cannot be replaced (HTML section 7.2.2). */
export const historyKeyOf = (page: Window): string => entryKey(navigation(page), page.location.href);

/** @returns null too for what is no element of this kind. */
export function find(document: Document, selector: string): Element | null {
  return querySelector.call(document, selector);
}

/** Absolute and real. @param url of the document, real. */
export function iconOf(document: Document, url: string): string | null {
  const href = find(document, "link[rel~=icon i][href]")?.getAttribute("href") ?? "/favicon.ico";
  if (href.startsWith(LITE_PATH)) return realOf(new URL(href, location.origin));
  return URL.parse(href, url)?.href ?? null;
}

/**
 * Pictures that a page's script was to show once they are near. With scripts off a browser shows nothing of them, unless
 * the page has them in a `noscript`, too. `loading=lazy` needs no help: without scripts it is not heeded (HTML section
 * 2.5.7).
 */
const { querySelectorAll } = Document.prototype;

/** They have no picture yet, or a placeholder that is part of the page, and no `noscript` after them. */
const WAITING =
  ":is(img,picture>source):is([data-src],[data-srcset]):not([srcset],[src]:not([src^='data:']),:has(+noscript),picture:has(+noscript) *)";

/** Does nothing to those that are shown already. @param document of a page without scripts. */
export function showLazyPictures(document: Document): void {
  const all = (selector: string): NodeListOf<Element> => querySelectorAll.call(document, selector);
  const shown = new Set([...all("noscript img[src]")].map((picture) => picture.getAttribute("src")));
  for (const picture of all(WAITING)) {
    if (shown.has(picture.getAttribute("data-src"))) continue;
    for (const name of ["srcset", "src"]) {
      const lazy = picture.getAttribute(`data-${name}`);
      if (lazy !== null) picture.setAttribute(name, lazy);
    }
  }
}
