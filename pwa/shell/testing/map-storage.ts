import type { KeyValueStorage } from "../app/settings.ts";

/** The part of `Storage` that the shell uses, in memory. */
export class MapStorage implements KeyValueStorage {
  readonly entries = new Map<string, string>();

  getItem(key: string): string | null {
    return this.entries.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.entries.set(key, value);
  }

  removeItem(key: string): void {
    this.entries.delete(key);
  }
}
