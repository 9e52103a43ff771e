import { expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { type BlockList, LOAD_PATIENCE, noList, TrackerBlocker } from "./tracker-blocker.ts";

const list: BlockList = { names: (_, url) => url.hostname === "tracker.example" };
const of = (url: string, change: Partial<RequestHead> = {}): RequestHead => ({
  ...requestHead,
  url,
  destination: "script",
  ...change,
});

function setUp() {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly task: () => void }>();
  const setTimer = (task: () => void, delay: number) => {
    const timer = { at: now + delay, task };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const advance = (by: number): void => {
    now += by;
    for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.task();
  };
  const { promise, resolve } = Promise.withResolvers<BlockList | null>();
  const load = vi.fn(() => promise);
  const shared = noList();
  const options = { shared, load, now: () => now, setTimer };
  const blocker = new TrackerBlocker(options);
  const check = (url: string, change: Partial<RequestHead> = {}, by = blocker) =>
    by.check(of(url, change), new URL(url));
  return { advance, load, arrive: resolve, blocker, check, another: () => new TrackerBlocker(options) };
}

it("stops what the list names, and nothing that a person opens or allows", async () => {
  const { check, arrive, blocker } = setUp();
  arrive(list);
  await expect(check("https://tracker.example/a.js")).rejects.toMatchObject({
    code: ErrorCode.BLOCKED,
    scope: "stream",
    message: "Cannot load from tracker.example: it is on the block list, and you have trackers blocked",
  });
  await check("https://site.example/a.js");
  await check("https://tracker.example/", { destination: "document" });
  await check("https://tracker.example/a.js", { allowsTrackers: true });
  expect(blocker.isTracker(of("https://tracker.example/a.js"))).toBe(true);
  expect(blocker.isTracker(of("https://tracker.example/a.js", { allowsTrackers: true }))).toBe(false);
  await expect(check("https://tracker.example/", { destination: "iframe" })).rejects.toMatchObject({ scope: "stream" });
});

it("loads the list once for all phones, and when one wants it", async () => {
  const { check, arrive, load, another, blocker } = setUp();
  expect(blocker.isTracker(of("https://tracker.example/a.js"))).toBe(false);
  expect(load).not.toHaveBeenCalled();
  arrive(list);
  await check("https://site.example/", { destination: "document" });
  await expect(check("https://tracker.example/a.js", {}, another())).rejects.toMatchObject({ code: ErrorCode.BLOCKED });
  expect(load).toHaveBeenCalledTimes(1);
});

it("lets requests wait for it for a moment, and documents not at all", async () => {
  const { check, arrive, advance, load } = setUp();
  await check("https://tracker.example/", { destination: "document" });
  let gone = 0;
  const waiting = [1, 2].map(() => check("https://tracker.example/a.js").then(() => gone++));
  advance(LOAD_PATIENCE - 1);
  await Promise.resolve();
  expect(gone).toBe(0);
  advance(1);
  await Promise.all(waiting);
  await check("https://tracker.example/b.js");
  expect(load).toHaveBeenCalledTimes(1);
  arrive(list);
  await expect
    .poll(() => check("https://tracker.example/c.js").then(String, ({ code }) => code))
    .toBe(ErrorCode.BLOCKED);
});

it("asks again later where there was none", async () => {
  const { check, arrive, advance, load } = setUp();
  arrive(null);
  await check("https://tracker.example/a.js");
  await check("https://tracker.example/a.js");
  expect(load).toHaveBeenCalledTimes(1);
  advance(60_000);
  await check("https://tracker.example/a.js");
  expect(load).toHaveBeenCalledTimes(2);
});
