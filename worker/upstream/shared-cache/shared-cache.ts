/**
 * What phones of one edge share of public responses: a store of the platform's. It may forget anything at any time, and
 * fail; all works without.
 */
export interface SharedCache {
  /** @param key an https: URL. */
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
  delete(key: string): Promise<unknown>;
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
    delete: async (key) => (await cache()).delete(key),
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
