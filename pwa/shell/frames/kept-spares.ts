/**
 * The spare slots over restarts of the app: one whose service worker is installed opens a new site without a round
 * trip, also right after a cold start. Only one tab may have it, or a slot would come to stand for two origins: whoever
 * has it holds a lock of its name, which the browser releases however the tab ends.
 */
import type { KeyValueStorage } from "../app/key-value-storage.ts";

const STORAGE_KEY = "ropeway.spare-slots";

/** Spares that are kept, of all tabs together. */
const KEPT_MAX = 6;

/** The part of `LockManager` that is used. */
export interface Locks {
  request<T>(name: string, options: LockOptions, callback: (lock: Lock | null) => Promise<T>): Promise<T>;
}

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
    // Whoever had one may have given it to an origin meanwhile.
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
