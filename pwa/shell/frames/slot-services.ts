import { type KeyPress, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import type { SlotBinding } from "../../messages/port-messages.ts";
import type { FrameStart } from "../../messages/tunnel-messages.ts";
import { withFormMark } from "../../slot/slot-url.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";
import type { Slot } from "./places.ts";
import type { SlotFrames } from "./slot-frames.ts";

/** Messages of any document in the page that are about the page. */
export type OfFrame = PageToShell & { readonly type: "navigate" | "trouble" };

export type Activation = Pick<UserActivation, "isActive" | "hasBeenActive">;

/** Chromium tells what the person has done in the window that speaks. */
export type PageMessage = MessageEvent<PageToShell | null> & { readonly userActivation?: Activation | null };

/** A frame of another site, as the document around it says: what is in the frame would say that it may all. */
export interface FrameNote {
  readonly sandbox?: unknown;
  readonly allow?: unknown;
  /** The address that the page gave it; "" for one of its own. */
  readonly url: string;
  /** Of the slot that says so. */
  readonly label: string;
  readonly origin: string;
}

/** Characters of a text that a page says: Chromium has no longer address. */
const LONGEST_TEXT = 2 ** 21;

const TEXTS = /^(?:url|title|historyKey|message)$/;

/** Whether the app heeds what a window posts to it. */
export function isForApp(data: PageToShell | null): data is PageToShell {
  return data?.tag === MESSAGE_TAG && isSound(data);
}

/**
 * Whether a message of a page, which can be anything, is worth a look: addresses and the like are texts, and no text in it
 * is so long that the app would stand still to keep or show it. Nor is anything in it twice: forty objects that each hold the
 * next one twice are a tree without end, an array of four thousand million holes is a few bytes, and a number may have as many
 * digits. What one page posts to another (`data`) is theirs.
 */
export function isSound(said: unknown): boolean {
  const seen = new Set<unknown>();
  const all: (readonly [name: string, value: unknown])[] = [["", said]];
  for (const [name, value] of all) {
    const isText = typeof value === "string";
    if (isText ? value.length > LONGEST_TEXT : TEXTS.test(name) || seen.has(value)) return false;
    if (typeof value === "bigint") return false;
    if (!/Object]|t Array]/.test({}.toString.call(value))) continue;
    seen.add(value);
    const parts = Object.entries(value as object);
    if (Array.isArray(value) && value.length !== parts.length) return false;
    for (const part of parts) if (part[0] !== "data") all.push(part);
  }
  return true;
}

class FrameNotes {
  readonly #known = new WeakMap<Window, FrameNote>();

  /** The first to speak for a frame is of the site around it. */
  note(frame: Window, note: FrameNote): void {
    const known = this.#known.get(frame);
    if (note.sandbox !== undefined && (known === undefined || known.label === note.label)) this.#known.set(frame, note);
  }

  /** Of a frame and those around it; undefined for one of the site around it. Null: it is not in the page. */
  around(frame: Window, page: Window | null): (FrameNote | undefined)[] | null {
    const notes: (FrameNote | undefined)[] = [];
    for (let each = frame; each !== page; each = each.parent) {
      if (each === each.parent) return null;
      notes.push(this.#known.get(each));
    }
    return notes;
  }
}

/** Services of the shell to documents in slots, wherever they are in a page: ports, names, and slots for their frames. */
export class SlotServices {
  readonly #slots: SlotFrames;
  readonly #tunnel: Pick<TunnelClient, "tell">;
  readonly #onKey: (press: KeyPress, source: Window) => void;
  readonly #mayShowEntry: (slotUrl: string, slot: Slot, page: Window) => boolean;
  readonly #referrers = new FrameReferrers();
  readonly frames = new FrameNotes();

  /**
   * @param onKey a key of the app's was pressed in a page, as that says.
   * @param mayShowEntry whether the entry of the page's history is of the slot. `page`: the window that the history has led there.
   */
  constructor(
    slots: SlotFrames,
    tunnel: Pick<TunnelClient, "tell">,
    onKey: (press: KeyPress, source: Window) => void,
    mayShowEntry: (slotUrl: string, slot: Slot, page: Window) => boolean,
  ) {
    this.#slots = slots;
    this.#tunnel = tunnel;
    this.#onKey = onKey;
    this.#mayShowEntry = mayShowEntry;
  }

  /**
   * @param slot the slot that speaks, from the event's origin. @param activation as of `#mayLead`: a key that was pressed in a
   *   document is one, but for Escape (HTML section 6.4.1).
   */
  onMessage(message: PageToShell, slot: Slot, source: Window, activation?: Activation): void {
    switch (message.type) {
      case "port-wanted":
        if (message.backTo !== undefined && !this.#mayGoBack(message.backTo, slot, source)) return;
        this.#slots.onReady(slot);
        this.#slots.sendPort(slot, source);
        return;
      case "key":
        if (activation?.isActive !== false || message.press?.key === "Escape") this.#onKey(message.press, source);
        return;
      case "origins-wanted":
        source.postMessage(answerOrigins(message.origins, slot, this.#slots), this.#slots.originOf(slot));
        return;
      case "frame-wanted":
        this.#sendFrame(message, slot, source);
    }
  }

  /**
   * What the page is taken to say where a document in it says this: a wish to lead the page counts as the page's own, where
   * the frame may ask; else a tap has led nowhere. Null: nothing.
   *
   * @param activation as of `#mayLead`.
   */
  forPage(
    message: OfFrame,
    slot: Slot | null,
    frames: { readonly source: Window; readonly page: Window | null },
    activation?: Activation,
  ): PageToShell | null {
    if (slot === null || this.frames.around(frames.source, frames.page) === null) return null;
    if (message.type === "trouble" || this.#mayLead(message, slot, frames, activation)) return message;
    return activation?.isActive === true ? { tag: MESSAGE_TAG, type: "trouble", trouble: "tap" } : null;
  }

  /**
   * Whether a frame may lead the page, or open a window: as HTML has it (section 7.4.2.4, "allowed by sandboxing to
   * navigate"), and with what the person has to have done in a frame of another site, as in Chromium.
   *
   * @param activation of the frame, where the browser tells it; else what the person has done anywhere in the app counts.
   */
  #mayLead(
    { leads, opens, sandbox, url }: PageToShell & { type: "navigate" },
    slot: Slot,
    frames: { readonly source: Window; readonly page: Window | null },
    activation: Activation = {
      isActive: navigator.userActivation.isActive,
      hasBeenActive: navigator.userActivation.isActive,
    },
  ): boolean {
    const around = this.frames.around(frames.source, frames.page);
    if (around === null || leads === undefined) return false;
    const allow = (...tokens: string[]) =>
      [sandbox, ...around.map((note) => note?.sandbox)].every(
        (each) => !Array.isArray(each) || tokens.some((token) => each.includes(token)),
      );
    const isOwn = slot.topLevel;
    if (leads === "window" || opens !== undefined) return allow("allow-popups") && (isOwn || activation.isActive);
    if (allow("allow-top-navigation")) return isOwn || activation.hasBeenActive || isOfSite(url, slot.topLevelOrigin);
    return activation.isActive && allow("allow-top-navigation", "allow-top-navigation-by-user-activation");
  }

  /** The entry may be of another origin, which had the host before. Of frames nobody knows. */
  #mayGoBack(slotUrl: string, slot: Slot, source: Window): boolean {
    if (!this.#slots.hasMoved(slot)) return true;
    if (source.parent === window) return this.#mayShowEntry(slotUrl, slot, source);
    source.postMessage({ tag: MESSAGE_TAG, type: "gone" } satisfies ShellToPage, this.#slots.originOf(slot));
    return false;
  }

  #sendFrame(message: PageToShell & { type: "frame-wanted" }, slot: Slot, frame: Window): void {
    const url = frameUrl(message.url);
    if (url === null || frame.closed) return;
    const { sandbox, allow, source = url.href } = message;
    this.frames.note(frame, { sandbox, allow, url: String(source), label: slot.label, origin: slot.origin });
    const isDeeper = ![frame.parent, frame.parent.parent].includes(window);
    const partition = framePartition(url.origin, slot, isDeeper);
    const again = () => this.#sendFrame(message, slot, frame);
    const frameSlot = this.#slots.frameSlotFor(url.origin, partition, message.isAsked === true, again);
    if (frameSlot === "later") return;
    if (frameSlot === null) {
      frame.postMessage({ tag: MESSAGE_TAG, type: "no-host" } satisfies ShellToPage, this.#slots.originOf(slot));
      return;
    }
    const form = typeof message.form === "string" ? { name: message.form, from: bindingOf(slot) } : undefined;
    const slotUrl = this.#slots.slotUrl(frameSlot, form ? withFormMark(url.href, form.name) : url.href);
    url.hash = "";
    const start = this.#referrers.start(frame, message, slot, url.href, frameSlot.label);
    const binding = bindingOf(frameSlot);
    this.#tunnel.tell({ type: "frame-starts", binding, url: url.href, start, ...(form && { form }) });
    const bootsInside = !binding.topLevel;
    const answer: ShellToPage = { tag: MESSAGE_TAG, type: "frame", slotUrl, topLevel: slot.topLevel, bootsInside };
    // The document around the frame is of the same slot, but where the frame's own one has asked.
    const names: ShellToPage = answerOrigins([this.#slots.originOf(frameSlot)], slot, this.#slots);
    frame.parent.postMessage(names, this.#slots.originOf(slot));
    frame.postMessage(answer, this.#slots.originOf(slot));
  }
}

function bindingOf({ origin, topLevelOrigin, topLevel }: Slot): SlotBinding {
  return { origin, topLevelOrigin, topLevel };
}

/** Whether the address is surely of the site of this page: Chromium lets frames lead a page within its site. */
function isOfSite(address: string, origin: string): boolean {
  const [url, page] = [URL.parse(address), new URL(origin)];
  if (url?.protocol !== page.protocol || /^[[\d.:\]]+$/.test(page.hostname)) return false;
  const [one, other] = [`.${url.hostname}`, `.${page.hostname}`];
  return one.endsWith(other) || other.endsWith(one);
}

type FrameWanted = PageToShell & { readonly type: "frame-wanted" };

/** The place where the first request of a frame comes from, as far as the shell knows it. */
export class FrameReferrers {
  /** Where frames were sent last. */
  readonly #sent = new WeakMap<Window, { readonly label: string; readonly url: string; readonly start: FrameStart }>();

  /**
   * A frame that is redirected goes on in the name of the document that sent it, as with a real redirect. It does not
   * if it leads back to that document's site: the site would not be told of the other one in between.
   *
   * @param asker the slot that speaks. Of what it says of itself only what is about its own origin counts.
   * @param url real, without a fragment, where the frame goes.
   * @param label of the slot that it goes to.
   */
  start(frame: Window, { referrer, movedFrom }: FrameWanted, asker: Slot, url: string, label: string): FrameStart {
    const sent = this.#sent.get(frame);
    const isMoved = typeof movedFrom === "string";
    let start: FrameStart = { referrer: "", initiator: asker.origin };
    if (isMoved && sent?.label === asker.label && sent.url === movedFrom) {
      if (!mayBeSameSite(sent.start.initiator, url)) start = { ...sent.start, referrer: cut(sent.start.referrer, url) };
    } else if (!isMoved && typeof referrer === "string" && URL.parse(referrer)?.origin === asker.origin) {
      start = { ...start, referrer };
    }
    this.#sent.set(frame, { label, url, start });
    return start;
  }
}

/** The referrer as the default policy has it for another origin. */
function cut(referrer: string, url: string): string {
  const { origin, protocol } = URL.parse(referrer) ?? {};
  if (origin === undefined || (protocol === "https:" && !url.startsWith(protocol))) return "";
  return `${origin}/`;
}

/** Whether a site could have both: a registrable domain has two labels or more. */
function mayBeSameSite(origin: string, url: string): boolean {
  const [one, other] = [origin, url].map((text) => new URL(text).hostname.split(".").slice(-2).join("."));
  return one === other;
}

/**
 * Under which top-level origin a frame is loaded. The page's own origin in a frame of another one is not the page: there
 * it has what that other one has, no cookies of the page's, and may refuse to be framed (as SameSite has it: RFC 6265bis
 * section 5.2.1, "site for cookies").
 *
 * @param asker the slot of the document that holds the frame's place.
 * @param isDeeper the frame is not the page's own.
 */
export function framePartition(
  origin: string,
  asker: Pick<Slot, "origin" | "topLevelOrigin">,
  isDeeper: boolean,
): string {
  const isForeign = asker.origin !== asker.topLevelOrigin;
  return isDeeper && isForeign && origin === asker.topLevelOrigin ? asker.origin : asker.topLevelOrigin;
}

/** RFC 1035 section 3.1, as text. */
const HOST_LENGTH_MAX = 253;

/**
 * The URL for which a page wants a slot for a frame, or null if there can be no such slot. A page may ask for anything,
 * and slots are kept.
 */
export function frameUrl(asked: string): URL | null {
  const url = URL.parse(asked);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > HOST_LENGTH_MAX) return null;
  return url;
}

/** A page asks for few; whatever asks for more is none. */
const ASKED_MAX = 16;

/**
 * Tells a page names of slots, which it needs for messages between windows. Of a slot in the same page it may know
 * the origin: the browser would tell it with each message. Elsewhere a slot tells where the person was; hosts of a list are
 * easily guessed. Of an origin it learns a slot only below its own top-level page.
 */
export function answerOrigins(
  wanted: unknown,
  asker: Slot,
  frames: Pick<SlotFrames, "slotOf" | "originOf" | "find">,
): ShellToPage {
  const asked = (Array.isArray(wanted) ? wanted : [])
    .filter((origin): origin is string => typeof origin === "string")
    .slice(0, ASKED_MAX);
  const inPage = (slot: Slot | null) =>
    slot !== null && [asker.topLevelOrigin, asker.origin].includes(slot.topLevelOrigin) ? slot : null;
  const slots = asked.map((origin) => inPage(frames.slotOf(origin)) ?? frames.find(origin, asker.topLevelOrigin));
  const origins = slots.flatMap((slot) => (slot === null ? [] : [[frames.originOf(slot), slot.origin] as const]));
  return { tag: MESSAGE_TAG, type: "origins", origins: Object.fromEntries(origins), asked };
}
