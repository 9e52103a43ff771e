/**
 * Deno's cache, for the phones of this process. It lies on the disk and never throws anything away, so its size is kept
 * here; what a former process left goes when this one opens it.
 */
import { entrySize, lazyCache, type SharedCache } from "../shared-cache/shared-responses.ts";
import { EntriesBySite, SITE_FIELD } from "../shared-cache/site-entries.ts";

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
  readonly #entries: EntriesBySite;

  constructor(cache: DiskCache, mostBytes: number) {
    this.#cache = cache;
    this.#entries = new EntriesBySite(mostBytes);
  }

  async match(key: string): Promise<Response | undefined> {
    // Nobody waits for the disk to say so.
    if (!this.#entries.has(key)) return undefined;
    this.#entries.use(key);
    return this.#cache.match(key);
  }

  async put(key: string, response: Response): Promise<void> {
    const size = entrySize(response);
    const site = response.headers.get(SITE_FIELD) ?? "";
    this.#entries.delete(key);
    await this.#cache.put(key, response);
    for (const gone of this.#entries.put(site, key, size)) await this.#cache.delete(gone);
  }
}
