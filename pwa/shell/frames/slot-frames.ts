/**
 * The slots of this window, and hidden spares whose service workers are installed before any site needs them, so that a
 * new site costs no round trip to set up.
 */
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import type { KeptSpares } from "./kept-spares.ts";
import { createSlotFrame } from "./slot-frame.ts";
import { freshLabel, type Slot, type SlotRegistry } from "./slot-registry.ts";

interface Spare {
  readonly label: string;
  readonly frame: HTMLIFrameElement;
  /** Its boot page waits for a port. */
  isReady: boolean;
  /** Its boot page is there. */
  hasBegun: boolean;
}

interface TakenSlot {
  readonly label: string;
  /** With a frame, which may still be on its way to its boot page; null for one without. */
  readonly spare: Spare | null;
}

export class SlotFrames {
  #registry: SlotRegistry;
  #keptSpares: KeptSpares;
  #document: Document;
  /** `//host:port` below which slots live. */
  #slotHost: string;
  #scheme: string;
  /** Ready ones first. */
  #spares: Spare[] = [];
  /** Labels of slots from the last sitting, whose service workers are installed. They have no frame yet. */
  #kept: string[] = [];
  /** Labels of slots that were taken before their boot page was through. */
  #unbooted = new Set<string>();
  /** Labels of slots whose service worker got a port of this window. */
  #connected = new Set<string>();
  #timesAgain = 0;
  #hasOtherWindows: () => boolean;
  #bindPort: (slot: Slot) => MessagePort;

  constructor(options: {
    readonly registry: SlotRegistry;
    readonly keptSpares: KeptSpares;
    readonly document: Document;
    readonly scheme: string;
    readonly slotHost: string;
    readonly bindPort: (slot: Slot) => MessagePort;
    /** Whether the app is open in other windows, too. */
    readonly hasOtherWindows: () => boolean;
  }) {
    this.#registry = options.registry;
    this.#keptSpares = options.keptSpares;
    this.#document = options.document;
    this.#scheme = options.scheme;
    this.#slotHost = options.slotHost;
    this.#bindPort = options.bindPort;
    this.#hasOtherWindows = options.hasOtherWindows;
  }

  /** The slot that `origin` (an event's, a frame's) belongs to, or null. */
  slotOf(origin: string): Slot | null {
    const suffix = `.${this.#slotHost}`;
    const prefix = `${this.#scheme}//`;
    if (!origin.startsWith(prefix) || !origin.endsWith(suffix)) return null;
    return this.#registry.byLabel(origin.slice(prefix.length, -suffix.length));
  }

  /** The slot of an origin, if it has one. */
  find(origin: string, topLevelOrigin: string): Slot | null {
    return this.#registry.find(origin, topLevelOrigin);
  }

  originOf(slot: Slot): string {
    return `${this.#scheme}//${slot.label}.${this.#slotHost}`;
  }

  /** The slot of a web origin under a top-level origin; takes the spare when it is a new one. */
  slotFor(origin: string, topLevelOrigin: string): Slot {
    const known = this.#registry.find(origin, topLevelOrigin);
    if (known !== null) return known;
    const { label, spare } = this.#takeAlive() ?? this.#takeAny();
    const slot = this.#registry.assign(label, origin, topLevelOrigin);
    this.#bringIn(slot, spare);
    return slot;
  }

  /**
   * For a slot that cannot be set up since the edge is away: the browser has evicted its storage, and its service worker
   * with that. A spare that has its own takes the slot's place in this window, until `endStandIns`.
   *
   * @returns false where there is none.
   */
  standIn(slot: Slot): boolean {
    const taken = this.#takeAlive();
    if (taken === null) return false;
    this.#connected.delete(slot.label);
    this.#unbooted.add(slot.label);
    this.#bringIn(this.#registry.standIn(taken.label, slot), taken.spare);
    return true;
  }

  /** The edge is back, and slots can be set up anew. What their sites have stored may still be there. */
  endStandIns(): void {
    this.#registry.endStandIns();
  }

  /**
   * Whether the slot's boot page has something to do before a document of the slot can be shown:
   *
   * - The service worker is still being installed, and the address would go to the edge as a plain request.
   * - It has no port of this window.
   * - It has ports of several windows, and sees which one a page is for by the page that sent it there.
   */
  needsBootPage(slot: Slot): boolean {
    return !this.isBooted(slot) || !this.#connected.has(slot.label) || this.#hasOtherWindows();
  }

  /**
   * Where the slot shows a real URL of its origin; by its boot page where that is needed, or the frame may be there already.
   *
   * @param isAgain the address differs from that of any document so far by more than its fragment.
   */
  slotUrl(slot: Slot, realUrl: string, isAgain = false): string {
    const url = new URL(realUrl);
    const path = `${url.pathname}${url.search}${url.hash}`;
    if (!this.needsBootPage(slot) && !isAgain) return `${this.originOf(slot)}${path}`;
    const query = isAgain ? `?again=${++this.#timesAgain}` : "";
    return `${this.originOf(slot)}${RESERVED_PATH}boot${query}#then=${encodeURIComponent(path)}`;
  }

  /** Whether the slot's service worker is known to answer. */
  isBooted(slot: Slot): boolean {
    return !this.#unbooted.has(slot.label);
  }

  /** The slot's service worker answers from now on. */
  onReady(slot: Slot): void {
    this.#unbooted.delete(slot.label);
  }

  /**
   * Takes the slots that were kept from the last sitting. Their frames wait for `prepareSpare`: a slot that is installed
   * needs no network, but Chromium opens a connection to the host of every frame that sets out for it.
   */
  async restoreSpares(): Promise<void> {
    const labels = await this.#keptSpares.take();
    this.#kept = labels.filter((label) => this.#registry.byLabel(label) === null).slice(0, SPARES);
  }

  /**
   * Boots a slot in a hidden frame, a kept one or a fresh one, unless there are enough. For when nothing else is on the
   * link.
   *
   * @returns whether there are enough now.
   */
  prepareSpare(): boolean {
    if (this.#spares.length < SPARES) this.#bootSpare(this.#kept.shift() ?? freshLabel());
    return this.#spares.length >= SPARES;
  }

  /** Answers whoever asks for a port in the name of a slot. */
  sendPort(slot: Slot, target: Window): void {
    const message: ShellToPage = { tag: MESSAGE_TAG, type: "port", topLevel: slot.topLevel };
    target.postMessage(message, this.originOf(slot), [this.#bindPort(slot)]);
    this.#connected.add(slot.label);
  }

  /** A frame that stands for no origin yet is there, or asks for a port: a spare, which gets one once it is taken. */
  onUnassignedFrame(type: PageToShell["type"], source: Window): void {
    const spare = this.#spares.find(({ frame }) => frame.contentWindow === source);
    if (spare === undefined) return;
    spare.hasBegun = true;
    if (type !== "port-wanted") return;
    spare.isReady = true;
    this.#spares.sort((one, other) => Number(other.isReady) - Number(one.isReady));
    void this.#keptSpares.keep(spare.label);
  }

  /** One whose service worker is there, or was: a kept one boots in the page's own frame. Null where there is none. */
  #takeAlive(): TakenSlot | null {
    if (this.#spares[0]?.isReady !== true) {
      const kept = this.#kept.shift();
      return kept === undefined ? null : { label: kept, spare: null };
    }
    return this.#takeAny();
  }

  #takeAny(): TakenSlot {
    const spare = this.#spares.shift() ?? null;
    return { label: spare?.label ?? freshLabel(), spare };
  }

  #bringIn(slot: Slot, spare: Spare | null): void {
    this.#keptSpares.forget(slot.label);
    if (spare?.isReady !== true) this.#unbooted.add(slot.label);
    if (spare !== null) this.#handPort(slot, spare);
  }

  #bootSpare(label: string): void {
    const frame = createSlotFrame(this.#document);
    frame.hidden = true;
    frame.setAttribute("aria-hidden", "true");
    frame.tabIndex = -1;
    frame.src = `${this.#scheme}//${label}.${this.#slotHost}${RESERVED_PATH}boot`;
    const spare: Spare = { label, frame, isReady: false, hasBegun: false };
    let pause = SPARE_PAUSE;
    // Of the browser's own page too, which stands for a boot page that was lost.
    frame.addEventListener("load", () => {
      if (pause > SPARE_PAUSE_MAX) return;
      setTimeout(() => {
        if (spare.hasBegun || !this.#spares.includes(spare)) return;
        const { src } = frame;
        frame.src = src;
      }, pause);
      pause *= 2;
    });
    this.#document.body.append(frame);
    this.#spares.push(spare);
  }

  /** The boot page of a spare passes the port on to its service worker; then its frame has done its work. */
  #handPort(slot: Slot, { frame, isReady }: Spare): void {
    // One that is still loading asks by itself, and is known by then.
    if (isReady && frame.contentWindow !== null) this.sendPort(slot, frame.contentWindow);
    setTimeout(() => frame.remove(), BOOT_FRAME_LIFETIME);
  }
}

/** One is taken by the next site, and one by the site after it, which may come before the first is replaced. */
const SPARES = 2;

/** Milliseconds until a spare whose boot page was lost is booted again; twice as long each time, up to the second. */
const SPARE_PAUSE = 5_000;
const SPARE_PAUSE_MAX = 300_000;

/** Long enough for the slowest phone to install a service worker; the frame costs memory only. */
const BOOT_FRAME_LIFETIME = 20_000;
