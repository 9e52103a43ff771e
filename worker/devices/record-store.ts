/** Records that an edge keeps of devices, as values under names: in a Durable Object, in Deno KV, or in memory. */
export interface RecordStore {
  get<Value>(name: string): Promise<Value | undefined>;
  /** The values whose names begin with `prefix`, in the order of names. */
  list<Value>(prefix: string): Promise<readonly Value[]>;
  /**
   * Reads and writes as one step.
   *
   * @param change makes the next value of the former one; undefined is none. It may be called again, where another
   * process wrote meanwhile.
   */
  update<Value>(name: string, change: (former: Value | undefined) => Value | undefined): Promise<void>;
}

/** Ends with the process. */
export function memoryRecordStore(): RecordStore {
  const values = new Map<string, unknown>();
  return {
    get: async <Value>(name: string) => values.get(name) as Value | undefined,
    async list<Value>(prefix: string) {
      const names = [...values.keys()].filter((name) => name.startsWith(prefix)).sort();
      return names.map((name) => values.get(name) as Value);
    },
    async update<Value>(name: string, change: (former: Value | undefined) => Value | undefined) {
      const next = change(values.get(name) as Value | undefined);
      if (next === undefined) values.delete(name);
      else values.set(name, next);
    },
  };
}
