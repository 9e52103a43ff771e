import type { ShellToPage } from "../../messages/page-messages.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import type { Slot } from "../frames/slot-registry.ts";
import { FramePosition } from "./frame-position.ts";

/** Shown in the frame while the start page is; a real document, so that there is a way back to it. */
const START_DOCUMENT = "/blank";

/** The iframe of a tab, which goes from slot to slot. */
export class PageFrame {
  readonly element: HTMLIFrameElement;
  readonly position = new FramePosition();
  readonly #slots: SlotFrames | null;

  /** @param slots null where the deployment has only one host: then the start page is all there is. */
  constructor(element: HTMLIFrameElement, slots: SlotFrames | null) {
    this.element = element;
    this.#slots = slots;
  }

  get showsSites(): boolean {
    return this.#slots !== null;
  }

  isOf(source: Window): boolean {
    return source === this.element.contentWindow;
  }

  /** @param replaces the entry of the session history. */
  showStart(replaces = false): void {
    this.#load(START_DOCUMENT, replaces);
  }

  /**
   * Points the frame at the slot of a URL; its service worker claims the response that is under way.
   *
   * @param isAgain also where the frame has a document of this very URL, which may be a notice or a boot page.
   */
  show(url: string, replaces: boolean, isAgain: boolean): void {
    if (this.#slots === null) return;
    const { origin } = new URL(url);
    this.position.setOut(origin);
    this.#load(this.#slots.slotUrl(this.#slots.slotFor(origin, origin), url, isAgain), replaces);
  }

  tell(message: Extract<ShellToPage, { type: "stop" | "reload" }>): void {
    this.element.contentWindow?.postMessage(message, "*");
  }

  /** Whether something of the app's is shown in the frame before the page of this URL. */
  needsBootPage(url: string): boolean {
    const { origin } = new URL(url);
    const slot = this.#slots?.find(origin, origin) ?? null;
    return slot === null || this.#slots?.needsBootPage(slot) === true;
  }

  /** Whether the top-level slot of an origin is known to show documents. */
  isBooted(origin: string): boolean {
    return this.#slots?.isBooted(this.#slots.slotFor(origin, origin)) === true;
  }

  /** A slot's own URL as the real one; any other as it is. */
  toReal(url: string, slot: Slot): string {
    const slotOrigin = this.#slots?.originOf(slot) ?? "";
    return url === slotOrigin || url.startsWith(`${slotOrigin}/`) ? slot.origin + url.slice(slotOrigin.length) : url;
  }

  #load(url: string, replaces: boolean): void {
    if (replaces) this.element.contentWindow?.location.replace(url);
    else this.element.src = url;
  }
}
