/** Between the shell and its tunnel worker. */

import type { HeaderList, Recoding, RequestHead } from "../../shared/http/heads.ts";
import type { AcceptTable } from "../../shared/http/phone-fields.ts";
import { parseUrl } from "../../shared/web/origin.ts";
import type { FailedNavigation } from "./page-messages.ts";
import type { SilentDocument, SlotBinding } from "./port-messages.ts";

/**
 * Milliseconds: how long pages wait for a link that is gone, unless the person chose otherwise; equal to sessionLinger.
 */
export const DEFAULT_WAIT_TIME = 120_000;

/** Bytes of bodies that the phone stores unless the person chose otherwise: a fifth of what browsers keep. */
export const DEFAULT_STORE_BYTES = 200_000_000;

/** Wishes of the person about pictures. */
export interface PictureSettings {
  /** "auto": balanced while the link is slow. */
  readonly recoding: Recoding | "auto";
  /** Bytes that a page may have: pictures that would pass it wait behind a placeholder. 0: all of them. Null: any number. */
  readonly budget: number | null;
  /** Serialized real origins whose scripts put pictures where they can read their pixels. */
  readonly readers: readonly string[];
}

/** Wishes of the person about requests for trackers. */
interface TrackerSettings {
  readonly areBlocked: boolean;
  /** As `siteName` of their pages: all requests of these go. */
  readonly exceptions: readonly string[];
}

/** How the tunnel is to work, as the person has chosen, or as the phone is. */
export interface TunnelSettings {
  /** Sessions say it of this phone. */
  readonly phone: {
    readonly userAgent: string;
    readonly acceptLanguage: string;
    /** Width and height in CSS pixels, and density, as `parseViewport` reads it. */
    readonly viewport: string;
    /** `accept` of its browser by destination; null while that is not known. */
    readonly accept: AcceptTable | null;
  };
  readonly isOnline: boolean;
  /** Milliseconds that requests wait while there is no link. */
  readonly waitTime: number;
  /** Whether the resources of a page may come before it asks. */
  readonly takesPushes: boolean;
  /** Bytes of bodies that may be stored. */
  readonly storeBytes: number;
  readonly pictures: PictureSettings;
  readonly trackers: TrackerSettings;
  /** Origins are asked to send less. */
  readonly savesData: boolean;
  /** Sites whose pages run no scripts, by `siteName`; null: no page does, since all are on the app's own host. */
  readonly scriptless: readonly string[] | null;
  /** Origins whose pages were opened in earlier runs of the app; null: nobody can say. */
  readonly known: readonly string[] | null;
  /**
   * The page of this URL, real and without a fragment, is about to be reloaded with nothing that is stored. Null: it is
   * there.
   */
  readonly reloadedPage: string | null;
  /** All pictures and films of the page of this URL are to come, until another page begins. */
  readonly sparedPage: string;
}

/** Bodies that the phone stores for the pages of a site. */
export interface StoredSite {
  /** As `siteName` of its pages. */
  readonly site: string;
  /** Bytes of bodies. */
  readonly bytes: number;
}

/** Questions that need the store's script to be answered. */
export type StoreQuestion =
  /** The answer: each `StoredSite`, the largest first. */
  | { readonly kind: "sites" }
  /** The answer: those of these pages that can be read while the link is away. */
  | { readonly kind: "readable"; readonly urls: readonly string[] }
  /** Asks the edge for what it takes to show those of these pages that are fresh with nobody asked. No answer. */
  | { readonly kind: "ready"; readonly urls: readonly string[] }
  /** Forgets a site, named as in `StoredSite`. The answer: "", or why something is still there. */
  | { readonly kind: "forget"; readonly site: string }
  /** The answer: each `KeptPage`, the latest first. */
  | { readonly kind: "kept" }
  /** Keeps the page that is shown, whose URL is real and without a fragment. The answer: a `KeepOutcome`. */
  | { readonly kind: "keep"; readonly url: string; readonly title: string }
  /** Keeps the page no longer. The answer: the pages that are still kept. */
  | { readonly kind: "unkeep"; readonly url: string }
  /** The answer: a picture that a page of the origin has loaded, if it is stored; nobody is asked for it. */
  | { readonly kind: "picture"; readonly url: string; readonly topLevelOrigin: string };

/** Of the app's private file system: each file has its `id` for a name. It is there from when the first file begins to come until the list is empty. */
export const DOWNLOADS_DIRECTORY = "downloads";

/** A file that a site has sent to be kept, in the app's list of downloads. */
export interface Download {
  readonly id: string;
  /** Without a path, and without characters that could make it look like another. */
  readonly name: string;
  /** Real, where it came from. */
  readonly url: string;
  /** Real origin of the top-level page that has asked for it. */
  readonly topLevelOrigin: string;
  /** By what its server says. */
  readonly type: string;
  /** Bytes; null where the server does not tell. */
  readonly size: number | null;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  readonly state: DownloadState;
  /** The download can go on where it was, after the app was closed: by a range, and a strong validator (RFC 9110 section 13.1.5). */
  readonly mayGoOn: boolean;
  /** The file had changed at its site when it was to go on, or nobody could tell: it has begun anew. */
  readonly isAnew: boolean;
  /** The app can show it, and no script of it runs then. */
  readonly isShown: boolean;
}

export type DownloadState =
  /** The site wanted it saved with no tap of the person: nothing comes before the person says so. */
  | { readonly kind: "asked" }
  | { readonly kind: "running" }
  /** For the link. */
  | { readonly kind: "waiting" }
  | { readonly kind: "paused" }
  | Failed
  | { readonly kind: "done" };

interface Failed {
  readonly kind: "failed";
  /** English, as a typed error says it; `{status}` and `{room}` stand for the values beside it. */
  readonly why: string;
  /** Of the site's answer. */
  readonly status?: number;
  /** Bytes that the browser lets the app have still. */
  readonly room?: number;
}

export type DownloadQuestion =
  /** The answer: each `Download`, the latest first. */
  | { readonly kind: "downloads" }
  /** "resume" is an answer to "asked", too. "ask": the person is asked first. The answer comes when it is done. */
  | { readonly kind: "download"; readonly id: string; readonly order: "pause" | "resume" | "ask" | "delete" }
  /** The person wants a link's target, or a picture, whatever its site makes of it. The answer is true. */
  | { readonly kind: "save"; readonly request: RequestHead };

/** Answers to these, by kind; null where the script that has them cannot be had. */
export interface StoreAnswers {
  readonly sites: readonly StoredSite[];
  readonly readable: readonly string[];
  readonly ready: undefined;
  readonly forget: string;
  readonly kept: readonly KeptPage[];
  readonly keep: KeepOutcome;
  readonly unkeep: readonly KeptPage[];
  readonly picture: Blob;
  readonly downloads: readonly Download[];
  readonly download: undefined;
  readonly save: true;
}

/** Questions to the tunnel; the answer comes as `TunnelClient` says. */
export type TunnelQuestion =
  | StoreQuestion
  | DownloadQuestion
  | { readonly kind: "stats" }
  /** A site's icon. */
  | { readonly kind: "icon"; readonly url: string; readonly topLevelOrigin: string }
  /** The person has answered a "sign-in" of this origin. */
  | { readonly kind: "sign-in"; readonly origin: string; readonly name: string; readonly password: string }
  /** Asks to clear it, here and at the edge. */
  | { readonly kind: "site-data" };

/** The server of a page asks for a name and a password (RFC 9110 section 11). */
export interface SignInAsked {
  readonly origin: string;
  /** Of what was refused, without fragment. */
  readonly url: string;
  /** The server's words; "" for none. */
  readonly realm: string;
  /** The name and password that were given last are not right. */
  readonly isWrong: boolean;
  /** For a part of the page, which is there without it. A frame of the page's own site does not say so. */
  readonly isPart: boolean;
}

/** Facts with which a frame of another origin sets out. */
export interface FrameStart {
  /** Real URL after the referrer policy, or "" for none. */
  readonly referrer: string;
  /** Serialized real origin of the document that the frame is in. */
  readonly initiator: string;
}

/** A top-level navigation that the shell starts: typed, or handed over by a page. */
export interface NavigationRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: ArrayBuffer | null;
  readonly referrer: string;
  /** Real origin of the page that navigates, or null when the person did. */
  readonly initiator: string | null;
  /** A script goes there, and the person has done nothing for it. */
  readonly isUnasked?: boolean;
  /** The history has led back to a page of before the app was closed: what is stored is shown, however old. */
  readonly cache?: "force-cache";
  /** Id of a file in the list that is shown, in the place of what the site would send. */
  readonly download?: string | undefined;
}

/** Counts of the phone's store; null until it is there, some seconds after the app was opened for the first time. */
export interface StoreStats {
  /** Requests that it answered, with nobody asked. */
  readonly storeAnswers: number | null;
  /** Requests that it answered after the edge had said that what is stored holds. */
  readonly storeValidations: number | null;
  /** Requests that it answered since the edge had got the same body again from its origin; and the bytes of those bodies. */
  readonly storeReferences: number | null;
  readonly storeReferencedBytes: number | null;
  /** Responses that came coded against what was stored. */
  readonly storeDictionaries: number | null;
  /** Questions that went out with a navigation, before its page asked; and those of which the page took the answer. */
  readonly storeAsked: number | null;
  readonly storeAskedUsed: number | null;
  /** Bytes of the bodies that it gave in all of them. */
  readonly storeBytes: number | null;
  /** Bytes of the bodies that are stored now, and how many may be. */
  readonly storedBytes: number | null;
  readonly storedBytesMax: number | null;
}

export interface WarmedStats {
  /** Pages that links lead to, fetched before anybody followed those; and those of them that were opened. */
  readonly pagesWarmed: number;
  readonly pagesWarmedUsed: number;
}

export interface PushStats {
  /** Responses that the edge announced unasked, and those of them that a page asked for. */
  readonly pushes: number;
  readonly pushesClaimed: number;
  /** Pushes that nobody asked for, or that nobody needed. */
  readonly pushesWasted: number;
  /**
   * Which part of the latest pushes pages claimed, from 0 to 1; and how many pushes a page may have because of that.
   */
  readonly pushShare: number;
  readonly pushBudget: number;
  /** Bytes of their bodies on the link. */
  readonly pushedBytes: number;
}

/** `window.ropeway.stats()`; documented in docs/automation.md as stable. Bytes on the link are WebSocket payload. */
export interface TunnelStats extends StoreStats, WarmedStats, PushStats {
  /** WebSockets open now. */
  readonly sockets: number;
  /** The road of the open sockets, or of the last one; null before the first. */
  readonly road: Road | null;
  /** WebSockets opened since the app started. */
  readonly socketsOpened: number;
  /** Channels of the session that have a WebSocket, and how many the policy or the setting asks for. */
  readonly channels: number;
  readonly channelsWanted: number;
  readonly requests: number;
  readonly requestsDone: number;
  readonly requestsFailed: number;
  /** How many of the failed requests failed since the edge's block list names them. */
  readonly trackersBlocked: number;
  readonly linkBytesUp: number;
  readonly linkBytesDown: number;
  readonly messagesUp: number;
  readonly messagesDown: number;
  /** Body bytes that origins sent, with content-encoding undone. */
  readonly originBytes: number;
  /** Responses that the edge had from its shared cache. */
  readonly sharedCacheHits: number;
  /** Bytes of request heads on the link, frame headers included. */
  readonly requestHeadBytes: number;
  /** Bytes of response heads on the link, frame headers included. */
  readonly responseHeadBytes: number;
  /** Sessions opened anew, the first included; a reconnect that resumed is not counted. */
  readonly sessions: number;
  readonly resumes: number;
}

/** Counts of the phone's store for a page, as in `StoreStats`: no link carried it. */
export interface PageStoreUse {
  readonly storeAnswers: number;
  readonly storeValidations: number;
  readonly storeReferences: number;
  readonly storeBytes: number;
}

/** Costs of a page since it was asked for. Bytes on the link are WebSocket payload. */
export interface PageUse extends PageStoreUse, WarmedStats {
  readonly requests: number;
  readonly requestsDone: number;
  readonly trackersBlocked: number;
  readonly linkBytesUp: number;
  readonly linkBytesDown: number;
  /** Body bytes that origins sent, before Ropeway coded them for the link. */
  readonly originBytes: number;
  /** Milliseconds, of the link when the page was asked for; 0 where it was not open then, or nobody knows. */
  readonly roundTrip: number;
}

/** Parts of a page that wait for the person, since its budget is spent or no pictures are wanted. */
export interface PageWaiting {
  readonly pictures: number;
  /** Sounds are among them. */
  readonly films: number;
  /** Of all of them, at their origins; 0 where nobody knows. */
  readonly bytes: number;
}

export interface PageProgress extends PageUse {
  readonly waiting: PageWaiting;
  /** Body bytes announced by content-length of responses under way or done; a lower bound. */
  readonly expectedBytes: number;
}

/**
 * Key of the shell's storage, for tests and the bench: an `Experiment` as JSON, which fixes what is measured otherwise.
 * The tunnel worker gets it as its name.
 */
export const EXPERIMENT_KEY = "ropeway.experiment";

export type ShellToTunnel =
  /** First, and when something is another: that alone. */
  | { readonly type: "settings"; readonly settings: Partial<TunnelSettings> }
  | ({ readonly type: "link" } & LinkOrder)
  | ({ readonly type: "store" } & StoreOrder)
  | { readonly type: "bind"; readonly binding: SlotBinding }
  /** A frame of another origin is about to go to `url`, which is real and without a fragment, in this slot. */
  | {
      readonly type: "frame-starts";
      readonly binding: SlotBinding;
      readonly url: string;
      readonly start: FrameStart;
      /** A form sends it there: its name, and the slot that it is in. */
      readonly form?: { readonly name: string; readonly from: SlotBinding };
    }
  | ({ readonly type: "navigation" } & NavigationOrder)
  | { readonly type: "ask"; readonly id: number; readonly question: TunnelQuestion };

type LinkOrder =
  | {
      readonly kind: "start";
      /** ws: or wss: URL of the edge's tunnel. */
      readonly url: string;
      readonly token: string;
      /** Milliseconds that the link took to open at the last start, if that is known. */
      readonly lastOpening: number | null;
      /** A page is asked for, and what it needs first may go by a fetch beside the WebSocket. */
      readonly flies: boolean;
    }
  /** The link is worth another look. */
  | { readonly kind: "hint"; readonly hint: LinkHint }
  /** There is no edge to wait for: requests that wait fail. */
  | { readonly kind: "give-up" };

type StoreOrder =
  /** The phone was paired anew: before "start" all that is stored goes. */
  | { readonly kind: "empty" }
  /** A site is being forgotten, here or in another window: until that is over its documents wait. */
  | { readonly kind: "forget"; readonly site: string; readonly isOver: boolean }
  /** A page has loaded, or the app is hidden: it may be closed at once, so all that came is stored now. */
  | { readonly kind: "write-down" };

/** `tab` is the shell's number of it, here as elsewhere. It has one navigation of the shell's at a time. */
type NavigationOrder =
  | {
      readonly kind: "begin";
      readonly tab: number;
      readonly id: number;
      readonly request: NavigationRequest;
      /** The tab shows a page, which stays if this fails. */
      readonly keepsPage: boolean;
    }
  | { readonly kind: "abandon"; readonly id: number }
  /**
   * A page leaves by itself for another document of its slot: costs are counted from here, and the page stays if that
   * fails. `url`: where to, real; null where that is not told. `isAgain`: it has been there, as "leaving" has it.
   */
  | { readonly kind: "by-page"; readonly tab: number; readonly url: string | null; readonly isAgain?: boolean }
  /** The page of this URL is shown, and may lead to these, the likeliest first; all are real, without fragments. */
  | { readonly kind: "links"; readonly page: string; readonly links: readonly string[] }
  | { readonly kind: "closed"; readonly tab: number };

export type TunnelToShell =
  | { readonly type: "link"; readonly link: LinkPhase }
  | ({ readonly type: "navigation"; readonly id: number } & NavigationNews)
  | ({ readonly type: "document" } & DocumentNews)
  /**
   * A silent document of a top-level slot, of the slot's own origin. It may be in a frame of the slot's page, in any tab.
   * `id`: of the navigation that led to it, where the shell has begun that.
   */
  | (SilentDocument & { readonly id: number | null })
  /** Scripts of this origin put pictures where they can read their pixels. */
  | { readonly type: "reads-pixels"; readonly origin: string }
  | ({ readonly type: "sign-in" } & SignInAsked)
  | { readonly type: "progress"; readonly tab: number; readonly progress: PageProgress }
  /** A request to this URL failed that may have had its effect all the same. */
  | { readonly type: "uncertain"; readonly url: string }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown };

/** Of a navigation that the shell started. */
type NavigationNews =
  | { readonly kind: "failed"; readonly url: string; readonly code: number; readonly message: string }
  /** Its response is there: its slot may come for it. Told again, after longer and longer times, where it does not. */
  | { readonly kind: "answered" }
  /** The navigation ended on another origin; its response waits for that slot. */
  | { readonly kind: "moved"; readonly url: string };

/** Of documents of pages. URLs are real, without fragments. */
export type DocumentNews =
  /** A navigation of a page's own within its top-level slot failed, and the page stays. */
  | FailedNavigation
  /**
   * A navigation of this top-level slot ended without a document (204, or a download): the page before stays. `id`: of the
   * shell's navigation that a file has answered. `leadsTo`: as of "no-document".
   */
  | {
      readonly kind: "none";
      readonly origin: string;
      readonly url?: string;
      readonly id?: number;
      readonly leadsTo?: string;
    }
  /**
   * The body of a document of a top-level slot, of the slot's own origin, ended too early. Browsers tell the page nothing
   * of that: it would load for ever. It may be in a frame of the slot's page. `id`: of the shell's navigation, if it is one's.
   */
  | {
      readonly kind: "broken";
      readonly url: string;
      readonly id: number | null;
      readonly code: number;
      readonly message: string;
    }
  /** A page's document comes as it was stored, since the link is away. `storedAt`: milliseconds since 1970. */
  | { readonly kind: "stored"; readonly url: string; readonly storedAt: number }
  /** A file has come in the place of a document, and waits ("asked") to be wanted; or it begins, or is over. */
  | { readonly kind: "download"; readonly download: Download }
  /** The page of this URL is shown as it was stored, and there is a newer version. */
  | { readonly kind: "newer"; readonly url: string };

/** `since` and `retryAt` are milliseconds as `Date.now()` counts them while nobody sets the clock. */
export type LinkPhase =
  | { readonly kind: "unpaired" }
  | { readonly kind: "connecting"; readonly since: number; readonly attempt: number }
  | { readonly kind: "open" }
  /** The link is there, but an answer has been due for a while. */
  | { readonly kind: "stalled"; readonly since: number }
  | { readonly kind: "waiting"; readonly since: number; readonly retryAt: number }
  | { readonly kind: "offline"; readonly since: number }
  /**
   * The edge does not know the phone any more. With `why`, it turned down the key that it was just given: its own
   * words, or null for a wrong key.
   */
  | { readonly kind: "refused"; readonly why?: string | null };

/** Nobody knows when the link will be there: one attempt after the other has failed, or there is no network. */
export function isAway(link: LinkPhase): boolean {
  return link.kind === "offline" || link.kind === "waiting" || (link.kind === "connecting" && link.attempt > 1);
}

/**
 * Why a link may be worth another look: another network, or the person looks at the app again. Or the person is about
 * to go somewhere, so the link should be ready.
 */
export type LinkHint = "network" | "visible" | "navigation";

/** The way of the link. */
export type Road = "websocket" | "fetch";

/** A page that the person has kept: it stays on the phone, as it was, until it is kept no longer. */
export interface KeptPage {
  /** Real, without a fragment. */
  readonly url: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
  /** Bytes of its bodies. */
  readonly bytes: number;
  /** How many of the things that it asked for are not kept with it, since they were not stored. */
  readonly missing: number;
}

/** Why a page cannot be kept: its site forbids it; a form led to it; not all of it came through the store; the disk is full. */
export type KeepRefusal = "forbidden" | "form" | "not-stored" | "no-room";

/** Outcome of the wish to keep a page. */
export type KeepOutcome = { readonly page: KeptPage } | { readonly refused: KeepRefusal };

/** Name by which a site is forgotten, of a URL or an origin: its host's name, by whatever scheme and port, without `www.`. */
export function siteName(url: string): string {
  return parseUrl(url)?.hostname.replace(/^www\.(?=.+\.)/, "") ?? url;
}
