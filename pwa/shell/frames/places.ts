/** Where pages live on this phone, as the tab and pages without scripts see it. */
import type { KeyPress, PageToShell, ShellToPage } from "../../messages/page-messages.ts";
import type { SlotBinding } from "../../messages/port-messages.ts";
import type { Notice } from "../app/state.ts";

/** An origin's place under a top-level origin. */
export interface Slot extends SlotBinding {
  /** First label of the slot's host. */
  readonly label: string;
}

/** A tab's frame, which goes from place to place. */
export interface PlaceSeeker {
  /** The place that the frame waits for is there, or the frame that made it has left: ask once more. */
  onPlace(): void;
}

/** Where pages live on this phone: what a tab's frame needs to know of that to show one, and to speak to it. */
export interface PagePlaces {
  /** Gives the origin of a real URL a place. @returns false where none is free. */
  hasPlaceFor(url: string): boolean;
  /**
   * Where the frame goes to show a real URL.
   *
   * @param isAgain the address differs from that of any document so far by more than its fragment.
   * @param seeker that goes there.
   * @returns null where there is no place; "later" where the frame stays until `onPlace`.
   */
  addressOf(url: string, isAgain: boolean, seeker: PlaceSeeker): { readonly href: string } | "later" | null;
  /** The frame goes to no page, or is gone. */
  leave(seeker: PlaceSeeker): void;
  /** Whether the frame shows a page of the app's before the page of this URL. */
  needsBootPage(url: string): boolean;
  /** Whether the place of an origin is known to show documents. */
  isBooted(origin: string): boolean;
  /**
   * For a place that cannot be set up since the edge is away: another one takes over, until `endStandIns`.
   *
   * @returns false where there is none.
   */
  standIn(url: string): boolean;
  endStandIns(): void;
  /** The address that a document gives, as the real one. @param slot that the document is of. */
  toReal(url: string, slot: Slot): string;
  /** @param page the frame's window. @param url real; no document of another site hears it. */
  tell(message: PageOrder, page: Window, url?: string): void;
}

export type PageOrder = Extract<ShellToPage, { type: "stop" | "print" | "reload" | "scroll" | "links-wanted" }>;

/** The page's frame, and what is around it, as a place without scripts serves it. */
export interface ServedPage {
  readonly frame: { readonly element: HTMLIFrameElement };
  readonly tab: { onPageMessage(message: PageToShell, slot: Slot | null, source: Window): void };
  readonly chrome: { press(press: KeyPress): boolean };
  readonly app: { notify(notice: Notice): void };
}

export interface OpenedPlaces {
  /** Null where no page can be shown. */
  readonly places: PagePlaces | null;
  /** Begins to serve the frame, before it loads anything. */
  attach(page: ServedPage): void;
}

/** The phone, as pages without scripts need it. */
export interface LitePlatform {
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  readonly workers: ServiceWorkerContainer;
  /** Places of pages with scripts; null where there are none. */
  readonly slots: PagePlaces | null;
  /** Sites that run no scripts, by the person's choice. */
  readonly sites: readonly string[];
  readonly bind: (slot: Slot) => MessagePort;
}
