import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SiteEvent } from "../app/state.ts";
import { LibraryDatabase } from "./library-database.ts";
import { type Visit, Visits, withWords } from "./visits.ts";

const NOON = new Date(2026, 10, 26, 12).getTime();
const DAY = 86_400_000;

let database: LibraryDatabase;
let visits: Visits;

/** As when the app is opened. */
function open(now = NOON): Visits {
  database = new LibraryDatabase(() => visits?.isChanged());
  visits = new Visits({ database, now: () => now, onRead() {} });
  return visits;
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  open();
});

afterEach(() => database.close());

const loaded = (url: string, title: string, at = NOON, isNew = true): SiteEvent => ({
  kind: "loaded",
  site: { url, title, icon: null },
  at,
  isNew,
});
const titles = (list: readonly Visit[] | null) => list?.map(({ title }) => title);

it("has a page once for each day, the latest first, and counts its visits", async () => {
  await visits.hear(loaded("https://a.example/", "A", NOON - DAY));
  await visits.hear(loaded("https://a.example/", "A"));
  await visits.hear(loaded("https://b.example/", "B", NOON + 1));
  await visits.hear(loaded("https://a.example/", "A again", NOON + 2));
  expect(await read()).toMatchObject([
    { day: "2026-11-26", title: "A again", at: NOON + 2, count: 2 },
    { day: "2026-11-26", title: "B", count: 1 },
    { day: "2026-11-25", title: "A", count: 1 },
  ]);
});

const read = async () => (await visits.read()) ?? [];

it("takes a new title for the same visit, and none for a page that was forgotten", async () => {
  await visits.hear(loaded("https://a.example/", "A"));
  await visits.hear(loaded("https://a.example/", "(1) A", NOON + 5, false));
  expect(await read()).toMatchObject([{ title: "(1) A", at: NOON, count: 1 }]);
  await visits.forget(await read());
  await visits.hear(loaded("https://a.example/", "(2) A", NOON + 9, false));
  expect(await read()).toEqual([]);
});

it("keeps pages of the web alone, without names and passwords", async () => {
  for (const url of ["about:blank", "blob:https://a.example/1", "data:text/html,x"])
    await visits.hear(loaded(url, url));
  await visits.hear(loaded("https://name:word@a.example/x", "A"));
  expect((await read()).map(({ url }) => url)).toEqual(["https://a.example/x"]);
});

it("keeps five hundred pages of an origin and a day, and no address that is longer than any", async () => {
  await visits.hear(loaded(`https://a.example/${"x".repeat(64_000)}`, "long"));
  for (let number = 0; number < 502; number++) await visits.hear(loaded(`https://a.example/${number}`, "A"));
  await visits.hear(loaded("https://a.example/0", "A again", NOON + 1));
  await visits.hear(loaded("https://b.example/", "B"));
  await visits.hear(loaded("https://a.example/day-before", "A", NOON - DAY));
  const kept = await read();
  expect(kept).toHaveLength(502);
  expect(kept[0]).toMatchObject({ title: "A again", count: 2 });
});

it("forgets a site with its icon, and nothing else", async () => {
  for (const host of ["a", "b"]) {
    await visits.hear(loaded(`https://${host}.example/`, host));
    await visits.hear({ kind: "icon", url: `https://${host}.example/`, icon: `data:${host}` });
  }
  await visits.hear({ kind: "forget", isOf: (url) => url.startsWith("https://a.") });
  expect(titles(await read())).toEqual(["b"]);
  visits.look();
  visits.iconOf("");
  await expect.poll(() => visits.iconOf("https://b.example/other")).toBe("data:b");
  expect(visits.iconOf("https://a.example/")).toBeNull();
});

it("takes back what was forgotten last", async () => {
  await visits.hear(loaded("https://a.example/", "A"));
  await visits.hear(loaded("https://b.example/", "B", NOON - 1));
  await visits.hear({ kind: "forget", isOf: null });
  expect(await read()).toEqual([]);
  await visits.hear({ kind: "forget", isOf: (url) => url.includes("c.example") });
  await visits.hear({ kind: "remember" });
  expect(titles(await read())).toEqual(["A", "B"]);
  const undo = await visits.forget((await read()).slice(0, 1));
  expect(titles(await read())).toEqual(["B"]);
  undo?.();
  await expect.poll(async () => titles(await read())).toEqual(["A", "B"]);
});

it("takes back what is being forgotten", async () => {
  await visits.hear(loaded("https://a.example/", "A"));
  await Promise.all([visits.hear({ kind: "forget", isOf: null }), visits.hear({ kind: "remember" })]);
  expect(titles(await read())).toEqual(["A"]);
});

it("keeps ninety days", async () => {
  for (const days of [0, 89, 90, 91, 400])
    await visits.hear(loaded("https://a.example/", `${days}`, NOON - days * DAY));
  await database.close();
  expect(titles((await open().read()) ?? [])).toEqual(["0", "89", "90"]);
});

it("keeps ten thousand pages: the oldest days go", async () => {
  await database.change(["visits"], async (stores) => {
    for (let index = 0; index < 10_050; index++) {
      const day = index < 60 ? "2026-11-20" : "2026-11-21";
      stores.visits.put({ day, url: `https://a.example/${String(index).padStart(6)}`, title: "", at: index, count: 1 });
    }
  });
  await database.close();
  open();
  const left = await read();
  expect(left).toHaveLength(10_000);
  expect(left.filter(({ day }) => day === "2026-11-20")).toHaveLength(10);
});

it("does without storage that is closed to it", async () => {
  await database.close();
  globalThis.indexedDB = {
    open() {
      throw new DOMException("denied", "SecurityError");
    },
  } as unknown as IDBFactory;
  open();
  await visits.hear(loaded("https://a.example/", "A"));
  expect([await visits.read(), visits.look()]).toEqual([null, []]);
  expect(await visits.forget([])).toBeNull();
  // It is open again.
  globalThis.indexedDB = new IDBFactory();
  await visits.hear(loaded("https://a.example/", "A"));
  await expect.poll(() => titles(visits.look() ?? [])).toEqual(["A"]);
});

it("finds pages by all words of title and address, as people read them", () => {
  const visit = (url: string, title: string): Visit => ({ day: "", url, title, at: 0, count: 1 });
  const list = [
    visit("https://news.example/paris", "Weather"),
    visit("https://fr.example/caf%C3%A9", "Menu"),
    visit("https://bad.example/%E9", "Odd address"),
  ];
  expect(titles(withWords(list, " PARIS weather "))).toEqual(["Weather"]);
  expect(titles(withWords(list, "café"))).toEqual(["Menu"]);
  expect(titles(withWords(list, "odd"))).toEqual(["Odd address"]);
  expect(withWords(list, " ")).toBe(list);
});
