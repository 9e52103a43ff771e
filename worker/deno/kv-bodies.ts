/** Sealed bodies in Deno KV, whose values are too small for them: each is a row of slices. One that lacks some does not open. */
import { concat } from "@std/bytes/concat";
import { bodiesAbove, KEPT_FOR, memoryBodyStore, type SealedBodyStore } from "../delivery/dictionaries.ts";

/** Bytes: Deno KV takes 64 KiB a value. */
const SLICE_BYTES = 60_000;

/** The database forgets by itself. */
const EXPIRING = { expireIn: KEPT_FOR };

/** What the index has of each. */
interface Kept {
  readonly bytes: number;
  readonly time: number;
  readonly site: string;
}

export function kvBodyStore(kv: Deno.Kv, deviceId: string, now: () => number): SealedBodyStore {
  const indexKey = [deviceId, "bodies"];
  const slicesOf = (id: string) => [deviceId, "body", id];

  async function drop(id: string): Promise<void> {
    await kv.delete([...indexKey, id]);
    for await (const { key } of kv.list({ prefix: slicesOf(id) })) await kv.delete(key);
  }

  async function all(): Promise<{ readonly id: string; readonly kept: Kept }[]> {
    const found: { readonly id: string; readonly kept: Kept }[] = [];
    for await (const { key, value } of kv.list<Kept>({ prefix: indexKey }))
      found.push({ id: String(key.at(-1)), kept: value });
    return found.sort((a, b) => a.kept.time - b.kept.time);
  }

  return {
    async get(id) {
      const { value } = await kv.get<Kept>([...indexKey, id]);
      if (value === null) return null;
      const slices = await Array.fromAsync(kv.list<Uint8Array>({ prefix: slicesOf(id) }), (slice) => slice.value);
      const whole = concat(slices);
      return whole.length === value.bytes ? whole : null;
    },
    async put(id, sealed, { site, most }) {
      for (let start = 0; start < sealed.length; start += SLICE_BYTES) {
        await kv.set([...slicesOf(id), start], sealed.slice(start, start + SLICE_BYTES), EXPIRING);
      }
      await kv.set([...indexKey, id], { bytes: sealed.length, time: now(), site }, EXPIRING);
      const bodies = (await all()).map(({ id, kept }) => ({ id, site: kept.site, bytes: kept.bytes }));
      for (const gone of bodiesAbove(most, bodies)) await drop(gone.id);
    },
    delete: drop,
    async clear() {
      for (const { id } of await all()) await drop(id);
    },
  };
}

/** Where the process has no database. */
export function memoryBodies(): (deviceId: string) => SealedBodyStore {
  const stores = new Map<string, SealedBodyStore>();
  return (deviceId) => {
    const store = stores.get(deviceId) ?? memoryBodyStore();
    stores.set(deviceId, store);
    return store;
  };
}
