/**
 * Deno's cache, for the phones of this process. It lies on the disk and never throws anything away, so its size is kept
 * here; what a former process left goes when this one opens it.
 */
import { entrySize, lazyCache, MOST_ENTRIES, type SharedCache } from "../upstream/shared-cache/shared-cache.ts";

/** Bytes of all that is on the disk. */
const MOST_BYTES = 128 * 1024 * 1024;

/** @param name of no other process on this machine. */
export function openSharedCache(name: string): SharedCache {
  return lazyCache(async () => {
    await caches.delete(name);
    return new BoundedCache(await caches.open(name), MOST_BYTES);
  });
}

interface DiskCache extends SharedCache {
  delete(key: string): Promise<unknown>;
}

export class BoundedCache implements SharedCache {
  readonly #cache: DiskCache;
  readonly #mostBytes: number;
  /** By key, the longest unused first. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  constructor(cache: DiskCache, mostBytes: number) {
    this.#cache = cache;
    this.#mostBytes = mostBytes;
  }

  async match(key: string): Promise<Response | undefined> {
    const size = this.#sizes.get(key);
    // Nobody waits for the disk to say so.
    if (size === undefined) return undefined;
    this.#sizes.delete(key);
    this.#sizes.set(key, size);
    return this.#cache.match(key);
  }

  async put(key: string, response: Response): Promise<void> {
    const size = entrySize(response);
    this.#drop(key);
    await this.#cache.put(key, response);
    this.#drop(key);
    this.#sizes.set(key, size);
    this.#bytes += size;
    for (const oldest of this.#sizes.keys()) {
      if (this.#bytes <= this.#mostBytes && this.#sizes.size <= MOST_ENTRIES) break;
      this.#drop(oldest);
      await this.#cache.delete(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
  }
}
