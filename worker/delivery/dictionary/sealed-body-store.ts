/** Milliseconds that a body is kept after it was put, whether its phone comes back or not. */
export const KEPT_FOR = 30 * 24 * 60 * 60 * 1000;

/** Where one phone's sealed bodies are. Each is at most a little above DICTIONARY_MOST. What fails is as if it were not there. */
export interface SealedBodyStore {
  get(id: string): Promise<Uint8Array | null>;
  /** @param most bytes of all: of more, those put longest ago go. */
  put(id: string, sealed: Uint8Array, most: number): Promise<void>;
  delete(id: string): Promise<void>;
  clear(): Promise<void>;
}

export function memoryBodyStore(): SealedBodyStore {
  const bodies = new Map<string, Uint8Array>();
  return {
    get: async (id) => bodies.get(id) ?? null,
    async put(id, sealed, most) {
      bodies.set(id, sealed);
      let total = [...bodies.values()].reduce((sum, { length }) => sum + length, 0);
      for (const [oldest, { length }] of bodies) {
        if (total <= most) break;
        bodies.delete(oldest);
        total -= length;
      }
    },
    delete: async (id) => void bodies.delete(id),
    clear: async () => bodies.clear(),
  };
}
