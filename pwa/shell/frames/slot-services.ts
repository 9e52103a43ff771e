import { type KeyPress, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";
import { framePartition } from "./frame-partition.ts";
import { FrameReferrers } from "./frame-referrer.ts";
import { frameUrl } from "./frame-url.ts";
import { answerOrigins } from "./origin-answer.ts";
import type { SlotFrames } from "./slot-frames.ts";
import type { Slot } from "./slot-registry.ts";

/** What documents in slots get from the shell, wherever they are in a page: ports, names, and slots for their frames. */
export class SlotServices {
  readonly #slots: SlotFrames;
  readonly #tunnel: Pick<TunnelClient, "tell">;
  readonly #onKey: (press: KeyPress) => void;
  readonly #mayShowEntry: (slotUrl: string, slot: Slot) => boolean;
  readonly #referrers = new FrameReferrers();

  /**
   * @param onKey a key of the app's was pressed in a page, as that says.
   * @param mayShowEntry whether the entry of the page's history is of the slot.
   */
  constructor(
    slots: SlotFrames,
    tunnel: Pick<TunnelClient, "tell">,
    onKey: (press: KeyPress) => void,
    mayShowEntry: (slotUrl: string, slot: Slot) => boolean,
  ) {
    this.#slots = slots;
    this.#tunnel = tunnel;
    this.#onKey = onKey;
    this.#mayShowEntry = mayShowEntry;
  }

  /** @param slot the slot that speaks, from the event's origin. */
  onMessage(message: PageToShell, slot: Slot, source: Window): void {
    switch (message.type) {
      case "port-wanted":
        if (message.backTo !== undefined && !this.#mayGoBack(message.backTo, slot, source)) return;
        this.#slots.onReady(slot);
        this.#slots.sendPort(slot, source);
        return;
      case "key":
        this.#onKey(message.press);
        return;
      case "origins-wanted":
        source.postMessage(answerOrigins(message.origins, slot, this.#slots), this.#slots.originOf(slot));
        return;
      case "frame-wanted":
        this.#sendFrame(message, slot, source);
    }
  }

  /** The entry may be of another origin, which had the host before. Of frames nobody knows. */
  #mayGoBack(slotUrl: string, slot: Slot, source: Window): boolean {
    if (!this.#slots.hasMoved(slot)) return true;
    if (source.parent === window) return this.#mayShowEntry(slotUrl, slot);
    source.postMessage({ tag: MESSAGE_TAG, type: "gone" } satisfies ShellToPage, this.#slots.originOf(slot));
    return false;
  }

  #sendFrame(message: PageToShell & { type: "frame-wanted" }, slot: Slot, frame: Window): void {
    const url = frameUrl(message.url);
    if (url === null || frame.closed) return;
    const isDeeper = ![frame.parent, frame.parent.parent].includes(window);
    const partition = framePartition(url.origin, slot, isDeeper);
    const again = () => this.#sendFrame(message, slot, frame);
    const frameSlot = this.#slots.frameSlotFor(url.origin, partition, message.isAsked === true, again);
    if (frameSlot === "later") return;
    if (frameSlot === null) {
      frame.postMessage({ tag: MESSAGE_TAG, type: "no-host" } satisfies ShellToPage, this.#slots.originOf(slot));
      return;
    }
    const slotUrl = this.#slots.slotUrl(frameSlot, url.href);
    url.hash = "";
    const start = this.#referrers.start(frame, message, slot, url.href, frameSlot.label);
    const { origin, topLevelOrigin, topLevel } = frameSlot;
    this.#tunnel.tell({ type: "frame-starts", binding: { origin, topLevelOrigin, topLevel }, url: url.href, start });
    const bootsInside = !topLevel;
    const answer: ShellToPage = { tag: MESSAGE_TAG, type: "frame", slotUrl, topLevel: slot.topLevel, bootsInside };
    // The document around the frame is of the same slot, but where the frame's own one has asked.
    const names: ShellToPage = answerOrigins([this.#slots.originOf(frameSlot)], slot, this.#slots);
    frame.parent.postMessage(names, this.#slots.originOf(slot));
    frame.postMessage(answer, this.#slots.originOf(slot));
  }
}
