/** Cookies of one phone in Deno KV, whose values are too small for a partition: each is a row of slices. */
import type { CookieJarStore } from "../upstream/cookie-jar.ts";

type Key = readonly (string | number)[];

interface Entry {
  readonly key: readonly unknown[];
  readonly value: unknown;
  readonly versionstamp: string | null;
}

interface Commit {
  check(entry: { readonly key: Key; readonly versionstamp: string | null }): Commit;
  set(key: Key, value: unknown): Commit;
  delete(key: Key): Commit;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** Part of `Deno.Kv` that is used. */
export interface KeyValueDatabase {
  get(key: Key): Promise<Entry>;
  /** A hundred entries are of one moment. */
  list(selector: { readonly prefix: Key }): AsyncIterable<Entry>;
  atomic(): Commit;
}

/** Deno KV takes 64 KiB a value; UTF-16 text of this many characters stays below in any script. */
const SLICE_CHARACTERS = 16_000;

export function kvCookieStore(kv: KeyValueDatabase, deviceId: string): CookieJarStore {
  const slicesOf = (key: string): Key => [deviceId, "slices", key];

  /** At once, also where another process writes: a process may end at any time, and what is cut is no JSON. */
  async function write(key: string, value: string): Promise<void> {
    const lengthKey = [deviceId, "keys", key];
    for (let isDone = false; !isDone; ) {
      const { versionstamp } = await kv.get(lengthKey);
      const commit = kv.atomic().check({ key: lengthKey, versionstamp });
      for await (const slice of kv.list({ prefix: slicesOf(key) })) {
        const start = Number(slice.key.at(-1));
        if (start >= value.length) commit.delete([...slicesOf(key), start]);
      }
      for (let start = 0; start < value.length; start += SLICE_CHARACTERS) {
        commit.set([...slicesOf(key), start], value.slice(start, start + SLICE_CHARACTERS));
      }
      if (value === "") commit.delete(lengthKey);
      else commit.set(lengthKey, value.length);
      isDone = (await commit.commit()).ok;
    }
  }

  return {
    async get(key) {
      let text = "";
      for await (const slice of kv.list({ prefix: slicesOf(key) })) text += slice.value;
      return text === "" ? undefined : text;
    },
    put: write,
    delete: (key) => write(key, ""),
    async list(prefix) {
      const lengths = new Map<string, number>();
      for await (const { key: path, value } of kv.list({ prefix: [deviceId, "keys"] })) {
        const key = path[2];
        if (typeof key === "string" && key.startsWith(prefix)) lengths.set(key, Number(value));
      }
      return lengths;
    },
  };
}
