import { FairShares, type Holding } from "../../../shared/fair-shares.ts";

/** Milliseconds that a body is kept after it was put, whether its phone comes back or not. */
export const KEPT_FOR = 30 * 24 * 60 * 60 * 1000;

/** Where one phone's sealed bodies are. Each is at most a little above DICTIONARY_MOST. What fails is as if it were not there. */
export interface SealedBodyStore {
  get(id: string): Promise<Uint8Array | null>;
  put(id: string, sealed: Uint8Array, share: BodyShare): Promise<void>;
  delete(id: string): Promise<void>;
  clear(): Promise<void>;
}

export interface BodyShare {
  /** Whose pages it was sent to, by a name that tells nobody which site that is. */
  readonly site: string;
  /** Bytes of all: of more, those of the site that has most go, the longest unused first. */
  readonly most: number;
}

export interface SealedBody {
  readonly id: string;
  readonly site: string;
  readonly bytes: number;
}

/**
 * Those that have to go.
 *
 * @param bodies those used longest ago first.
 */
export function bodiesAbove(most: number, bodies: readonly SealedBody[]): SealedBody[] {
  let over = bodies.reduce((sum, { bytes }) => sum + bytes, 0) - most;
  if (over <= 0) return [];
  const holdings = new Map<string, Holding>();
  const left = new Map<string, SealedBody[]>();
  for (const [usedAt, body] of bodies.entries()) {
    const { site, bytes } = body;
    holdings.set(site, { amount: bytes + (holdings.get(site)?.amount ?? 0), usedAt });
    left.set(site, [...(left.get(site) ?? []), body]);
  }
  const shares = new FairShares(most, holdings);
  const gone: SealedBody[] = [];
  while (over > 0) {
    const site = shares.giver();
    const body = left.get(site ?? "")?.shift();
    if (site === undefined || body === undefined) break;
    gone.push(body);
    shares.gave(site, body.bytes);
    over -= body.bytes;
  }
  return gone;
}

export function memoryBodyStore(): SealedBodyStore {
  const bodies = new Map<string, { readonly sealed: Uint8Array; readonly site: string }>();
  return {
    async get(id) {
      const body = bodies.get(id);
      if (body === undefined) return null;
      bodies.delete(id);
      bodies.set(id, body);
      return body.sealed;
    },
    async put(id, sealed, { site, most }) {
      bodies.delete(id);
      bodies.set(id, { sealed, site });
      const all = [...bodies].map(([key, body]) => ({ id: key, site: body.site, bytes: body.sealed.length }));
      for (const gone of bodiesAbove(most, all)) bodies.delete(gone.id);
    },
    delete: async (id) => void bodies.delete(id),
    clear: async () => bodies.clear(),
  };
}
