/** What the shell's chrome draws, and what it may ask for. The controller owns the state; views only read it. */
import type { LinkPhase } from "../../messages/link.ts";
import type { PagePhase } from "../../messages/page-messages.ts";
import type { Destination } from "../tab/navigation-state.ts";

/** What the page shown has cost since its navigation began. Bytes on the link are WebSocket payload. */
export interface PageCost {
  readonly requests: number;
  readonly requestsDone: number;
  readonly linkBytesUp: number;
  readonly linkBytesDown: number;
  /** Body bytes that origins sent, before Ropeway coded them for the link. */
  readonly originBytes: number;
  /** Milliseconds from when the page was asked for to load, or to now while loading. */
  readonly time: number;
}

/** What Ropeway has moved since it was set up on this phone, for the line on the start page. */
export interface Totals {
  /** WebSocket payload, both directions. */
  readonly linkBytes: number;
  /** Body bytes that origins sent. */
  readonly originBytes: number;
}

export interface PageError {
  /** An ErrorCode of shared/errors.ts. */
  readonly code: number;
  readonly url: string;
  /** Of the request that failed; null where a slot of another release does not tell. */
  readonly method: string | null;
  /** One line for the curious, from the typed error. */
  readonly detail: string;
}

export interface Site {
  readonly url: string;
  readonly title: string;
  /** data: URL, or null while none is known. */
  readonly icon: string | null;
}

export interface BrowserState {
  readonly phase: PagePhase;
  /** Real URL shown in the address bar; "" on the start page. Of a page that is visible, or that the person asked for. */
  readonly url: string;
  readonly title: string;
  readonly icon: string | null;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
  /** 0 to 1 from real bytes and requests, or null when nothing loads. */
  readonly progress: number | null;
  readonly link: LinkPhase;
  readonly cost: PageCost;
  /** null until something is known. */
  readonly totals: Totals | null;
  readonly error: PageError | null;
  /** Until another document commits, or an error takes its place. */
  readonly destination: Destination | null;
  /** The document before is gone from the frame, and the next one is not there yet. */
  readonly isFrameEmpty: boolean;
  readonly notice: Notice | null;
  readonly recent: readonly Site[];
  readonly pinned: readonly Site[];
  readonly settings: Settings;
  /** The demo site's URL when the edge runs locally and serves one, else null. */
  readonly demoUrl: string | null;
}

export interface Settings {
  readonly theme: "system" | "light" | "dark";
  /** Search URL with `%s` where the percent-encoded words go. */
  readonly searchUrl: string;
  /** Milliseconds that pages wait while there is no link. */
  readonly waitTime: number;
  /** Whether the edge may send what a page needs before the page asks. */
  readonly takesPushes: boolean;
  /** How many channels a session has, for experiments; null for as many as pay. */
  readonly channels: number | null;
}

/** Something the person should know that belongs to no page; one at a time, until it is dismissed. */
export interface Notice {
  /**
   * What the person sent may have arrived or not; or a reload would send it again, which it does not unasked; or the page
   * wanted to open an app that it may not; or it went to its own address again and again, and was stopped; or a key is
   * wrong that a phone was given that has another; or the recent sites are forgotten, which can be taken back.
   */
  readonly kind: "uncertain" | "resend" | "other-app" | "loop" | "wrong-key" | "forgotten";
  /** "" where it is about none. */
  readonly url: string;
  /** With a wrong key: as of `LinkPhase`. */
  readonly why?: string | null;
}

export interface BrowserActions {
  /** Address or search words as typed. */
  go(input: string): void;
  /** The person is about to type an address. */
  prepareToGo(): void;
  back(): void;
  forward(): void;
  reload(): void;
  stop(): void;
  dismissNotice(): void;
  /** Reloads the page that a form led to, and so sends the form again. */
  sendAgain(): void;
  home(): void;
  pin(site: Site): void;
  unpin(url: string): void;
  forgetRecent(url: string | "all"): void;
  /** Takes back that all recent sites were forgotten. */
  rememberRecent(): void;
  changeSettings(change: Partial<Settings>): void;
  /** Pairs with an access key typed or pasted by the person. */
  pair(accessKey: string): void;
  /** Forgets cookies and site data of every site on this phone. */
  clearSiteData(): void;
}
