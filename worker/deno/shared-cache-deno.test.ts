import { expect, it } from "vitest";
import { MOST_ENTRIES, SITE_FIELD } from "../shared-cache/site-entries.ts";
import { MapCache } from "../shared-cache/testing/shared-web.ts";
import { BoundedCache } from "./shared-cache-deno.ts";

const DISK = 100_000;
/** Such a part of it, with all that is not the body. */
const bytes = (length: number, fields = {}) =>
  new Response(new Uint8Array(length), { headers: { "content-length": `${length}`, ...fields } });

class Disk extends MapCache {
  async delete(key: string): Promise<boolean> {
    return this.entries.delete(key);
  }

  get keys(): string[] {
    return [...this.entries.keys()].sort();
  }
}

it("throws away what was not used for the longest time, and knows without the disk what it has not", async () => {
  const disk = new Disk();
  const cache = new BoundedCache(disk, DISK);
  const parts = [
    ["a", 40_000],
    ["b", 40_000],
    ["a", 30_000],
    ["c", 20_000],
  ] as const;
  for (const [key, length] of parts) await cache.put(key, bytes(length));
  expect(disk.keys).toEqual(["a", "b", "c"]);
  await cache.match("b");
  await cache.put("d", bytes(30_000));
  expect(disk.keys).toEqual(["b", "c", "d"]);
  expect([(await cache.match("b"))?.status, await cache.match("a")]).toEqual([200, undefined]);
  await disk.put("of-before", bytes(1));
  expect(await cache.match("of-before")).toBeUndefined();
  await cache.put("too-large", bytes(DISK + 1));
  expect(disk.keys).toEqual(["of-before"]);
});

it("counts heads, and entries", async () => {
  const disk = new Disk();
  const cache = new BoundedCache(disk, DISK);
  for (let i = 0; i < 20; i++) await cache.put(`${i}`, bytes(0, { "ropeway-record-2": "x".repeat(15_000) }));
  expect(disk.keys.length).toBe(6);
  const small = new BoundedCache(disk, Number.MAX_SAFE_INTEGER);
  disk.entries.clear();
  for (let i = 0; i < MOST_ENTRIES + 5; i++) await small.put(`${i}`, bytes(0));
  expect(disk.keys.length).toBe(MOST_ENTRIES);
});

it.each([
  ["large ones", DISK, 26, 9_000],
  ["small ones", Number.MAX_SAFE_INTEGER, MOST_ENTRIES + 5, 0],
])("lets what one site's pages bring take the place of its own alone: %s", async (_, most, count, length) => {
  const disk = new Disk();
  const cache = new BoundedCache(disk, most);
  for (const name of ["bank", "news"]) await cache.put(name, bytes(1_000, { [SITE_FIELD]: name }));
  for (let i = 0; i < count; i++) await cache.put(`evil${i}`, bytes(length, { [SITE_FIELD]: "evil" }));
  expect(disk.keys).toEqual(expect.arrayContaining(["bank", "news", `evil${count - 1}`]));
  expect(disk.keys).not.toContain("evil0");
});
