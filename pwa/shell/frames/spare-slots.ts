import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import type { PageToShell } from "../../messages/page-messages.ts";
import type { KeyValueStorage } from "../app/settings.ts";
import type { HostWish, SlotHosts } from "./slot-hosts.ts";

interface Spare {
  readonly label: string;
  readonly frame: HTMLIFrameElement;
  /** `unwiped`: with what another origin may have left; `ready`: its boot page waits for a port. */
  state: "unwiped" | "booting" | "ready";
  /** Its first document is there. */
  hasBegun: boolean;
}

/** A slot that is taken by a site. */
export type TakenSlot =
  /** Its boot page waits for a port, or is on its way. */
  | { readonly kind: "ready" | "booting"; readonly label: string; readonly frame: HTMLIFrameElement }
  /** Without a frame, and with nothing of another origin's. */
  | { readonly kind: "bare"; readonly label: string }
  /** Without a frame, and perhaps with data that another origin left. */
  | { readonly kind: "unwiped"; readonly label: string };

export interface SpareSlotsOptions {
  readonly document: Document;
  readonly hosts: SlotHosts;
  readonly keptSpares: KeptSpares;
  /** Whether something of this window is on its way to the host. */
  readonly isComing: (label: string) => boolean;
}

const FOR_SITE: HostWish = { isFrame: false, isAsked: false, isSpare: true };

/**
 * Hidden frames with slots that no site has yet, whose service workers are installed before any site needs them, so that
 * a new site costs no round trip to set up.
 */
export class SpareSlots {
  readonly #options: SpareSlotsOptions;
  /** Ready ones first. */
  #spares: Spare[] = [];
  /** Labels of slots from the last sitting, whose service workers are installed. They have no frame yet. */
  #kept: string[] = [];
  /** Frames of slots that were taken, by label. They are removed when they have passed the port on. */
  readonly #handedOver = new Map<string, HTMLIFrameElement>();
  #waiting: { readonly key: string; readonly callback: () => void }[] = [];

  constructor(options: SpareSlotsOptions) {
    this.#options = options;
  }

  /**
   * Takes the slots that were kept from the last sitting. Their frames wait for `prepare`: a slot that is installed needs
   * no network, but Chromium opens a connection to the host of every frame that sets out for it.
   *
   * @param isFree no site has it.
   */
  async restore(isFree: (label: string) => boolean): Promise<void> {
    const { hosts, keptSpares } = this.#options;
    const labels = await keptSpares.take();
    this.#kept = labels.filter((label) => hosts.labelOf(hosts.originOf(label)) !== null && isFree(label));
    // Where there is a list, what is kept here others lack.
    for (const label of this.#kept.splice(hosts.spares)) if (hosts.areUsedAgain) keptSpares.forget(label);
  }

  /**
   * Boots a slot in a hidden frame, a kept one or another, unless there are enough. For when nothing else is on the link.
   *
   * @returns whether there are enough now, or none is to be had.
   */
  prepare(): boolean {
    const { spares } = this.#options.hosts;
    if (this.#spares.length < spares && !this.add(FOR_SITE)) return true;
    return this.#spares.length >= spares;
  }

  /** @returns false where no host is free. */
  add(wish: HostWish): boolean {
    const kept = this.#kept.shift();
    const label = kept ?? this.#fresh(wish);
    if (label === null) return false;
    this.#boot(label, kept === undefined && this.#options.hosts.areUsedAgain ? "unwiped" : "booting");
    return true;
  }

  /** A spare that is ready, or a label kept from the last sitting, which boots in the page's own frame. Null where there is none. */
  takeAlive(): TakenSlot | null {
    if (this.#spares[0]?.state !== "ready") {
      const kept = this.#kept.shift();
      return kept === undefined ? null : { kind: "bare", label: kept };
    }
    return this.#take();
  }

  /** @returns null where no host is free. */
  takeAny(wish: HostWish): TakenSlot | null {
    const alive = this.takeAlive() ?? this.#take();
    if (alive !== null) return alive;
    const label = this.#fresh(wish);
    return label === null ? null : { kind: this.#options.hosts.areUsedAgain ? "unwiped" : "bare", label };
  }

  /** The slot was taken. Its frame passes the port on to the service worker, and is then not needed any more. */
  handOver({ label, frame }: TakenSlot & { readonly frame: HTMLIFrameElement }): void {
    this.#handedOver.set(label, frame);
    setTimeout(() => this.#removeFrame(label), BOOT_FRAME_LIFETIME);
  }

  /**
   * Calls once, when a spare is ready, or one that was on its way is given up.
   *
   * @param key of the slot: one host is made ready for all that want the same.
   * @returns false where none is to come.
   */
  whenReady(key: string, callback: () => void, wish: HostWish): boolean {
    const onTheirWay = this.#spares.filter(({ state }) => state !== "ready").length;
    const wanted = new Set(this.#waiting.map((each) => each.key));
    const needsAnother = !wanted.has(key) && onTheirWay <= wanted.size;
    if (needsAnother && !this.add(wish) && onTheirWay === 0) return false;
    this.#waiting.push({ key, callback });
    return true;
  }

  /** A frame that stands for no origin yet is there, or asks for a port: a spare, which gets one once it is taken. */
  hear(type: PageToShell["type"], source: Window): void {
    const spare = this.#spares.find(({ frame }) => frame.contentWindow === source);
    if (spare === undefined) return;
    spare.hasBegun = true;
    if (type !== "port-wanted" || spare.state === "unwiped") return;
    spare.state = "ready";
    this.#spares.sort((one, other) => Number(other.state === "ready") - Number(one.state === "ready"));
    void this.#options.keptSpares.keep(spare.label);
    this.#callWaiting();
  }

  /** Whether the window is a spare's that is to be wiped. */
  isUnwiped(label: string, source: Window): boolean {
    return this.#spares.some(
      (spare) => spare.label === label && spare.state === "unwiped" && spare.frame.contentWindow === source,
    );
  }

  onWiped(label: string): void {
    const spare = this.#spares.find((each) => each.label === label);
    if (spare !== undefined) spare.state = "booting";
  }

  /** The spare cannot be had. */
  drop(label: string): void {
    const spare = this.#spares.find((each) => each.label === label);
    this.#spares = this.#spares.filter((each) => each !== spare);
    spare?.frame.remove();
    this.#callWaiting();
  }

  #take(): TakenSlot | null {
    const spare = this.#spares.shift();
    if (spare === undefined) return null;
    const { label, frame, state } = spare;
    // Frames may wait for it: they ask for another.
    if (state !== "ready") queueMicrotask(() => this.#callWaiting());
    if (state !== "unwiped") return { kind: state, label, frame };
    // The page's own frame does it.
    frame.remove();
    return { kind: "unwiped", label };
  }

  #fresh(wish: HostWish): string | null {
    const { hosts, keptSpares, isComing } = this.#options;
    const kept = keptSpares.labels;
    const isFree = (label: string) =>
      !kept.includes(label) && !isComing(label) && !this.#spares.some((spare) => spare.label === label);
    const label = hosts.take(wish, isFree);
    // Its worker would count that as open.
    if (label !== null) this.#removeFrame(label);
    return label;
  }

  #removeFrame(label: string): void {
    this.#handedOver.get(label)?.remove();
    this.#handedOver.delete(label);
  }

  #callWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { callback } of waiting) callback();
  }

  #boot(label: string, state: "unwiped" | "booting"): void {
    const { document, hosts } = this.#options;
    const frame = createSlotFrame(document);
    frame.hidden = true;
    frame.setAttribute("aria-hidden", "true");
    frame.tabIndex = -1;
    frame.src = `${hosts.originOf(label)}${RESERVED_PATH}${state === "unwiped" ? "wipe" : "boot"}`;
    const spare: Spare = { label, frame, state, hasBegun: false };
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
    document.body.append(frame);
    this.#spares.push(spare);
  }
}

/** Milliseconds until a spare whose boot page was lost is booted again; twice as long each time, up to the second. */
const SPARE_PAUSE = 5_000;
const SPARE_PAUSE_MAX = 300_000;

/** Long enough for the slowest phone to install a service worker; the frame costs memory only. */
const BOOT_FRAME_LIFETIME = 20_000;

/** Milliseconds after a page has loaded before the link is used for what may be needed next. */
export const QUIET_TIME = 1_000;

/** As of `SlotFrames`. */
interface ScheduledSpares {
  restoreSpares(): Promise<void>;
  prepareSpare(): boolean;
}

/** Boots spare slots while no page loads: each costs a connection and some bytes, which no page should have to share. */
export class SpareSchedule {
  readonly #slots: ScheduledSpares;
  readonly #isBusy: () => boolean;
  #isStarted = false;
  #isPlanned = false;

  constructor(slots: ScheduledSpares, isBusy: () => boolean) {
    this.#slots = slots;
    this.#isBusy = isBusy;
  }

  /** Takes the slots that were kept from the last sitting, too. */
  async start(): Promise<void> {
    await this.#slots.restoreSpares();
    this.#isStarted = true;
    this.plan();
  }

  /** A page may have loaded. */
  plan(): void {
    if (!this.#isStarted || this.#isPlanned || this.#isBusy()) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      if (!this.#isBusy() && !this.#slots.prepareSpare()) this.plan();
    }, QUIET_TIME);
  }
}

const STORAGE_KEY = "ropeway.spare-slots";

/** Spares that are kept, of all tabs together. */
const KEPT_MAX = 6;

/** The part of `LockManager` that is used. */
export interface Locks {
  request<T>(name: string, options: LockOptions, callback: (lock: Lock | null) => Promise<T>): Promise<T>;
}

/**
 * The spare slots over restarts of the app: one whose service worker is installed opens a new site without a round
 * trip, also right after a cold start. Only one window of the app may have it, or a slot would come to stand for two origins: whoever
 * has it holds a lock of its name, which the browser releases however the window ends.
 */
export class KeptSpares {
  readonly #storage: KeyValueStorage;
  readonly #locks: Locks | null;
  /** Labels whose lock this tab holds. */
  #owned = new Set<string>();
  /** Labels that this tab has given to origins. */
  #assigned = new Set<string>();

  /** @param locks null where the browser has none: then nothing is kept. */
  constructor(storage: KeyValueStorage, locks: Locks | null) {
    this.#storage = storage;
    this.#locks = locks;
  }

  /** The kept labels, for this tab alone; without those that another tab has. */
  async take(): Promise<string[]> {
    const labels = this.#read();
    const owned = await Promise.all(labels.map((label) => this.#own(label)));
    // Another window may have given it to an origin meanwhile.
    const stillKept = this.#read();
    return labels.filter((label, index) => owned[index] === true && stillKept.includes(label));
  }

  /** The labels that are kept, of all tabs. */
  get labels(): readonly string[] {
    return this.#read();
  }

  /** Keeps the label of a spare of this tab, which is installed, for later. */
  async keep(label: string): Promise<void> {
    this.#assigned.delete(label);
    if (!(await this.#own(label)) || this.#assigned.has(label)) return;
    this.#write([label, ...this.#read().filter((other) => other !== label)].slice(0, KEPT_MAX));
  }

  /** The label stands for an origin from now on. */
  forget(label: string): void {
    this.#assigned.add(label);
    const labels = this.#read();
    // A shorter list fits even where nothing else can be stored.
    if (labels.includes(label)) this.#write(labels.filter((other) => other !== label));
  }

  #read(): string[] {
    try {
      const labels: unknown = JSON.parse(this.#storage.getItem(STORAGE_KEY) ?? "[]");
      return Array.isArray(labels) ? labels.filter((label) => typeof label === "string") : [];
    } catch {
      return [];
    }
  }

  #write(labels: readonly string[]): void {
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(labels));
  }

  async #own(label: string): Promise<boolean> {
    if (this.#owned.has(label)) return true;
    if (this.#locks === null) return false;
    const locks = this.#locks;
    const owned = await new Promise<boolean>((resolve) => {
      const held = locks.request(`${STORAGE_KEY}.${label}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        // Held until the tab ends: another one may have read the label before it was forgotten.
        return lock === null ? Promise.resolve() : new Promise<void>(() => {});
      });
      held.catch(() => resolve(false));
    });
    if (owned) this.#owned.add(label);
    return owned;
  }
}

/** No top navigation (frame busting), no presentation. A lock of the pointer needs a click, and Escape ends it. */
const SANDBOX =
  "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals allow-pointer-lock allow-orientation-lock";
/**
 * Delegated to pages: what a browser allows without a question. What it asks for (location, camera) it would ask once, for
 * the shell, and then allow to every site: see `permissions.ts`. Of any slot, since the frame goes from one to the next
 * without a new `src`.
 */
const DELEGATED =
  "fullscreen autoplay clipboard-write encrypted-media picture-in-picture screen-wake-lock accelerometer gyroscope magnetometer cross-origin-isolated"
    .split(" ")
    .map((feature) => `${feature} *`);
/**
 * They pass the service worker, as `slotPermissionsPolicy` says. A browser drops that field where the site's own part of it
 * is malformed.
 */
const FORBIDDEN = ["sync-xhr", "deferred-fetch", "deferred-fetch-minimal"].map((feature) => `${feature} 'none'`);

/** The iframe that documents of slots are shown in. */
export function createSlotFrame(document: Document): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", SANDBOX);
  return frame;
}

/** The frame that a person looks at. */
export function createPageFrame(document: Document): HTMLIFrameElement {
  const frame = createSlotFrame(document);
  frame.title = "Page";
  frame.allow = [...DELEGATED, ...FORBIDDEN].join("; ");
  return frame;
}
