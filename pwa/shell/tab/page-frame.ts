import { ErrorCode, later } from "../../../shared/errors.ts";
import { entryKey, MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { PageError } from "../app/state.ts";
import type { PageOrder, PagePlaces, PlaceSeeker, Slot } from "../frames/places.ts";
import { typedNavigation } from "./navigation-request.ts";
import { type KeptEntry, SessionHistory } from "./session-history.ts";

/** The error of a page for which no host is free. */
export const NO_FREE_HOST = {
  code: ErrorCode.NO_FREE_HOST,
  detail: later("Cannot show page: each host of the edge's list is in use"),
} as const;

/** Shown in the frame while the start page is; a real document, so that there is a way back to it. */
const START_DOCUMENT = "/blank";

/** The iframe of a tab, which goes from place to place. */
export class PageFrame implements PlaceSeeker {
  /** The page whose place is made by another frame. */
  #waitsFor: { readonly url: string; readonly replaces: boolean; readonly isAgain: boolean } | null = null;
  readonly element: HTMLIFrameElement;
  readonly history: SessionHistory;
  readonly places: PagePlaces | null;

  /**
   * @param places null where the browser has no service worker for any: then the start page is all there is.
   * @param onHistory hears the history's entries when they are others, or were scrolled.
   */
  constructor(
    element: HTMLIFrameElement,
    places: PagePlaces | null,
    onHistory: (entries: readonly KeptEntry[]) => void,
  ) {
    this.element = element;
    this.places = places;
    this.history = new SessionHistory(onHistory, ({ url, scroll, fields = [] }) =>
      this.tell({ tag: MESSAGE_TAG, type: "scroll", position: scroll, fields }, url),
    );
  }

  /** Whether the frame has the start document, or one without scripts. All others are of other origins. */
  get hasOwnOrigin(): boolean {
    return Boolean(this.element.contentDocument);
  }

  isOf(source: Window): boolean {
    return source === this.element.contentWindow;
  }

  /** @returns why no page of the URL can be shown, or null. */
  problemWith(url: string): Pick<PageError, "code" | "detail"> | null {
    if (this.places === null)
      return { code: ErrorCode.NO_SLOT_HOST, detail: later("Cannot show pages: no service workers") };
    return this.places.hasPlaceFor(url) ? null : NO_FREE_HOST;
  }

  /** @param replaces the entry of the session history. */
  showStart(replaces = false): void {
    this.leave();
    this.#load(START_DOCUMENT, replaces);
  }

  /**
   * Points the frame at the place of a URL, whose service worker claims the response that is under way.
   *
   * @param isAgain also where the frame has a document of this very URL, which may be a notice or a boot page.
   * @returns whether it has one.
   */
  show(url: string, replaces: boolean, isAgain: boolean): boolean {
    const address = this.#addressOf(url, replaces, isAgain);
    if (address !== null) this.#load(address.href, replaces || this.history.isReopening);
    return address !== null || this.#waitsFor !== null;
  }

  /** Null where there is none yet, or none at all. */
  #addressOf(url: string, replaces: boolean, isAgain: boolean): { readonly href: string } | null {
    const address = this.places?.addressOf(url, isAgain, this) ?? null;
    this.#waitsFor = address === "later" ? { url, replaces, isAgain } : null;
    return address === "later" ? null : address;
  }

  onPlace(): void {
    const { url, replaces, isAgain } = this.#waitsFor ?? {};
    if (url !== undefined) this.show(url, replaces === true, isAgain === true);
  }

  /** It goes to no page, or is gone. */
  leave(): void {
    this.#waitsFor = null;
    this.places?.leave(this);
  }

  /**
   * As `show`, in a new frame: the document that is there goes at once. A boot page comes first and asks anew, as the slot's
   * worker may have given its response to a navigation that was broken off.
   */
  showAnew(url: string): void {
    const { element } = this;
    const { parentNode, nextSibling } = element;
    this.history.begin(url);
    element.remove();
    this.#load(this.#addressOf(url, false, true)?.href ?? START_DOCUMENT, false);
    parentNode?.insertBefore(element, nextSibling);
  }

  /**
   * A start document is there.
   *
   * @param isBack the history has led to it.
   * @returns what takes its place where it stands for a page of before the app was closed, else null. On the way back that
   *   is shown without a question where a browser would do so.
   */
  pageOfBefore(isBack: boolean): NavigationRequest | null {
    const isRebuilt = this.history.rebuild((count, ahead) => this.#rebuild(count, ahead));
    const { closed, hasReopened } = this.history;
    if (closed === null || !(isRebuilt || isBack)) return null;
    return { ...typedNavigation(closed.url), ...(hasReopened ? { cache: "force-cache" } : {}) };
  }

  /** Puts start documents into the frame's history, the first in the place of the one that is there. @returns their keys. */
  #rebuild(count: number, ahead: number): readonly string[] {
    const window = this.element.contentWindow as (Window & { readonly navigation?: Navigation }) | null;
    if (window === null) return [];
    const keys = Array.from({ length: count }, (_, index) => {
      // Each with an address of its own, for browsers that have no other key.
      window.history[index === 0 ? "replaceState" : "pushState"](null, "", `${START_DOCUMENT}#${index}`);
      return entryKey(window.navigation, window.location.href);
    });
    // The document there says when it is there.
    if (ahead > 0) window.history.go(-ahead);
    return keys;
  }

  /** @param url real, of the page that alone may hear it. */
  tell(message: PageOrder, url?: string): void {
    const page = this.element.contentWindow;
    if (page !== null) this.places?.tell(message, page, url);
  }

  /** As `PagePlaces.toReal`. */
  toReal(url: string, slot: Slot): string {
    return this.places?.toReal(url, slot) ?? url;
  }

  #load(url: string, replaces: boolean): void {
    if (replaces) this.element.contentWindow?.location.replace(url);
    else this.element.src = url;
  }
}
