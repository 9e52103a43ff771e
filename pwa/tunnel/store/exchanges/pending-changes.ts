/** Changes to what is stored for a URL that are on their way: what is asked for next waits for them, and finds them. */
export class PendingChanges {
  readonly #byKey = new Map<string, Promise<unknown>>();

  /** Null where nothing changes. */
  of(key: string): Promise<unknown> | null {
    return this.#byKey.get(key) ?? null;
  }

  /** The changes for all keys that begin so. */
  all(prefix: string): Promise<unknown> {
    return Promise.all([...this.#byKey].filter(([key]) => key.startsWith(prefix)).map(([, change]) => change));
  }

  /** @param change does not reject. */
  add(key: string, change: Promise<unknown>): void {
    const both = Promise.all([this.#byKey.get(key), change]).then(() => {
      if (this.#byKey.get(key) === both) this.#byKey.delete(key);
    });
    this.#byKey.set(key, both);
  }
}
