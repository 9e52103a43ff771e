/**
 * Which slot stands for which web origin on this phone. A slot is never given to a second origin; frames of other
 * origins get slots of their own under each top-level origin, so that their storage is partitioned like everything else.
 */
import type { SlotBinding } from "../tunnel/tunnel-messages.ts";

export interface Slot extends SlotBinding {
  /** First label of the slot's host. */
  readonly label: string;
}

/** The part of `Storage` that is used; tests bring a map. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const STORAGE_KEY = "ropeway.slots";
const LABEL_LENGTH = 10;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

export class SlotRegistry {
  #storage: KeyValueStorage;
  #byKey = new Map<string, Slot>();
  #byLabel = new Map<string, Slot>();

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
    for (const slot of readSlots(storage.getItem(STORAGE_KEY))) this.#index(slot);
  }

  find(origin: string, topLevelOrigin: string): Slot | null {
    return this.#byKey.get(`${topLevelOrigin} ${origin}`) ?? null;
  }

  byLabel(label: string): Slot | null {
    return this.#byLabel.get(label) ?? null;
  }

  /** Gives the slot `label`, which must be fresh, to an origin. */
  assign(label: string, origin: string, topLevelOrigin: string): Slot {
    const slot: Slot = { label, origin, topLevelOrigin, topLevel: origin === topLevelOrigin };
    this.#index(slot);
    this.#storage.setItem(STORAGE_KEY, JSON.stringify([...this.#byLabel.values()]));
    return slot;
  }

  /** Forgets all slots: every origin gets a fresh, empty one. */
  clear(): void {
    this.#byKey.clear();
    this.#byLabel.clear();
    this.#storage.removeItem(STORAGE_KEY);
  }

  #index(slot: Slot): void {
    this.#byKey.set(`${slot.topLevelOrigin} ${slot.origin}`, slot);
    this.#byLabel.set(slot.label, slot);
  }
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
