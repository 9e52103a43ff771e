/**
 * Messages between the documents in slots and the shell, by `window.postMessage`. The shell trusts none of their
 * content: it knows which slot speaks from `event.origin` alone.
 */
import type { HeaderList } from "../../shared/http/heads.ts";

/** Marks our messages among those that pages send to each other. */
export const MESSAGE_TAG = "ropeway.1";

/** The fields of a `KeyboardEvent` that count. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** Value of `<html data-page>`, a documented contract for automation. */
export type PagePhase = "idle" | "loading" | "loaded" | "failed";

/** Where a document is scrolled to, in CSS pixels. */
export interface ScrollPosition {
  readonly x: number;
  readonly y: number;
}

/** A field of a document that the person has changed. */
export interface KeptField {
  /** Its place among the document's fields of this kind and name. */
  readonly at: number;
  /** Its kind, and its name or its id. */
  readonly name: string;
  /** Its text; of a box, whether it is checked, and its value; of a list, the values chosen, a line each. */
  readonly value: string;
}

/** Characters of the fields of one document that are kept. */
export const MOST_TYPED = 8_000;

/** How far the document is. */
export type DocumentPhase = "loading" | "interactive" | "loaded";

/** Where a page does not work here as in a browser of its own; the app names each kind once to a page. */
export type Trouble =
  /** A frame, or another document in the page, is not shown. */
  | "frame"
  /** The page has loaded and hides itself. */
  | "hidden"
  /** A tap wanted what its frame may not have: another page, or a window. */
  | "tap"
  /** A socket did not open. */
  | "socket"
  /** A form's fields were not sent. */
  | "form"
  /** A film's list of parts, which the browser's own player does not get. */
  | "film"
  /** A passkey, which the browser has for the site's own host. */
  | "passkey"
  /** A script has failed that waits for an answer and stops the page meanwhile (a synchronous XMLHttpRequest). */
  | "sync";

/** The tokens that all sandboxes around a document have; null where there is none. */
export type Sandbox = readonly string[] | null;

/** Of a `PointerEvent`, which workers do not know. */
interface Press {
  readonly pointerType: string;
  readonly button: number;
  readonly ctrlKey: boolean;
}

/**
 * Whether a `contextmenu` event is the app's: by a finger or a pen, or by the keyboard, which Chromium (156) takes for a mouse
 * without a button. A mouse opens the browser's own menu, on a Mac also by its first button with Ctrl.
 */
export const isHold = ({ pointerType, button, ctrlKey }: Press): boolean =>
  pointerType !== "mouse" || (button < 1 && !ctrlKey);

export type PageToShell =
  /**
   * A slot's page (or its boot page) asks for a port on behalf of its service worker. `backTo`: the history has led
   * to this slot URL. Its entry has another key than before, since the boot page was redirected to (Chromium 156).
   */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "port-wanted"; readonly backTo?: string }
  | WipeNews
  /** The boot page is there. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "booting" }
  /** The boot page's service worker controls the slot. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "slot-ready" }
  /** Where the document is and how far. `url` is the slot URL; `historyKey` that of the Navigation API's entry. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "document";
      readonly phase: DocumentPhase;
      readonly url: string;
      readonly title: string;
      /** Absolute URL of the page's icon as the page names it (may be a slot URL), or null. */
      readonly icon: string | null;
      /** The same of its largest picture, once it has loaded; slots of before 2026-12 do not tell. */
      readonly picture?: string | null;
      readonly historyKey: string;
      /** The origin says that it is none of its pages (status 400 and above); slots of before 2026-12 do not tell. */
      readonly isError?: boolean;
      /** A form led there, which a reload would send again; slots of before 2026-12 do not tell. */
      readonly isPosted?: boolean;
    }
  /** How far down the document is, and what the person has typed into it. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "scrolled";
      readonly historyKey: string;
      readonly position: ScrollPosition;
      /** Absent where nothing was typed, and from slots of before 2026-12. */
      readonly fields?: readonly KeptField[] | undefined;
    }
  /** A navigation that must leave the slot: link, script, form or redirect. `url` may be a slot URL. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "navigate";
      readonly url: string;
      readonly method: string;
      readonly headers: HeaderList;
      readonly body: ArrayBuffer | null;
      /** Referrer after the referrer policy, with real URLs; "" for none. */
      readonly referrer: string;
      readonly replace: boolean;
      /** A frame leads the page there, or opens a window, which has no other view. Absent where the page goes by itself. */
      readonly leads?: "page" | "window";
      /** As `sandboxAround` of the frame. */
      readonly sandbox?: Sandbox;
      /** In a window of its own. Absent also from slots of before 2026-12, whose windows open in the one view. */
      readonly opens?: OpensWindow;
      /** The person has done nothing for it. Stamped by the shell, where the browser tells. */
      isUnasked?: boolean;
    }
  | WindowOrder
  /** The person holds a link or a picture. Real addresses; "" for none. Absent from slots of before 2026-12. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "held"; readonly url: string; readonly picture: string }
  /**
   * The page's own document goes to another document of the slot: the shell shows that something happens. `isAgain`: it is
   * reloaded, or the history leads there.
   */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "leaving"; readonly url: string; readonly isAgain?: boolean }
  /** The page does not leave after all; a "document" follows. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "staying" }
  /** Answer to "reload": it was not done, since it would send a form again, which the person has to want. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "reload-sends-form" }
  /** In place of a document that could not be had. `url` is real, `code` an ErrorCode. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "failed";
      readonly url: string;
      /** Method of the request that failed; slots of before 2026-12 do not tell. */
      readonly method?: string;
      readonly code: number;
      readonly message: string;
      readonly historyKey: string;
    }
  | TroubleTold
  | FindAnswer
  | Asks
  /**
   * A document has got the focus of the keyboard, or has lost it to another that is no frame of its own. Absent from slots
   * of before 2026-12.
   */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "focus";
      readonly has: boolean;
      /** The page has been told that its tab is not seen. */
      readonly isBehind: boolean;
    }
  /** Media of a document have begun to be heard, or have ended. Absent from slots of before 2026-12. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "sound"; readonly isOn: boolean }
  /** A key of the shell's was pressed in the page. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "key"; readonly press: KeyPress }
  /** Answer to "links-wanted": where the person may go next, the likeliest first. They may be slot URLs. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "links"; readonly urls: readonly string[] }
  /**
   * In place of a document that moved to another origin. `referrer`: real URL of the page that asked for it, after the
   * referrer policies of both; left out before 2026-12.
   */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "moved"; readonly url: string; readonly referrer?: string }
  | OriginsWanted
  /** The placeholder of a frame asks for the slot of another origin. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "frame-wanted";
      readonly url: string;
      /** Real URL of the document that the frame is in, after the referrer policy; "" for none. */
      readonly referrer: string;
      /** Real URL of this slot that redirected the frame, or null. */
      readonly movedFrom: string | null;
      /** The person wants it. */
      readonly isAsked?: boolean;
      /** As `sandboxAround`. Of the frame, while what is in it is of the site around it. */
      readonly sandbox?: Sandbox | undefined;
      /** Of the frame's element, likewise. */
      readonly allow?: string | undefined;
      /** The frame's own address, where it is of another site; "" else. Absent from slots of before 2026-12. */
      readonly source?: string;
      /** A form sends it there, whose body the slot's worker has given to the tunnel under this name. */
      readonly form?: string;
    };

export interface OpensWindow {
  /** By which the document that opens it speaks of it; null: it has no opener. */
  readonly id: string | null;
  /** Of the window, for its page and for others that name it; "" for none. */
  readonly name: string;
  /** The page parts itself from those of other origins (COOP). */
  readonly isApart?: true;
  /** The person wants it in a tab. Absent also from slots of before 2026-12, whose links open where they say. */
  readonly tab?: "in front" | "behind";
}

/** To the window of this id, which the document's own window has opened; to the one that has opened it: without an id. */
export interface WindowOrder {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "window";
  readonly id?: string;
  readonly act: /** A message, whose ports go with it. `targetOrigin`: a real origin, or "*". */
    | { readonly kind: "post"; readonly data: unknown; readonly targetOrigin: string }
    /** To a real URL. `referrer`, of the document that speaks, as of "navigate"; slots of before 2026-12 do not tell. */
    | { readonly kind: "go"; readonly url: string; readonly replace: boolean; readonly referrer?: string }
    /** The window of the id; without one, that of the document itself. */
    | { readonly kind: "close" }
    /** Brings it to the front. */
    | { readonly kind: "focus" }
    /** The page wants no opener any more; where it parts itself from those of other origins: none of another one. */
    | { readonly kind: "disown"; readonly isApart?: true }
    /** The document's own window goes so many entries of its history on, or back. */
    | { readonly kind: "step"; readonly delta: number };
}

/** Of the window of this id; without one, of the opener. */
export interface WindowNews {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "window";
  readonly id?: string;
  readonly news: /** A message of its page, which is of this real origin. */
    | { readonly kind: "message"; readonly data: unknown; readonly origin: string }
    | { readonly kind: "closed" }
    /** Its page is of the document's own origin, and has this real URL; null: it is of another one. */
    | { readonly kind: "at"; readonly url: string | null }
    /** Where windows of the two's origin find each other: id of `ropewayPath.meeting`. Slots of before 2026-12 do not know it. */
    | { readonly kind: "meeting"; readonly meeting: string }
    /** The app takes the step, or leaves it to the document, whose window is in front. Apps of before 2026-12 say nothing. */
    | { readonly kind: "step"; readonly isYours: boolean };
}

/**
 * "Find in page": the app asks each window of the page; where a page script is, it answers, and gets what is searched for. Each
 * document searches itself, and says no more than its own count.
 */
interface OfSearch {
  readonly tag: typeof MESSAGE_TAG;
  /** Of the search: another one ends it. */
  readonly id: number;
}

/** From the app; from the document around, "join" alone, which says nothing. Page scripts of before 2026-12 do not answer. */
export interface FindOrder extends OfSearch {
  readonly type: "find";
  readonly act: /** Whoever is there is to say so. */
    | { readonly kind: "join" }
    /** @property script of the search (`find-text.ts`), as the app has it. @property text as of `foldText`. */
    | { readonly kind: "search"; readonly script: string; readonly text: string }
    /**
     * Asks whether the page has an article, or shows it, with these words, or takes it away. @property script as of "search",
     * of `reader.ts`. Page scripts of before 2026-12 do nothing.
     */
    | {
        readonly kind: "read";
        readonly script: string;
        readonly isShown: boolean;
        readonly words: Readonly<Record<"reader" | "close" | "smaller" | "larger" | ReaderLook["paper"], string>>;
        readonly look: ReaderLook;
      }
    /** The match of this place among the document's own is the one that the person is at; -1: none of them. */
    | { readonly kind: "show"; readonly index: number }
    | { readonly kind: "end" };
}

/** How the person wants articles. */
export interface ReaderLook {
  /** CSS pixels. */
  readonly size: number;
  readonly paper: "light" | "sepia" | "dark";
}

/** To the app. */
export interface FindAnswer extends OfSearch {
  readonly type: "found";
  readonly told: /** Answer to "join". */
    | { readonly kind: "there" }
    /** @property near the first match at or below where the person is; counts once all is searched. */
    | { readonly kind: "matches"; readonly count: number; readonly near: number; readonly isDone: boolean }
    /** Answer to "read". */
    | { readonly kind: "article"; readonly isThere: boolean }
    /** The person has changed it. */
    | { readonly kind: "look"; readonly look: ReaderLook };
}

/** Features that a page has where the person says so, as the person's answers name them. */
export type AskedFeature = "location" | "clipboard" | "camera" | "microphone";

/**
 * A script wants something that the person has to allow. The answers (`AskAnswer`) come on the port that goes along; whatever
 * the script sends on it says that it wants no more. Absent from slots of before 2026-12.
 */
export interface Asks {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "asks";
  readonly ask: Ask;
}

export type Ask =
  /** What `Permissions.query` says of the feature, now and whenever it changes. */
  | { readonly kind: "state"; readonly feature: AskedFeature }
  | { readonly kind: "position"; readonly isWatch: boolean; readonly options: PositionWish }
  | { readonly kind: "clipboard"; readonly isText: boolean }
  /** A field for a password has the focus. */
  | { readonly kind: "password" }
  /** @property isDelegated the document's own policy lets it have all of them: the browser asks from here on. */
  | {
      readonly kind: "media";
      readonly features: readonly ("camera" | "microphone")[];
      readonly isDelegated: boolean;
    };

export type AskAnswer =
  /** Comes first: an app of before 2026-12 says nothing. */
  | { readonly kind: "heard" }
  | { readonly kind: "state"; readonly state: PermissionState }
  | { readonly kind: "position"; readonly coords: PlainCoordinates; readonly timestamp: number }
  /** By media type; all kinds that the clipboard has. */
  | { readonly kind: "clipboard"; readonly items: readonly Readonly<Record<string, Blob | string>>[] }
  /** The browser's list of passwords is one for several sites here. */
  | { readonly kind: "shared" }
  /** The script's own call may go on. */
  | { readonly kind: "allowed" }
  /** @property code of a `GeolocationPositionError`: 1 for no. */
  | { readonly kind: "failed"; readonly code: number; readonly message: string };

/** As `PositionOptions`. */
export interface PositionWish {
  readonly enableHighAccuracy?: boolean;
  readonly maximumAge?: number;
  readonly timeout?: number;
}

export type PlainCoordinates = Readonly<Record<string, number | null>>;

/** Of any document in the page. It names no address: the app says the one in its own bar. */
export interface TroubleTold {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "trouble";
  readonly trouble: Trouble;
  /** The trouble told before has passed. */
  readonly isOver?: boolean;
}

/** A slot's page asks which real origins stand behind slots, or which slots stand for real origins. */
export type OriginsWanted = {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "origins-wanted";
  readonly origins: readonly string[];
};

/** From a boot page to the placeholder around it: the slot can show documents. */
export type BootToFrame = { readonly tag: typeof MESSAGE_TAG; readonly type: "booted" };

export type ShellToPage =
  /**
   * Carries a MessagePort for the slot's service worker. `topLevel`: of the slot that asked, as in the next. `isNewHere`:
   * what this window has of the host in `sessionStorage` is another origin's.
   */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "port";
      readonly topLevel: boolean;
      readonly isNewHere?: boolean;
    }
  /** The host may be emptied. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "wipe" }
  /** In place of a port: what was there has lost its host to another origin. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "gone" }
  /** In place of a frame's address: no host is free. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "no-host" }
  /** Answer to frame-wanted: where the frame may go. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "frame";
      readonly slotUrl: string;
      readonly topLevel: boolean;
      /** The slot's boot page may be shown below the one that asks. */
      readonly bootsInside: boolean;
    }
  /** Real origins by slot origins: of a frame that sets out in the document, or as answer to `asked`. */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "origins";
      readonly origins: Readonly<Record<string, string>>;
      readonly asked: readonly string[];
    }
  | WindowNews
  | FindOrder
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "stop" }
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "print" }
  /** Whether the person sees the tab that the document is in; until it is told, the browser's word counts. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "tab"; readonly isBehind: boolean }
  /** Links may be warmed. Slots of before 2026-12 do not answer. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "links-wanted" }
  /**
   * The document goes there as soon as there is so much of it, unless the person scrolls before; and has these fields again,
   * which slots of before 2026-12 do not know.
   */
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "scroll";
      readonly position: ScrollPosition;
      readonly fields: readonly KeptField[];
    }
  | {
      readonly tag: typeof MESSAGE_TAG;
      readonly type: "reload";
      /** Also where it sends a form again. */
      readonly isConfirmed: boolean;
      /** With nothing that the phone has. Slots of before 2026-12 do not know it. */
      readonly isHard: boolean;
    };

/** Begins the key of a history entry that is known by its address alone: no key of the Navigation API has a space. */
export const ADDRESS_KEY = "at ";

/**
 * The Navigation API's key of the entry; where there is none the address, which the shell takes for the entry next to
 * the one shown that has it.
 */
export function entryKey(
  navigation: { readonly currentEntry: { readonly key: string } | null } | undefined,
  href: string,
): string {
  return navigation?.currentEntry?.key ?? ADDRESS_KEY + href;
}

/** A navigation that came to nothing. */
export interface FailedNavigation {
  readonly kind: "failed";
  readonly url: string;
  /** Method of the request that failed. */
  readonly method: string;
  readonly code: number;
  readonly message: string;
  /** The person should know of it where it is in a frame. */
  readonly trouble?: Trouble;
}

/**
 * Why a document is missing; carried as JSON in `data-notice` of the script's element. URLs are real ones, `from` is the
 * one that redirected, or "", `referrer` as of "moved".
 */
export type Notice =
  | FailedNavigation
  | { readonly kind: "moved"; readonly url: string; readonly from: string; readonly referrer?: string };

/** Of the page that empties a host of a list. */
export interface WipeNews {
  readonly tag: typeof MESSAGE_TAG;
  readonly type: "wipe";
  readonly news: /** It is there: answered by "wipe", or not at all. */
    | ({ readonly kind: "ready" } & SlotCondition)
    /** Answer to "wipe". */
    | { readonly kind: "done"; readonly isEmpty: boolean };
}

/** Whether a slot can be emptied for another origin, as its service worker sees it. */
export interface SlotCondition {
  /** The document that asks is all that is open of it, in any window, and nothing is under way for it. */
  readonly isAlone: boolean;
  /** Names of permissions that the person has granted to the host, by question. */
  readonly permissions: readonly string[];
}
