import { expect, it } from "vitest";
import { MapCache } from "../upstream/testing/shared-web.ts";
import { BoundedCache } from "./shared-cache-deno.ts";

const bytes = (length: number) => new Response(new Uint8Array(length), { headers: { "content-length": `${length}` } });

it("throws away what was not used for the longest time, and knows without the disk what it has not", async () => {
  const disk = new MapCache();
  const cache = new BoundedCache(disk, 100);
  for (const [key, length] of [
    ["a", 40],
    ["b", 40],
    ["a", 30],
    ["c", 20],
  ] as const)
    await cache.put(key, bytes(length));
  expect([...disk.entries.keys()].sort()).toEqual(["a", "b", "c"]);
  await cache.match("b");
  await cache.put("d", bytes(30));
  expect([...disk.entries.keys()].sort()).toEqual(["b", "c", "d"]);
  expect([(await cache.match("b"))?.status, await cache.match("a"), await cache.delete("b")]).toEqual([
    200,
    undefined,
    true,
  ]);
  await disk.put("of-before", bytes(1));
  expect(await cache.match("of-before")).toBeUndefined();
  await cache.put("too-large", bytes(101));
  expect([...disk.entries.keys()]).toEqual(["of-before"]);
});
