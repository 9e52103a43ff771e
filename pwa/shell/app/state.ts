import type { PagePhase, Trouble } from "../../messages/page-messages.ts";
import type { LinkPhase, PageUse, PageWaiting, SignInAsked } from "../../messages/tunnel-messages.ts";

/** Bytes that Ropeway has moved since it was set up on this phone, for the line on the start page. */
export interface Totals {
  /** WebSocket payload, both directions. */
  readonly linkBytes: number;
  /** Body bytes that origins sent. */
  readonly originBytes: number;
}

export interface Site {
  readonly url: string;
  readonly title: string;
  /** data: URL, or null while none is known. */
  readonly icon: string | null;
}

export interface Settings {
  readonly theme: "system" | "light" | "dark";
  /** Code of the language that the app speaks, or `system`. */
  readonly language: string;
  /** Search URL with `%s` where the percent-encoded words go. */
  readonly searchUrl: string;
  /** Milliseconds that pages wait while there is no link. */
  readonly waitTime: number;
  /** Whether the edge may send what a page needs before the page asks. */
  readonly takesPushes: boolean;
  /** Bytes of bodies that the phone may store. */
  readonly storeBytes: number;
  readonly pictures: PictureChoice;
  /** Bytes that a page may have before its pictures wait for a tap; null: any number. */
  readonly pageBudget: number | null;
  /** As of `PictureSettings`, the latest last. */
  readonly pixelReaders: readonly string[];
  readonly blocksTrackers: boolean;
  /** As of `TrackerSettings`, the latest last. */
  readonly trackerExceptions: readonly string[];
  /** Sites are asked to send less; null: where pictures come smaller, or not before a tap. */
  readonly savesData: boolean | null;
  /** Links that are likely to be followed are fetched ahead. */
  readonly warmsLinks: boolean;
  /** Sites, as of `trackerExceptions`, whose pages may open windows unasked. */
  readonly windowOpeners: readonly string[];
  /** How large pages of sites are shown, the latest last; of all others as they come. */
  readonly sizes: readonly SiteSize[];
}

export interface SiteSize {
  /** As `siteName`. */
  readonly site: string;
  /** Laid out as on a desk, and made smaller to fit. */
  readonly isWide: boolean;
  /** Per cent. */
  readonly zoom: number;
}

/** How pictures come: as their sites send them, smaller, much smaller, or not before a tap. */
export type PictureChoice = "off" | "auto" | "balanced" | "strong" | "none";

/** Something the person should know that no page says; one at a time, until it is dismissed. */
export type Notice =
  /** A form that the person sent there may have arrived or not. */
  | { readonly kind: "uncertain"; readonly url: string }
  /** A reload would send what led to the page again, which it does not unasked. */
  | { readonly kind: "resend"; readonly url: string }
  /** The history cannot lead to what a form led to. */
  | { readonly kind: "no-way-back" }
  /** The page went to its own address again and again, and was stopped. */
  | { readonly kind: "loop"; readonly url: string }
  /** The page does not work here as in a browser of its own. */
  | { readonly kind: "trouble"; readonly trouble: Trouble; readonly url: string }
  /** A page wanted to open a window, unasked. `show` opens it; null: nobody knows where it goes. */
  | { readonly kind: "window"; readonly url: string; readonly show: (() => void) | null }
  /** The person has closed a tab, which can be taken back. */
  | { readonly kind: "closed-tab"; readonly title: string; readonly undo: () => void }
  /** A phone that is paired was given a key that is wrong, or that the edge turns down, in its words. */
  | { readonly kind: "wrong-key"; readonly why: string | null }
  /** News of pages without scripts. */
  | { readonly kind: "lite"; readonly why: string }
  /** A site has lost its place on this phone, or will. `why` has `{site}` for it. */
  | { readonly kind: "host"; readonly url: string; readonly why: string }
  /** News of a file that a site sends to be kept, and what may be done about it. */
  | { readonly kind: "download"; readonly why: string; readonly offers: readonly (readonly [string, () => void])[] }
  /** Stored data of sites is still there. */
  | { readonly kind: "not-cleared"; readonly why: string }
  /** All recent sites are forgotten, and which pages are open. `undo` takes that back. */
  | { readonly kind: "forgotten"; readonly undo: () => void };

/** With a key of the person's. `unreachable`: the app asks the edge again by itself. */
export type Pairing = "idle" | "asking" | "unreachable";

export interface AppState {
  readonly link: LinkPhase;
  readonly pairing: Pairing;
  /** null until something is known. */
  readonly totals: Totals | null;
  readonly notice: Notice | null;
  readonly recent: readonly Site[];
  readonly pinned: readonly Site[];
  /** Addresses of those whose pages can be read though the link is away; null while it is there, or nobody knows. */
  readonly readable: ReadonlySet<string> | null;
  readonly settings: Settings;
  /** The demo site's URL when the edge runs locally and serves one, else null. */
  readonly demoUrl: string | null;
}

export interface AppActions {
  /** The person is about to type an address. */
  prepareToGo(): void;
  dismissNotice(): void;
  pin(site: Site): void;
  unpin(url: string): void;
  forgetRecent(url: string | "all"): void;
  changeSettings(change: Partial<Settings>): void;
  /** Pairs with an access key typed or pasted by the person. */
  pair(accessKey: string): void;
  /** Forgets cookies and site data of every site on this phone. */
  clearSiteData(): void;
}

/** News of pages, for whoever keeps more of them than the recent ones. */
export type SiteEvent =
  /** A page has loaded, at this time in milliseconds since 1970. @property isNew it was not there before. */
  | { readonly kind: "loaded"; readonly site: Site; readonly at: number; readonly isNew: boolean }
  | { readonly kind: "icon"; readonly url: string; readonly icon: string }
  /** @property isOf says of URLs whether their pages go; null: all do. */
  | { readonly kind: "forget"; readonly isOf: ((url: string) => boolean) | null }
  /** All were forgotten, and that is taken back. */
  | { readonly kind: "remember" };

/** The app, for whoever keeps more of its pages than the recent ones. */
export interface SiteTeller {
  readonly state: Pick<AppState, "recent" | "pinned">;
  /** From now on `hear` is told of pages: first of those that were before. */
  hearSites(hear: (event: SiteEvent) => void): void;
  /** Such pages are no recent sites any more. @returns how to take that back. */
  dropRecent(isOf: (url: string) => boolean): () => void;
  /** @returns whether it is written down; it is there at once, until the app is closed. */
  pin(site: Site): Promise<boolean>;
  unpin(url: string): void;
  draw(): void;
}

export interface PageCost extends PageUse {
  readonly waiting: PageWaiting;
  /** Milliseconds from when the page was asked for to load, or to now while loading. */
  readonly time: number;
}

export interface PageError {
  /** An ErrorCode of shared/errors.ts. */
  readonly code: number;
  readonly url: string;
  /** Method of the request that failed; null where a slot of another release does not tell. */
  readonly method: string | null;
  /** A line for the curious, from the typed error. */
  readonly detail: string;
}

/** How what failed is loaded again, unasked. */
export type TryingAgain = "with the link" | "soon" | "not";

/** Where the frame is on its way to, and who sends it there. */
export interface Destination {
  /** The person asked for the address; or a page did: by a link, a script, a form or a redirect. */
  readonly kind: "typed" | "started";
  /** Real. */
  readonly url: string;
}

/** Real addresses on the web; null for none. */
export interface Held {
  readonly url: string | null;
  readonly picture: string | null;
}

export interface TabState {
  readonly phase: PagePhase;
  /** Real URL shown in the address bar; "" on the start page. Of a page that is visible, or that the person asked for. */
  readonly url: string;
  readonly title: string;
  readonly icon: string | null;
  /** Address of the largest picture of the page shown, as far as it is known. */
  readonly picture?: string | null | undefined;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
  /** 0 to 1 from real bytes and requests, or null when nothing loads. */
  readonly progress: number | null;
  readonly cost: PageCost;
  /** The failure of a page that has nothing but this error to show. */
  readonly error: PageError | null;
  /** The failure of another page, while one was shown, which stays. */
  readonly unopened: PageError | null;
  /** The address of `unopened`, where the person typed it: whoever edits the address mends that one. Else null. */
  readonly mistyped: string | null;
  /** How `error` or `unopened` is loaded again. */
  readonly tryingAgain: TryingAgain;
  /** Until another document commits, or an error takes its place. */
  readonly destination: Destination | null;
  /** When the page shown was stored, in milliseconds since 1970, where it is shown unasked since the link is away. */
  readonly storedAt: number | null;
  /** The page shown was stored, and the phone has a newer version of it by now. */
  readonly hasNewer: boolean;
  /** The server of the page asks for a name and a password. */
  readonly signIn: SignInAsked | null;
  /** A link or a picture of the page that the person holds. */
  readonly held: Held | null;
  /** The document before is gone from the frame, and the next one is not there yet. */
  readonly isFrameEmpty: boolean;
}

export interface TabActions {
  /** A page, or a link, has led to the tab: it closes, and the tab of that is shown. */
  close(): void;
  /** Address or search words as typed. */
  go(input: string): void;
  back(): void;
  forward(): void;
  reload(): void;
  /** Likewise, with nothing that is stored. */
  hardReload(): void;
  /** Reloads the page with all that waits of it. */
  loadWaiting(): void;
  stop(): void;
  home(): void;
  /** The page, to paper or into a file, as the browser offers it. */
  print(): void;
  /** Opens what failed while the page was shown. */
  openFailed(): void;
  /** The page that failed beside the one that is shown is not wanted any more. */
  forgetFailed(): void;
  /** The person has answered what the page's server asks for, or will not: the page is what it says then. */
  signIn(given: { readonly name: string; readonly password: string } | null): void;
  /** The person has chosen (`isUsed`), or has closed it. */
  letGo(isUsed?: boolean): void;
  /** The person stays with the version that is shown. */
  keepVersion(): void;
  /** Reloads the page that a form led to, and so sends the form again. */
  sendAgain(): void;
}

export interface WindowState {
  /** Real origin of the page that has opened the tab shown, and can speak of it; null: none can. */
  readonly openedBy: string | null;
  /** In the person's order; empty where there is one, and no other can be. */
  readonly tabs: readonly TabLine[];
}

export interface TabLine {
  readonly id: number;
  readonly isShown: boolean;
  /** Real; "" for the start page. */
  readonly url: string;
  readonly title: string;
  /** As of a Site. */
  readonly icon: string | null;
  /** As of a `TabState`. */
  readonly picture?: string | null | undefined;
}

export interface TabsActions {
  /** Opens a tab with the start page, in front. */
  open(): void;
  /** Opens a tab for a link of the page shown. @param download as of a `NavigationRequest`. */
  openLink(url: string, how: "in front" | "behind", download?: string): void;
  show(id: number): void;
  close(id: number): void;
  /** @param to its index among the others. */
  move(id: number, to: number): void;
  /** @returns that of a tab's page, or null where the phone does not have it. */
  picture(tab: TabLine): Promise<Blob | null>;
}

/** Of the page shown: stays over it until it is answered or closed. */
export interface Question {
  readonly text: string;
  /** Buttons: their labels, and what they do. */
  readonly offers: readonly (readonly [label: string, act: () => void])[];
  /** Name of the button that closes it. */
  readonly closing: string;
  readonly onClose: () => void;
}

/** The views draw this: the app, and the tab that is shown. They change neither but by these actions. */
export type BrowserState = AppState &
  TabState &
  WindowState & {
    readonly question: Question | null;
    /** A newer version of the app waits until the app is opened anew. */
    readonly hasUpdate: boolean;
  };

export interface BrowserActions {
  readonly app: AppActions;
  /** Of the window shown. */
  readonly tab: TabActions;
  readonly tabs: TabsActions;
}
