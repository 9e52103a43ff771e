/** Records in Deno KV, which other processes of the edge may write, too. */
import type { RecordStore } from "../devices/record-store.ts";

/** @param owner a device's id, or a word that is none. */
export function kvRecordStore(kv: Deno.Kv, owner: string): RecordStore {
  const keyOf = (name: string) => [owner, "records", name];
  return {
    get: async <Value>(name: string) => (await kv.get<Value>(keyOf(name))).value ?? undefined,
    async list<Value>(prefix: string) {
      const found: Value[] = [];
      for await (const { key, value } of kv.list<Value>({ prefix: [owner, "records"] }))
        if (String(key[2]).startsWith(prefix)) found.push(value);
      return found;
    },
    async update<Value>(name: string, change: (former: Value | undefined) => Value | undefined) {
      for (let isDone = false; !isDone; ) {
        const entry = await kv.get<Value>(keyOf(name));
        const next = change(entry.value ?? undefined);
        const commit = kv.atomic().check(entry);
        isDone = (await (next === undefined ? commit.delete(entry.key) : commit.set(entry.key, next)).commit()).ok;
      }
    },
  };
}
