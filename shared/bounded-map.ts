/** A map of at most so many entries: what is set becomes the newest, and above the limit the oldest is dropped. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Where the key was there already, it moves behind all others. */
  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value as K);
    return this;
  }

  /** As `get`; the entry becomes the newest, so that the least recently used is dropped. */
  use(key: K): V | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}
