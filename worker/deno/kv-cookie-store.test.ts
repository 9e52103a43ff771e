import { describe, expect, it } from "vitest";
import { type KeyValueDatabase, kvCookieStore } from "./kv-cookie-store.ts";

type Key = readonly (string | number)[];

/** Deno KV as its documentation says: ordered keys, at most 64 KiB a value, commits that are whole or not at all. */
function fakeDatabase() {
  const entries = new Map<string, { key: Key; value: unknown; versionstamp: string }>();
  const seen = { commits: 0, version: 0, beforeCommit: () => {} };
  const versionOf = (key: Key) => entries.get(JSON.stringify(key))?.versionstamp ?? null;
  const database: KeyValueDatabase = {
    get: async (key) => ({ key, value: entries.get(JSON.stringify(key))?.value ?? null, versionstamp: versionOf(key) }),
    async *list({ prefix }) {
      const found = [...entries.values()].filter(({ key }) => prefix.every((part, index) => key[index] === part));
      yield* found.sort((a, b) => Number(a.key.at(-1)) - Number(b.key.at(-1)));
    },
    atomic() {
      const checks: { key: Key; versionstamp: string | null }[] = [];
      const changes: (() => void)[] = [];
      const commit = {
        check(entry: { key: Key; versionstamp: string | null }) {
          checks.push(entry);
          return commit;
        },
        set(key: Key, value: unknown) {
          expect(String(value).length * 2).toBeLessThan(65_536);
          changes.push(() => {
            entries.set(JSON.stringify(key), { key, value, versionstamp: String(seen.version) });
          });
          return commit;
        },
        delete(key: Key) {
          changes.push(() => entries.delete(JSON.stringify(key)));
          return commit;
        },
        async commit() {
          seen.commits++;
          seen.beforeCommit();
          if (!checks.every(({ key, versionstamp }) => versionOf(key) === versionstamp)) return { ok: false };
          seen.version++;
          for (const change of changes) change();
          return { ok: true };
        },
      };
      return commit;
    },
  };
  return { database, entries, seen };
}

const text = (length: number, letter: string) => letter.repeat(length);

describe("cookies in Deno KV", () => {
  it("gives back what was put, in one commit each, whatever was there before", async () => {
    const { database, seen } = fakeDatabase();
    const store = kvCookieStore(database, "phone");
    expect(await store.get("cookies/a")).toBeUndefined();
    for (const [length, letter] of [
      [5, "a"],
      [61_440, "é"],
      [16_000, "b"],
      [16_001, "c"],
    ] as const) {
      seen.commits = 0;
      await store.put("cookies/a", text(length, letter));
      expect(await store.get("cookies/a")).toBe(text(length, letter));
      expect(seen.commits).toBe(1);
    }
    expect(await kvCookieStore(database, "other").get("cookies/a")).toBeUndefined();
  });

  it("lists and deletes, and leaves nothing behind", async () => {
    const { database, entries } = fakeDatabase();
    const store = kvCookieStore(database, "phone");
    await store.put("cookies/a", text(40_000, "a"));
    await store.put("cookies/b", text(4, "b"));
    await store.put("else", "x");
    expect([...(await store.list("cookies/"))]).toEqual([
      ["cookies/a", 40_000],
      ["cookies/b", 4],
    ]);
    for (const key of ["cookies/a", "cookies/b", "else"]) await store.delete(key);
    expect(entries.size).toBe(0);
  });

  it("keeps what was there when the process ends during a write", async () => {
    const { database, seen } = fakeDatabase();
    const store = kvCookieStore(database, "phone");
    await store.put("cookies/a", text(40_000, "a"));
    seen.beforeCommit = () => {
      throw new Error("the process ended");
    };
    await expect(store.put("cookies/a", text(20, "b"))).rejects.toThrow();
    await expect(store.delete("cookies/a")).rejects.toThrow();
    expect(await store.get("cookies/a")).toBe(text(40_000, "a"));
  });

  it("writes anew when another process wrote meanwhile", async () => {
    const { database } = fakeDatabase();
    const store = kvCookieStore(database, "phone");
    const { atomic } = database;
    let isFirst = true;
    database.atomic = () => {
      const operation = atomic();
      const { commit } = operation;
      if (!isFirst) return operation;
      isFirst = false;
      operation.commit = async () => {
        await kvCookieStore(database, "phone").put("cookies/a", text(50_000, "x"));
        return commit();
      };
      return operation;
    };
    await store.put("cookies/a", text(20_000, "y"));
    expect(await store.get("cookies/a")).toBe(text(20_000, "y"));
  });
});
