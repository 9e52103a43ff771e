import { deleteDB, openDB } from "idb";
import { beforeEach, expect, it } from "vitest";
import type { KeptPage } from "../../../messages/tunnel-messages.ts";
import { FakeDisk } from "../testing/fake-disk.ts";
import { bytes, expectSound, get, put, SITE, type TestMeta } from "../testing/stored-bodies.ts";
import type { ResponseStore } from "./response-store.ts";

const DOCUMENT = "https://a.example/";
const PICTURE = "https://a.example/x.png";
const page: KeptPage = { url: DOCUMENT, title: "A", keptAt: 1, bytes: 0, missing: 0 };

let disk: FakeDisk<TestMeta>;

beforeEach(() => {
  disk = new FakeDisk();
});

async function keep(store: ResponseStore<TestMeta>, urls: readonly string[] = [DOCUMENT, PICTURE]): Promise<boolean> {
  const index = await store.index(SITE);
  const ids = urls.flatMap((url) => index.find(url)).map(({ id }) => id);
  let isKept = false;
  await store.change(store.era, async (changes) => {
    isKept = await changes.keep(page, ids);
  });
  return isKept;
}

async function putPage(store: ResponseStore<TestMeta>): Promise<void> {
  await store.opened;
  await put(store, DOCUMENT, bytes(500, 1));
  await put(store, PICTURE, bytes(2500, 2));
}

/** What is kept, in the next run of the app. */
async function keptBodies(): Promise<(number | undefined)[]> {
  const store = disk.open();
  await store.opened;
  const index = await store.index(SITE);
  return Promise.all(
    [DOCUMENT, PICTURE].map(async (url) => {
      const [entry] = index.findKept(DOCUMENT, url);
      if (entry === undefined) return undefined;
      const reader = await store.read(entry);
      let size = 0;
      for (let block = await reader?.next(); block; block = await reader?.next()) size += block.length;
      reader?.close();
      await store.upkeep();
      return size;
    }),
  );
}

async function keptPages(): Promise<number> {
  const database = await disk.raw();
  const count = await database.count("kept");
  database.close();
  return count;
}

it("keeps a page whatever else is stored, and stores its bodies once", async () => {
  const store = disk.open({ bytes: 9000 });
  await putPage(store);
  expect(await keep(store)).toBe(true);
  expect(store.use).toMatchObject({ bytes: 3000, entries: 4 });
  await put(store, DOCUMENT, bytes(500, 9));
  for (let turn = 0; turn < 20; turn++) await put(store, `${DOCUMENT}${turn}`, bytes(1900, turn));
  expect(await get(store, PICTURE)).toBeNull();
  expect(await keptBodies()).toEqual([500, 2500]);
  expect(await keptBodies()).toEqual([500, 2500]);
  await expectSound(disk);
});

it("is nobody else's: what is looked up and replaced is what is stored beside", async () => {
  const store = disk.open();
  await putPage(store);
  await keep(store);
  const index = await store.index(SITE);
  expect(index.find(DOCUMENT)).toHaveLength(1);
  expect(index.all()).toHaveLength(2);
  await store.remove(index.all());
  expect((await store.index(SITE)).isEmpty).toBe(true);
  expect(await keptBodies()).toEqual([500, 2500]);
  await expectSound(disk);
});

it("stores nothing more where kept pages take all the room", async () => {
  const store = disk.open({ bytes: 3200 });
  await putPage(store);
  await keep(store);
  for (let turn = 0; turn < 3; turn++) await put(store, `${DOCUMENT}${turn}`, bytes(1900, turn));
  expect((await store.index(SITE)).all().map(({ url }) => url)).not.toContain(`${DOCUMENT}2`);
  expect(await get(store, `${DOCUMENT}2`)).toBeNull();
  expect(await keptBodies()).toEqual([500, 2500]);
  await store.upkeep();
  await expectSound(disk);
  const smaller = disk.open({ bytes: 100, entries: 1 });
  await put(smaller, `${DOCUMENT}3`, bytes(10, 3));
  expect(await keptBodies()).toEqual([500, 2500]);
  await expectSound(disk);
});

it("keeps the page as it is now when it is kept again, also of what only the kept page had", async () => {
  const store = disk.open();
  await putPage(store);
  await keep(store);
  await store.remove((await store.index(SITE)).find(PICTURE));
  await put(store, DOCUMENT, bytes(600, 5));
  const index = await store.index(SITE);
  const ids = [...index.find(DOCUMENT), ...index.findKept(DOCUMENT, PICTURE)].map(({ id }) => id);
  await store.change(store.era, async (changes) => void (await changes.keep(page, ids)));
  expect(await keptBodies()).toEqual([600, 2500]);
  expect(await keptPages()).toBe(1);
  await expectSound(disk);
});

it("does not keep what has gone meanwhile, nor what was asked for before something was forgotten", async () => {
  const store = disk.open();
  await putPage(store);
  const index = await store.index(SITE);
  const ids = index.all().map(({ id }) => id);
  await store.remove(index.find(PICTURE));
  let isKept = true;
  const { era } = store;
  await store.change(era, async (changes) => {
    isKept = await changes.keep(page, ids);
  });
  expect(isKept).toBe(false);
  await store.forget(() => true);
  let isRun = false;
  await store.change(era, async () => {
    isRun = true;
  });
  expect(isRun).toBe(false);
  expect(await keptPages()).toBe(0);
});

it.each([
  [
    "it is kept no longer",
    (store: ResponseStore<TestMeta>) => store.change(store.era, (each) => each.unkeep(DOCUMENT)),
  ],
  [
    "its document goes",
    async (store: ResponseStore<TestMeta>) => store.remove((await store.index(SITE)).findKept(DOCUMENT, DOCUMENT)),
  ],
])("goes as a whole when %s", async (_, end) => {
  const store = disk.open();
  await putPage(store);
  await keep(store);
  await end(store);
  expect(await keptBodies()).toEqual([undefined, undefined]);
  expect(await keptPages()).toBe(0);
  expect(await expectSound(disk)).toBe(2);
});

it("goes with its site", async () => {
  const store = disk.open();
  await putPage(store);
  await keep(store);
  await store.forget((partition) => partition === SITE);
  expect(await keptPages()).toBe(0);
  expect(await expectSound(disk)).toBe(0);
});

it("outlives the loss of what is known of the whole", async () => {
  const store = disk.open();
  await putPage(store);
  await keep(store);
  const database = await disk.raw();
  await database.put("totals", { bytes: -1 } as never, "totals");
  database.close();
  await put(store, `${DOCUMENT}new`, bytes(1200));
  expect(await keptBodies()).toEqual([500, 2500]);
  expect(await keptPages()).toBe(1);
  await expectSound(disk);
});

it("comes to what the release before has stored", async () => {
  await deleteDB("test");
  const former = disk.open();
  await putPage(former);
  const rows = await dump();
  disk.kill();
  await deleteDB("test");
  const second = await openDB("test", 2, {
    upgrade(database) {
      const entries = database.createObjectStore("entries", { keyPath: "id", autoIncrement: true });
      entries.createIndex("partition", "partition");
      entries.createIndex("url", ["partition", "url"]);
      entries.createIndex("copy", ["partition", "body.hash"]);
      entries.createIndex("body", "body.id");
      entries.createIndex("used", "used");
      for (const name of ["blocks", "partitions", "totals"]) database.createObjectStore(name);
      const visits = database.createObjectStore("visits", { autoIncrement: true });
      visits.createIndex("document", ["partition", "document"]);
    },
  });
  // It knew of no sites.
  for (const [, , value] of rows) Reflect.deleteProperty(value as object, "site");
  for (const [name, key, value] of rows) await second.put(name, value, name === "entries" ? undefined : key);
  second.close();
  const store = disk.open();
  await store.opened;
  expect(await get(store, PICTURE)).toEqual(bytes(2500, 2));
  expect(await keep(store)).toBe(true);
  expect(await keptBodies()).toEqual([500, 2500]);
  await expectSound(disk);
});

async function dump(): Promise<[string, IDBValidKey, unknown][]> {
  const database = await disk.raw();
  const rows: [string, IDBValidKey, unknown][] = [];
  for (const name of ["entries", "blocks", "partitions", "totals"] as const) {
    const [keys, values] = await Promise.all([database.getAllKeys(name), database.getAll(name)]);
    for (const [at, key] of keys.entries()) rows.push([name, key, values[at]]);
  }
  database.close();
  return rows;
}
