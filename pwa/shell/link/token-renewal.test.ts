import { afterEach, expect, it, vi } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { renewToken, storedToken, storeToken } from "./pairing.ts";

afterEach(() => vi.unstubAllGlobals());

const DAY = 24 * 60 * 60 * 1000;
/** One after the other. */
let last: Promise<unknown> = Promise.resolve();
const request = (_name: string, task: () => unknown) => {
  last = last.then(task);
  return last;
};
const locks = { request } as unknown as LockManager;

it("renews a token a month after the last time, and not one that was just paired", async () => {
  const fetch = vi.fn(async () => Response.json({ token: "new" }));
  vi.stubGlobal("fetch", fetch);
  const storage = new MapStorage();
  let time = 1_800_000_000_000;
  const renew = () => renewToken(storage, locks, () => time);
  await renew();
  storeToken(storage, "old");
  await renew();
  time += 29 * DAY;
  await renew();
  expect(fetch).not.toHaveBeenCalled();
  time += DAY;
  await renewToken(storage, null, () => time);
  await Promise.all([renew(), renew()]);
  await renew();
  expect(fetch.mock.calls).toEqual([["/.ropeway/token", { method: "POST", headers: { authorization: "Bearer old" } }]]);
  expect(storedToken(storage)).toBe("new");
});

it.each([
  ["an edge of before", async () => Response.json({}, { status: 404 })],
  ["no edge", async () => Promise.reject(new Error("offline"))],
])("keeps its token, and tries at the next start: %s", async (_, answer) => {
  const fetch = vi.fn(answer);
  vi.stubGlobal("fetch", fetch);
  const storage = new MapStorage();
  storeToken(storage, "old");
  await renewToken(storage, locks, () => 0);
  await renewToken(storage, locks, () => 40 * DAY);
  await renewToken(storage, locks, () => 40 * DAY);
  expect([fetch.mock.calls.length, storedToken(storage)]).toEqual([2, "old"]);
});
