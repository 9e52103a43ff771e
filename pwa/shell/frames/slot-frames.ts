import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { MESSAGE_TAG, type PageToShell, type ShellToPage, type WipeNews } from "../../messages/page-messages.ts";
import type { PageOrder, PagePlaces, PlaceSeeker, Slot } from "./places.ts";
import type { SlotHosts } from "./slot-hosts.ts";
import type { SlotRegistry } from "./slot-registry.ts";
import { type KeptSpares, SpareSlots, type TakenSlot } from "./spare-slots.ts";

/** How many windows can find their openers at a time. */
const MEETINGS = 8;

/** In which a window and its opener of one origin find each other. */
export interface Meeting {
  readonly id: string;
  readonly end: () => void;
}

function createMeeting(document: Document): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-same-origin");
  frame.hidden = true;
  return frame;
}

/** A page's slot on a host that is wiped, in the page's own frame, before it is the slot's. */
interface ComingSlot {
  readonly slot: Slot;
  realUrl: string;
  /** Wipes it. No other may have a document there meanwhile. */
  seeker: PlaceSeeker | null;
  readonly waiting: Set<PlaceSeeker>;
}

export interface SlotFramesOptions {
  readonly registry: SlotRegistry;
  readonly keptSpares: KeptSpares;
  readonly document: Document;
  readonly hosts: SlotHosts;
  readonly bindPort: (slot: Slot) => MessagePort;
  /** Whether the app is open in other windows, too. */
  readonly hasOtherWindows: () => boolean;
  /** The page's frame was on its way to this origin, and there is no host for it after all. */
  readonly onNoHost: (origin: string) => void;
}

/** The slots of this window: which origin has which, and where a frame goes to show a page of it. */
export class SlotFrames {
  readonly #options: SlotFramesOptions;
  readonly #registry: SlotRegistry;
  readonly #hosts: SlotHosts;
  readonly #spares: SpareSlots;
  /** By label. Each tab's frame has one at most. */
  readonly #coming = new Map<string, ComingSlot>();
  /** Labels of slots that were taken before their boot page was through. */
  #unbooted = new Set<string>();
  /** Labels of slots whose service worker got a port of this window. */
  #connected = new Set<string>();
  #timesAgain = 0;
  /** Frames in whose place others can meet. Null: no window was opened yet. */
  #blanks: HTMLIFrameElement[] | null = null;
  /** Label of the slot to whose boot page the page's frame was sent last. It may be there still. */
  #bootingPage: string | null = null;

  constructor(options: SlotFramesOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.#hosts = options.hosts;
    const { document, hosts, keptSpares } = options;
    const isComing = (label: string) => this.#coming.has(label);
    this.#spares = new SpareSlots({ document, hosts, keptSpares, isComing });
  }

  /**
   * Gives two windows of a slot a document where they find each other: their own frames are in a shadow tree, where no
   * script finds them. Any page can count these frames, so blank ones stand in for those that are to come. Each is a new one: a
   * frame that goes from place to place takes part in the history.
   *
   * @param onThere the document is there.
   * @returns null where too many meet, or the host may be another slot's before they have parted.
   */
  meet(slot: Slot, onThere: () => void): Meeting | null {
    if (!slot.topLevel || this.areUsedAgain) return null;
    const { document } = this.#options;
    if (this.#blanks === null) {
      this.#blanks = Array.from({ length: MEETINGS }, () => createMeeting(document));
      document.body.append(...this.#blanks);
    }
    const blank = this.#blanks.pop();
    if (blank === undefined) return null;
    const id = crypto.randomUUID();
    const frame = createMeeting(document);
    frame.src = `${this.originOf(slot)}${RESERVED_PATH}meeting?${id}`;
    frame.addEventListener("load", onThere);
    blank.replaceWith(frame);
    return {
      id,
      end: () => {
        frame.replaceWith(blank);
        this.#blanks?.push(blank);
      },
    };
  }

  /** As of `SlotHosts`. */
  get areUsedAgain(): boolean {
    return this.#hosts.areUsedAgain;
  }

  /** The slot that `origin` (an event's, a frame's) belongs to, or null. */
  slotOf(origin: string): Slot | null {
    const label = this.#hosts.labelOf(origin);
    return label === null ? null : this.#registry.byLabel(label);
  }

  /** The slot that the page's frame wipes a host for. */
  comingTo(origin: string): Slot | null {
    const label = this.#hosts.labelOf(origin);
    return (label !== null && this.#coming.get(label)?.slot) || null;
  }

  /** The slot of an origin, if it has one. */
  find(origin: string, topLevelOrigin: string): Slot | null {
    if (origin === topLevelOrigin)
      for (const { slot } of this.#coming.values()) if (slot.origin === origin) return slot;
    return this.#registry.find(origin, topLevelOrigin);
  }

  originOf(slot: Slot): string {
    return this.#hosts.originOf(slot.label);
  }

  /**
   * The slot of a page's origin; takes the spare when it is a new one.
   *
   * @returns null where no host is free.
   */
  slotFor(origin: string): Slot | null {
    const known = this.find(origin, origin);
    if (known !== null) return known;
    const taken = this.#spares.takeAny({ isFrame: false, isAsked: false });
    if (taken === null) return null;
    if (taken.kind !== "unwiped") return this.#assign(taken, origin, origin);
    const slot: Slot = { label: taken.label, origin, topLevelOrigin: origin, topLevel: true };
    // Nobody has gone to the one before.
    for (const coming of this.#coming.values()) if (coming.seeker === null) this.#drop(coming);
    this.#coming.set(slot.label, { slot, realUrl: origin, seeker: null, waiting: new Set() });
    this.#unbooted.add(slot.label);
    return slot;
  }

  /**
   * The slot of a frame in a page. Its host is wiped before that, in a frame of its own: several may ask for one.
   *
   * @param isAsked the person wants it.
   * @param again is called where this returns "later", and asks once more.
   * @returns null where no host is free.
   */
  frameSlotFor(origin: string, topLevelOrigin: string, isAsked: boolean, again: () => void): Slot | "later" | null {
    const known = this.find(origin, topLevelOrigin);
    if (known !== null) return known;
    const wish = { isFrame: origin !== topLevelOrigin, isAsked };
    if (!this.#hosts.areUsedAgain) return this.#assignAny(this.#spares.takeAny(wish), origin, topLevelOrigin);
    const taken = this.#hosts.hasRoomFor(wish) ? this.#spares.takeAlive() : null;
    const slot = this.#assignAny(taken, origin, topLevelOrigin);
    if (slot !== null) return slot;
    return this.#spares.whenReady(`${topLevelOrigin} ${origin}`, again, wish) ? "later" : null;
  }

  /**
   * For a slot that cannot be set up since the edge is away: the browser has evicted its storage, and its service worker
   * with that. A spare that has its own takes the slot's place in this window, until `endStandIns`: the one that did so in
   * the app's last run, if there is one.
   *
   * @returns false where there is none.
   */
  standIn(slot: Slot): boolean {
    // Labels of a list may have gone to another origin since.
    const former = this.#hosts.areUsedAgain ? null : this.#registry.formerStandIn(slot);
    const taken = former === null ? this.#spares.takeAlive() : ({ kind: "bare", label: former } as const);
    if (taken === null) return false;
    this.#connected.delete(slot.label);
    this.#unbooted.add(slot.label);
    this.#bringIn(this.#registry.standIn(taken.label, slot), taken);
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
   * - The host was another origin's when this window had it last.
   */
  needsBootPage(slot: Slot): boolean {
    if (!this.isBooted(slot) || !this.#connected.has(slot.label)) return true;
    return this.#options.hasOtherWindows() || this.#hosts.isNewHere(slot);
  }

  /**
   * Where the slot shows a real URL of its origin; by its boot page where that is needed, or the frame may be there already.
   * A boot page that is sent to another page of the slot loads anew: a new fragment alone would leave it as it is, and
   * Chromium then gives up the way that it was on.
   *
   * @param isAgain the address differs from that of any document so far by more than its fragment.
   */
  slotUrl(slot: Slot, realUrl: string, isAgain = false): string {
    this.#hosts.use(slot);
    const url = new URL(realUrl);
    const path = `${url.pathname}${url.search}${url.hash}`;
    const isDirect = !this.needsBootPage(slot) && !isAgain;
    const isBooting = slot.topLevel && this.#bootingPage === slot.label;
    if (slot.topLevel) this.#bootingPage = isDirect ? null : slot.label;
    if (isDirect) return `${this.originOf(slot)}${path}`;
    const query = isAgain || isBooting ? `?again=${++this.#timesAgain}` : "";
    const document = this.#coming.get(slot.label)?.slot === slot ? "wipe" : "boot";
    return `${this.originOf(slot)}${RESERVED_PATH}${document}${query}#then=${encodeURIComponent(path)}`;
  }

  /**
   * As `slotUrl`, for a tab's frame.
   *
   * @returns "later" as of `PagePlaces.addressOf`. A frame that asks once more has waited for long, and takes the turn.
   */
  pageUrl(slot: Slot, realUrl: string, isAgain: boolean, seeker: PlaceSeeker): string | "later" {
    this.leave(seeker, slot);
    const coming = this.#coming.get(slot.label);
    if (coming?.slot === slot) {
      const isOthers = coming.seeker !== null && coming.seeker !== seeker;
      if (isOthers && !coming.waiting.delete(seeker)) {
        coming.waiting.add(seeker);
        return "later";
      }
      Object.assign(coming, { realUrl, seeker });
    }
    return this.slotUrl(slot, realUrl, isAgain);
  }

  /** @param next where the frame goes. */
  leave(seeker: PlaceSeeker, next: Slot | null = null): void {
    for (const coming of this.#coming.values()) {
      if (coming.slot === next) continue;
      coming.waiting.delete(seeker);
      if (coming.seeker === seeker) this.#drop(coming);
    }
  }

  /** The host is the slot's now, or is not to be. */
  #drop({ slot, waiting }: ComingSlot): void {
    this.#coming.delete(slot.label);
    for (const each of [...waiting]) each.onPlace();
  }

  /** Whether the slot's service worker is known to answer. */
  isBooted(slot: Slot): boolean {
    return !this.#unbooted.has(slot.label);
  }

  /** The slot's service worker answers from now on. */
  onReady(slot: Slot): void {
    this.#unbooted.delete(slot.label);
  }

  /** As `SpareSlots.restore`. */
  restoreSpares(): Promise<void> {
    return this.#spares.restore((label) => this.#registry.byLabel(label) === null);
  }

  /** As `SpareSlots.prepare`. */
  prepareSpare(): boolean {
    return this.#spares.prepare();
  }

  /** Whether entries of this window's history may be of other origins that the host had. */
  hasMoved({ label }: Slot): boolean {
    return this.#hosts.hasMoved(label);
  }

  /** Answers whoever asks for a port in the name of a slot. */
  sendPort(slot: Slot, target: Window): void {
    const isNewHere = this.#hosts.isNewHere(slot);
    this.#hosts.show(slot);
    const message: ShellToPage = { tag: MESSAGE_TAG, type: "port", topLevel: slot.topLevel, isNewHere };
    target.postMessage(message, this.originOf(slot), [this.#options.bindPort(slot)]);
    this.#connected.add(slot.label);
  }

  /** As `SpareSlots.hear`. */
  onUnassignedFrame(type: PageToShell["type"], source: Window): void {
    this.#spares.hear(type, source);
  }

  /** The document may go on only where this window has sent it to the host, in whatever window it is. */
  onWipe({ news }: WipeNews, origin: string, source: Window): void {
    const label = this.#hosts.labelOf(origin);
    if (label === null) return;
    const coming = source.parent === window ? (this.#coming.get(label) ?? null) : null;
    if (coming === null && !this.#spares.isUnwiped(label, source)) return;
    const isKept = news.kind === "ready" && news.permissions.length > 0;
    if (news.kind === "ready" && news.isAlone && !isKept) {
      this.#registry.evict(label);
      this.#connected.delete(label);
      source.postMessage({ tag: MESSAGE_TAG, type: "wipe" } satisfies ShellToPage, origin);
    } else if (news.kind === "done" && news.isEmpty) {
      if (coming === null) return this.#spares.onWiped(label);
      this.#coming.delete(label);
      const { origin: real } = coming.slot;
      const known = this.#registry.find(real, real);
      if (known === null) this.#registry.assign(label, real, real);
      // Another window has given it one meanwhile.
      else source.location.replace(this.slotUrl(known, coming.realUrl));
      this.#drop(coming);
    } else {
      this.#hosts.refuse(label, isKept);
      if (coming === null) this.#spares.drop(label);
      else this.#goOn(coming, source);
    }
  }

  /** To another host. */
  #goOn(coming: ComingSlot, source: Window): void {
    const { slot, realUrl, seeker } = coming;
    this.#coming.delete(slot.label);
    this.#unbooted.delete(slot.label);
    const next = this.slotFor(slot.origin);
    if (next === null) this.#options.onNoHost(slot.origin);
    else {
      const url = seeker === null ? this.slotUrl(next, realUrl) : this.pageUrl(next, realUrl, false, seeker);
      if (url !== "later") source.location.replace(url);
    }
    this.#drop(coming);
  }

  #assignAny(taken: TakenSlot | null, origin: string, topLevelOrigin: string): Slot | null {
    return taken === null ? null : this.#assign(taken, origin, topLevelOrigin);
  }

  #assign(taken: TakenSlot, origin: string, topLevelOrigin: string): Slot {
    return this.#bringIn(this.#registry.assign(taken.label, origin, topLevelOrigin), taken);
  }

  #bringIn(slot: Slot, taken: TakenSlot): Slot {
    this.#options.keptSpares.forget(slot.label);
    if (taken.kind !== "ready") this.#unbooted.add(slot.label);
    if (!("frame" in taken)) return slot;
    // A frame that is still loading asks by itself, and is known by then.
    if (taken.kind === "ready" && taken.frame.contentWindow !== null) this.sendPort(slot, taken.frame.contentWindow);
    this.#spares.handOver(taken);
    return slot;
  }
}

/** Each site's pages live in the slot of its own. */
export class SlotPlaces implements PagePlaces {
  readonly #slots: SlotFrames;

  constructor(slots: SlotFrames) {
    this.#slots = slots;
  }

  hasPlaceFor(url: string): boolean {
    return this.#slotOf(url) !== null;
  }

  addressOf(url: string, isAgain: boolean, seeker: PlaceSeeker): { readonly href: string } | "later" | null {
    const slot = this.#slotOf(url);
    const href = slot && this.#slots.pageUrl(slot, url, isAgain, seeker);
    return href === null || href === "later" ? href : { href };
  }

  leave(seeker: PlaceSeeker): void {
    this.#slots.leave(seeker);
  }

  needsBootPage(url: string): boolean {
    const { origin } = new URL(url);
    const slot = this.#slots.find(origin, origin);
    return slot === null || this.#slots.needsBootPage(slot);
  }

  isBooted(origin: string): boolean {
    const slot = this.#slots.find(origin, origin);
    return slot !== null && this.#slots.isBooted(slot);
  }

  standIn(url: string): boolean {
    const slot = this.#slotOf(url);
    return slot !== null && this.#slots.standIn(slot);
  }

  endStandIns(): void {
    this.#slots.endStandIns();
  }

  tell(message: PageOrder, page: Window, url?: string): void {
    if (url === undefined) return page.postMessage(message, "*");
    const { origin } = new URL(url);
    const slot = this.#slots.find(origin, origin);
    if (slot !== null) page.postMessage(message, this.#slots.originOf(slot));
  }

  /** A slot's own URL as the real one; any other as it is. */
  toReal(url: string, slot: Slot): string {
    const slotOrigin = this.#slots.originOf(slot);
    return url === slotOrigin || url.startsWith(`${slotOrigin}/`) ? slot.origin + url.slice(slotOrigin.length) : url;
  }

  #slotOf(url: string): Slot | null {
    return this.#slots.slotFor(new URL(url).origin);
  }
}

/** The part of `BroadcastChannel` that is used. */
export interface WindowChannel {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

type WindowMessage =
  /** Asks other windows whether they are there. */
  | { readonly type: "opened"; readonly id: string }
  /** Answer to "opened". */
  | { readonly type: "there"; readonly id: string }
  | { readonly type: "closed"; readonly id: string };

/**
 * Whether this browser has other windows of the app open. They say so to each other; one that crashed is taken to be
 * there, which only costs a detour (slot-frames.ts).
 */
export class OtherWindows {
  readonly #channel: WindowChannel;
  readonly #id: string;
  readonly #others = new Set<string>();

  /** @param id of this window. */
  constructor(channel: WindowChannel, id: string = crypto.randomUUID()) {
    this.#channel = channel;
    this.#id = id;
    channel.onmessage = ({ data }) => this.#receive(data as WindowMessage);
    this.open();
  }

  /** As far as is known: what was opened in the last milliseconds may not have been heard of. */
  get areOpen(): boolean {
    return this.#others.size > 0;
  }

  /** This window is shown; again, if it was kept after `close`. */
  open(): void {
    this.#post("opened");
  }

  close(): void {
    this.#post("closed");
  }

  #receive({ type, id }: WindowMessage): void {
    if (type === "closed") {
      this.#others.delete(id);
      return;
    }
    this.#others.add(id);
    if (type === "opened") this.#post("there");
  }

  #post(type: WindowMessage["type"]): void {
    const message: WindowMessage = { type, id: this.#id };
    this.#channel.postMessage(message);
  }
}
