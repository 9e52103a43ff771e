import { afterEach, expect, it, vi } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { isPairedWith, pair, storedToken } from "./pairing.ts";

afterEach(() => void vi.unstubAllGlobals());

it("keeps the token and not the key, and knows the key again", async () => {
  const storage = new MapStorage();
  const fetched = vi.fn(async () => Response.json({ token: "T" }));
  vi.stubGlobal("fetch", fetched);
  expect(await isPairedWith(storage, "secret-key")).toBe(false);
  expect(await pair(storage, "secret-key")).toBe("paired");
  expect(storedToken(storage)).toBe("T");
  expect(fetched).toHaveBeenCalledWith("/.ropeway/pair", {
    method: "POST",
    headers: { authorization: "Bearer secret-key" },
    signal: expect.any(AbortSignal),
  });
  expect([await isPairedWith(storage, "secret-key"), await isPairedWith(storage, "other")]).toEqual([true, false]);
  expect([...storage.entries.values()].join()).not.toContain("secret-key");
});

it.each([
  [401, { refused: null }],
  [403, { refused: "Cannot pair: x" }],
  [429, { refused: "Cannot pair: x" }],
  [503, { refused: "Cannot pair: x" }],
  [502, "unreachable"],
] as const)("keeps nothing when the edge answers %s", async (status, result) => {
  const storage = new MapStorage();
  vi.stubGlobal("fetch", async () => Response.json({ error: "Cannot pair: x" }, { status }));
  expect([await pair(storage, "key"), storage.entries.size]).toEqual([result, 0]);
});

it("says unreachable when nothing answers", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("test")));
  expect(await pair(new MapStorage(), "key")).toBe("unreachable");
});

it("says unreachable when the answer is cut on its way", async () => {
  vi.stubGlobal("fetch", async () => new Response('{"tok'));
  const storage = new MapStorage();
  expect([await pair(storage, "key"), storage.entries.size]).toEqual(["unreachable", 0]);
});
