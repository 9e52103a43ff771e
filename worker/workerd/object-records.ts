/** Records in a Durable Object's own database. What finds no room on a local disk waits in memory for the next change. */
import type { RecordStore } from "../devices/record-store.ts";
import type { StateDisk } from "./state-disk.ts";

const PREFIX = "record/";

export function objectRecordStore({ kv }: DurableObjectStorage, disk: StateDisk): RecordStore {
  /** By key. */
  const waiting = new Map<string, unknown>();
  const read = <Value>(key: string) => (waiting.has(key) ? waiting.get(key) : kv.get(key)) as Value | undefined;

  function write(key: string, value: unknown): void {
    if (value === undefined) kv.delete(key);
    else kv.put(key, value);
  }

  return {
    get: async <Value>(name: string) => read<Value>(PREFIX + name),
    async list<Value>(prefix: string) {
      const stored = new Map<string, unknown>(kv.list({ prefix: PREFIX + prefix }));
      for (const [key, value] of waiting) if (key.startsWith(PREFIX + prefix)) stored.set(key, value);
      return [...stored.values()].filter((value) => value !== undefined) as Value[];
    },
    async update<Value>(name: string, change: (former: Value | undefined) => Value | undefined) {
      const hasRoom = await disk.hasRoom();
      const key = PREFIX + name;
      waiting.set(key, change(read<Value>(key)));
      if (!hasRoom) return;
      for (const [each, value] of waiting) write(each, value);
      waiting.clear();
    },
  };
}
