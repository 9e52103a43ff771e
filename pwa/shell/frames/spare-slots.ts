/**
 * Hidden frames with slots that no site has yet, whose service workers are installed before any site needs them, so that
 * a new site costs no round trip to set up.
 */
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import type { PageToShell } from "../../messages/page-messages.ts";
import type { HostWish } from "./host-choice.ts";
import type { KeptSpares } from "./kept-spares.ts";
import { createSlotFrame } from "./slot-frame.ts";
import type { SlotHosts } from "./slot-hosts.ts";

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
  /** It has no frame, and nothing of another origin's. */
  | { readonly kind: "bare"; readonly label: string }
  /** It has no frame, and may have what another origin left. */
  | { readonly kind: "unwiped"; readonly label: string };

export interface SpareSlotsOptions {
  readonly document: Document;
  readonly hosts: SlotHosts;
  readonly keptSpares: KeptSpares;
  /** Whether something of this window is on its way to the host. */
  readonly isComing: (label: string) => boolean;
}

const FOR_SITE: HostWish = { isFrame: false, isAsked: false };

export class SpareSlots {
  readonly #options: SpareSlotsOptions;
  /** Ready ones first. */
  #spares: Spare[] = [];
  /** Labels of slots from the last sitting, whose service workers are installed. They have no frame yet. */
  #kept: string[] = [];
  /** Frames of slots that were taken, by label. They are removed when they have passed the port on. */
  readonly #handedOver = new Map<string, HTMLIFrameElement>();
  #waiting: (() => void)[] = [];

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

  /** One whose service worker is there, or was: a kept one boots in the page's own frame. Null where there is none. */
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

  /** Calls once, when a spare is ready or one less is to come. @returns false where none is to come. */
  whenReady(callback: () => void, wish: HostWish): boolean {
    const onTheirWay = this.#spares.filter(({ state }) => state !== "ready").length;
    if (onTheirWay <= this.#waiting.length && !this.add(wish)) return false;
    this.#waiting.push(callback);
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

  /** It cannot be had. */
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
    for (const callback of waiting) callback();
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
