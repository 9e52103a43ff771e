/**
 * What phones of one edge share of public responses: a store of the platform's. It may forget anything at any time, and
 * fail; all works without.
 */
export interface SharedCache {
  /** @param key an https: URL. */
  match(key: string): Promise<Response | undefined>;
  /** @param response tells its length. */
  put(key: string, response: Response): Promise<void>;
}

/** Bytes of an entry on disk or in memory: its body, its fields, and what a store spends on any. */
export function entrySize({ headers }: Response): number {
  const fields = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return Number(headers.get("content-length")) + fields + 1024;
}

/** Opens the store when it is first used; where there is none, each call fails. */
export function lazyCache(open: () => Promise<SharedCache>): SharedCache {
  let opened: Promise<SharedCache> | null = null;
  const cache = () => {
    opened ??= open();
    return opened;
  };
  return {
    match: async (key) => (await cache()).match(key),
    put: async (key, response) => (await cache()).put(key, response),
  };
}

/** Those that came out of the store, for who counts them. */
const fromCache = new WeakSet<Response>();

export function markFromCache(response: Response): Response {
  fromCache.add(response);
  return response;
}

export function isFromCache(response: Response): boolean {
  return fromCache.has(response);
}
