import type { ShellToPage } from "../../messages/page-messages.ts";
import type { Slot } from "./slot-registry.ts";

/** Where pages live on this phone: what a tab's frame needs to know of that to show one, and to speak to it. */
export interface PagePlaces {
  /** Gives the origin of a real URL a place. @returns false where none is free. */
  hasPlaceFor(url: string): boolean;
  /**
   * Where the frame goes to show a real URL.
   *
   * @param isAgain the address differs from that of any document so far by more than its fragment.
   * @returns null where there is no place.
   */
  addressOf(url: string, isAgain: boolean): string | null;
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
  /** @param page the frame's window. */
  tell(message: PageOrder, page: Window): void;
}

export type PageOrder = Extract<ShellToPage, { type: "stop" | "reload" | "scroll" | "links-wanted" }>;
