/**
 * The slots of this phone, and the web origin that each stands for. A slot below a wildcard is never given to a second
 * origin, a slot of a list only after it was evicted and wiped. Frames of other origins get slots of their own under each
 * top-level origin, so that their storage is partitioned like everything else.
 * Windows of the app share the list: what is stored holds, and each window adds to it. Of frames' slots only the latest
 * are kept; the label of one that was dropped is never used again, so what its site has stored is out of reach.
 */

import type { KeyValueStorage } from "../app/settings.ts";
import type { Slot } from "./places.ts";

/** Slots of other origins' frames in one site's pages, oldest dropped first: a page asks for them as it likes. */
export const FRAME_SLOTS_PER_SITE = 64;

/**
 * Slots of frames, for all sites together: some 100 bytes each, at worst 600, of the 5 MiB that a browser lets the app
 * store.
 */
export const MAX_FRAME_SLOTS = 512;

const STORAGE_KEY = "ropeway.slots";
const STAND_INS_KEY = "ropeway.stand-ins";
const LABEL_LENGTH = 10;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

export class SlotRegistry {
  #storage: KeyValueStorage;
  #byKey = new Map<string, Slot>();
  /**
   * By label. Slots that were dropped, or forgotten in another window, are here, too: their frames may still be open.
   */
  #byLabel = new Map<string, Slot>();
  /** Slots that this window assigned and that were not forgotten since. */
  #ownByKey = new Map<string, Slot>();
  /** Slots that this window assigned and could not store: they are known here only. */
  #unstored = new Map<string, Slot>();
  /** Stand-ins of this window, by the same keys. */
  readonly #standIns = new Map<string, Slot>();
  #readJson: string | null = null;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
  }

  find(origin: string, topLevelOrigin: string): Slot | null {
    this.#read();
    const key = `${topLevelOrigin} ${origin}`;
    return this.#standIns.get(key) ?? this.#byKey.get(key) ?? null;
  }

  /** Origins of pages that have slots. */
  get sites(): readonly string[] {
    this.#read();
    return [...this.#byKey.values()].filter((slot) => !isFrame(slot)).map(({ origin }) => origin);
  }

  byLabel(label: string): Slot | null {
    this.#read();
    return this.#byLabel.get(label) ?? null;
  }

  /** Gives the slot `label`, which must be fresh, to an origin that has none. */
  assign(label: string, origin: string, topLevelOrigin: string): Slot {
    this.#read();
    const slot: Slot = { label, origin, topLevelOrigin, topLevel: origin === topLevelOrigin };
    this.#ownByKey.set(keyOf(slot), slot);
    this.#write(slot);
    return slot;
  }

  /** The slot `label`, which must be fresh or its former one, stands in for another in this window, until `endStandIns`. */
  standIn(label: string, slot: Slot): Slot {
    const standIn = { ...slot, label };
    this.#standIns.set(keyOf(slot), standIn);
    this.#byLabel.set(label, standIn);
    const others = this.#storedStandIns.filter((each) => keyOf(each) !== keyOf(slot));
    this.#storeStandIns([...others, standIn]);
    return standIn;
  }

  /** The label that stood in for the slot in another run of the app, since the link went away; null where there is none. */
  formerStandIn(slot: Slot): string | null {
    const former = this.#storedStandIns.find((each) => keyOf(each) === keyOf(slot));
    return former === undefined || former.label === slot.label ? null : former.label;
  }

  /** Ends all stand-ins. Pages that are shown in one keep it. */
  endStandIns(): void {
    this.#standIns.clear();
    this.#storage.removeItem(STAND_INS_KEY);
  }

  get #storedStandIns(): readonly Slot[] {
    return readSlots(this.#storage.getItem(STAND_INS_KEY));
  }

  #storeStandIns(standIns: readonly Slot[]): void {
    try {
      this.#storage.setItem(STAND_INS_KEY, JSON.stringify(standIns));
    } catch {
      // The next run of the app needs another spare.
    }
  }

  /**
   * Another window changed the list. Two that write at the same time, each from what it had read, lose what the other
   * wrote, and with it the way to what a site has stored: so what this window assigned and is gone is written again.
   */
  restore(): void {
    if (this.#storage.getItem(STORAGE_KEY) === null) {
      this.#ownByKey.clear();
      this.#unstored.clear();
    }
    this.#read();
    for (const [key, slot] of this.#ownByKey) {
      const known = this.#byKey.get(key);
      // The one that is written holds: an origin has one slot. Where no place is left, another window has dropped this.
      if (known === undefined && this.#hasPlaceFor(slot)) this.#write(slot);
      else if (known?.label !== slot.label) this.#ownByKey.delete(key);
    }
  }

  /** Forgets all slots: every origin gets a fresh, empty one. */
  clear(): void {
    this.#byKey.clear();
    this.#byLabel.clear();
    this.#ownByKey.clear();
    this.#unstored.clear();
    this.endStandIns();
    this.#storage.removeItem(STORAGE_KEY);
    this.#readJson = null;
  }

  /** Forgets the slots of these origins, and all in their pages. Each window does, or would write its own again. */
  forget(isOf: (origin: string) => boolean): void {
    this.#remove((slot) => isOf(slot.origin) || isOf(slot.topLevelOrigin));
  }

  /** The label is no origin's any more. */
  evict(label: string): void {
    this.#remove((slot) => slot.label === label);
  }

  /** Another window changed the list, and labels go from origin to origin: what it took away stays so. */
  reread(): void {
    this.#ownByKey.clear();
    this.#read();
  }

  /** Forgets slots whose labels are not of this deployment, as it is by now. */
  keepOnly(isKnown: (label: string) => boolean): void {
    this.#read();
    if ([...this.#byKey.values()].some(({ label }) => !isKnown(label))) this.#remove(({ label }) => !isKnown(label));
  }

  #remove(isGone: (slot: Slot) => boolean): void {
    this.#read();
    for (const slot of [...this.#byLabel.values()].filter(isGone)) {
      const known = this.#byKey.get(keyOf(slot));
      // The origin that had the label before may have another by now.
      if (known === undefined || known.label === slot.label) this.#drop(keyOf(slot));
      this.#byLabel.delete(slot.label);
    }
    this.#storage.setItem(STORAGE_KEY, JSON.stringify([...this.#byKey.values()]));
    this.#readJson = this.#storage.getItem(STORAGE_KEY);
    for (const [key, slot] of this.#standIns) if (isGone(slot)) this.#standIns.delete(key);
    this.#storeStandIns(this.#storedStandIns.filter((slot) => !isGone(slot)));
  }

  #write(slot: Slot): void {
    const slots = [...this.#byKey.values(), slot];
    const kept = withinLimits(slots);
    for (const dropped of slots.filter((each) => !kept.includes(each))) this.#drop(keyOf(dropped));
    try {
      this.#storage.setItem(STORAGE_KEY, JSON.stringify(kept));
      this.#unstored.clear();
    } catch {
      this.#unstored.set(keyOf(slot), slot);
    }
    this.#read();
  }

  #drop(key: string): void {
    for (const slots of [this.#byKey, this.#ownByKey, this.#unstored]) slots.delete(key);
  }

  #hasPlaceFor(slot: Slot): boolean {
    return !isFrame(slot) || withinLimits([...this.#byKey.values(), slot]).length > this.#byKey.size;
  }

  #read(): void {
    const json = this.#storage.getItem(STORAGE_KEY);
    if (json !== this.#readJson) {
      this.#readJson = json;
      this.#byKey.clear();
      for (const slot of readSlots(json)) this.#add(slot);
    }
    for (const [key, slot] of this.#unstored) if (!this.#byKey.has(key)) this.#add(slot);
  }

  #add(slot: Slot): void {
    this.#byKey.set(keyOf(slot), slot);
    this.#byLabel.set(slot.label, slot);
  }
}

function keyOf({ topLevelOrigin, origin }: Slot): string {
  return `${topLevelOrigin} ${origin}`;
}

function isFrame({ origin, topLevelOrigin }: Slot): boolean {
  return origin !== topLevelOrigin;
}

/**
 * Where there are too many in all, the oldest of the domain that has most go: a domain with many hosts takes none of another.
 *
 * @param slots the latest last.
 */
function withinLimits(slots: readonly Slot[]): Slot[] {
  const ofOrigins = new Map<string, number>();
  const ofDomains = new Map<string, Slot[]>();
  const gone = new Set<Slot>();
  let all = 0;
  for (const slot of slots.toReversed().filter(isFrame)) {
    const { topLevelOrigin } = slot;
    const before = ofOrigins.get(topLevelOrigin) ?? 0;
    ofOrigins.set(topLevelOrigin, before + 1);
    if (before >= FRAME_SLOTS_PER_SITE) gone.add(slot);
    else {
      const domain = (URL.parse(topLevelOrigin)?.hostname ?? "").split(".").slice(-2).join(".");
      const ofDomain = ofDomains.get(domain) ?? [];
      ofDomain.push(slot);
      ofDomains.set(domain, ofDomain);
      all += 1;
    }
  }
  for (; all > MAX_FRAME_SLOTS; all--) {
    const [most] = [...ofDomains.values()].sort((one, other) => other.length - one.length);
    const oldest = most?.pop();
    if (oldest !== undefined) gone.add(oldest);
  }
  return slots.filter((slot) => !gone.has(slot));
}

/** A label nobody can guess: 50 random bits. It starts with a letter, as host labels should. */
export function freshLabel(randomBytes: Uint8Array = crypto.getRandomValues(new Uint8Array(LABEL_LENGTH))): string {
  return `s${Array.from(randomBytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("")}`;
}

function readSlots(json: string | null): readonly Slot[] {
  try {
    const slots: unknown = JSON.parse(json ?? "[]");
    return Array.isArray(slots) ? slots.filter(isSlot) : [];
  } catch {
    return [];
  }
}

function isSlot(value: unknown): value is Slot {
  const slot = value as Partial<Slot> | null;
  return typeof slot?.label === "string" && typeof slot.origin === "string" && typeof slot.topLevelOrigin === "string";
}
