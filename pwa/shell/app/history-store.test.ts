import { describe, expect, it } from "vitest";
import { type KeptEntry, START } from "../tab/session-history.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { HISTORY_KEY, type HistoryLocks, HistoryStore } from "./history-store.ts";

const entry = (url: string): KeptEntry => ({ url, isRepeatable: true, scroll: { x: 0, y: 7 } });
const A = entry("https://a.example/");
const B = entry("https://b.example/");

/** One lock, and whoever waits for it. */
function openLocks(): HistoryLocks {
  let last: Promise<unknown> = Promise.resolve();
  let holders = 0;
  return {
    async request(_name, { ifAvailable = false }, callback) {
      if (ifAvailable && holders > 0) return callback(null);
      holders += 1;
      const before = last;
      const turn = before.then(() => callback({} as Lock));
      last = turn.finally(() => {
        holders -= 1;
      });
      return turn;
    },
  };
}

function phone() {
  const storage = new MapStorage();
  const locks = openLocks();
  const open = () => {
    const timers: (() => void)[] = [];
    const store = new HistoryStore(storage, locks, (task) => {
      timers.push(task);
      return () => {};
    });
    const runTimers = () => {
      for (const task of timers.splice(0)) task();
    };
    return { store, runTimers };
  };
  return { storage, open };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

it("has what was saved, when the app is opened again", async () => {
  const { open } = phone();
  const first = open();
  expect(await first.store.take()).toEqual([]);
  first.store.save([A]);
  first.store.save([A, B]);
  first.runTimers();
  first.store.close();
  await settled();
  expect(await open().store.take()).toEqual([A, B]);
});

it("has nothing where no page was open", async () => {
  const { open } = phone();
  const first = open();
  await first.store.take();
  first.store.save([START]);
  first.store.close();
  await settled();
  expect(await open().store.take()).toEqual([]);
});

it("is one window's, and the next one's when that is closed", async () => {
  const { open, storage } = phone();
  const [first, second] = [open(), open()];
  await first.store.take();
  first.store.save([A]);
  expect(await second.store.take()).toEqual([]);
  second.store.save([B]);
  second.runTimers();
  expect(storage.entries.has(HISTORY_KEY)).toBe(false);
  first.store.close();
  await settled();
  expect(storage.getItem(HISTORY_KEY)).not.toContain(B.url);
  second.runTimers();
  await settled();
  expect(storage.getItem(HISTORY_KEY)).toContain(B.url);
});

it("is there again in a window that is loaded anew beside another", async () => {
  const { open } = phone();
  const [first, second] = [open(), open()];
  await first.store.take();
  await second.store.take();
  first.store.save([A], { tabs: [{ entries: [B], title: "B" }], at: 0 });
  first.store.close();
  await settled();
  const again = open();
  expect(await again.store.take()).toEqual([A]);
  expect(again.store.others.tabs).toMatchObject([{ title: "B" }]);
  second.runTimers();
  await settled();
  second.store.save([START]);
  second.runTimers();
  again.store.close();
  await settled();
  expect(await open().store.take()).toEqual([A]);
});

it("of a window that has ended is told to the one that has it next", async () => {
  const { open } = phone();
  const [first, second] = [open(), open()];
  await first.store.take();
  const left: unknown[] = [];
  await second.store.take(false, ({ tabs }) => left.push(...tabs.map(({ entries }) => entries)));
  first.store.save([A], { tabs: [{ entries: [B], title: "B" }], at: 0 });
  first.store.close();
  await settled();
  second.runTimers();
  await settled();
  expect(left).toEqual([[A], [B]]);
});

it("has the other tabs' titles and pictures, as far as pages keep them short", async () => {
  const { open } = phone();
  const first = open();
  await first.store.take();
  const picture = "https://a.example/boat.png";
  const tabs = [
    { entries: [A], title: "A".repeat(1_000), picture },
    { entries: [B], title: "B", picture: `${picture}?${"b".repeat(2_000)}` },
  ];
  first.store.save([A], { tabs, at: 0 });
  first.store.close();
  await settled();
  const { store } = open();
  await store.take();
  expect(store.others.tabs).toEqual([
    { entries: [A], title: "A".repeat(300), picture },
    { entries: [B], title: "B", picture: null },
  ]);
});

it("keeps of what was typed the latest, and every page", async () => {
  const { open } = phone();
  const typed = (length: number) => [{ at: 0, name: "note", value: "x".repeat(length) }];
  const first = open();
  await first.store.take();
  first.store.save([
    A,
    { ...A, fields: typed(1_000) },
    { ...A, fields: typed(30_000) },
    { ...A, fields: typed(19_000) },
  ]);
  first.store.close();
  await settled();
  const kept = await open().store.take();
  expect(kept.map(({ fields = [] }) => fields[0]?.value.length)).toEqual([undefined, undefined, 30_000, 19_000]);
});

describe("a page that takes the app down", () => {
  it("is opened once more, and then lies behind the start page", async () => {
    const { open } = phone();
    const start = async () => {
      const { store } = open();
      const entries = await store.take();
      store.save(entries.length === 0 ? [A] : entries);
      store.begin();
      store.close();
      await settled();
      return entries;
    };
    expect(await start()).toEqual([]);
    expect(await start()).toEqual([A]);
    expect(await start()).toEqual([A, START]);
  });

  it("has not, once it was there for a while", async () => {
    const { open } = phone();
    for (let time = 0; time < 4; time++) {
      const { store, runTimers } = open();
      expect(await store.take()).toEqual(time === 0 ? [] : [A]);
      store.save([A]);
      store.begin();
      store.lasts();
      runTimers();
      store.close();
      await settled();
    }
  });
});

it("forgets in all windows what one forgets", async () => {
  const { open } = phone();
  const [first, second] = [open(), open()];
  await first.store.take();
  await second.store.take();
  first.store.save([A, B]);
  first.runTimers();
  second.store.forget((url) => url === A.url);
  expect([A, B].map(({ url }) => first.store.forgotten()(url))).toEqual([true, false]);
  first.store.close();
});

it("writes nothing of pages that are forgotten while their tabs are open", async () => {
  const { open, storage } = phone();
  const { store, runTimers } = open();
  await store.take();
  const gone: KeptEntry = { ...entry("https://gone.example/"), forgottenBy: () => true };
  const ofGone = { title: "Gone", picture: "https://gone.example/picture" };
  const tabs = [
    { entries: [START, gone], ...ofGone },
    { entries: [B, gone], ...ofGone },
    { entries: [B], title: "B" },
  ];
  store.save([A, gone], { tabs, at: 2 });
  runTimers();
  expect(storage.getItem(HISTORY_KEY)?.toLowerCase()).not.toContain("gone");
  store.close();
  await settled();
  const again = open();
  expect(await again.store.take()).toEqual([A]);
  expect(again.store.others).toMatchObject({ at: 1, tabs: [{ entries: [B], title: "" }, { title: "B" }] });
});

it("bounds what it writes, and reads nothing that it did not write", async () => {
  const { open, storage } = phone();
  const { store, runTimers } = open();
  await store.take();
  store.save([entry(`https://a.example/${"x".repeat(60_000)}`), B]);
  runTimers();
  expect(storage.getItem(HISTORY_KEY)).not.toContain("a.example");
  store.close();
  await settled();
  storage.setItem(HISTORY_KEY, '{"entries":[{"url":"javascript:1","isRepeatable":true,"scroll":{"x":0,"y":0}}]}');
  expect(await open().store.take()).toEqual([]);
});
