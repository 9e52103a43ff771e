/** The store under fire: killed, refused, spoilt, and used by two windows at once. */
import { beforeEach, describe, expect, it } from "vitest";
import { Random, runSeed } from "../../../../shared/testing/random.ts";
import { firstDifference, steadyPlatform } from "../../../../shared/testing/steady-platform.ts";
import { FakeDisk } from "../testing/fake-disk.ts";
import { blockCount, bytes, expectSound, OTHER, put, SITE, type TestMeta, turns } from "../testing/stored-bodies.ts";
import type { ResponseStore } from "./response-store.ts";
import { isStoredEntry, type StoredEntry } from "./store-database.ts";

const BOUNDS = { bytes: 30_000, entries: 20 };
const LENGTHS = [0, 10, 900, 1000, 3700];
const PARTITIONS = [SITE, OTHER];

const seeded = `(ROPEWAY_FUZZ_SEED=${runSeed()})`;

let random: Random;
let disk: FakeDisk<TestMeta>;
/** Responses that were begun so far. */
let begun = 0;

/** All that happens from then on follows from the seed. */
function lightFire(): void {
  random = new Random(runSeed());
  disk = new FakeDisk(isTestMeta);
  begun = 0;
}

beforeEach(() => {
  lightFire();
  steadyPlatform({ bytes: (length) => random.bytes(length) });
});

const isTestMeta = (meta: unknown): meta is TestMeta =>
  typeof meta === "object" && meta !== null && "note" in meta && /^\d+ \d+ \d+$/.test(String(meta.note));

/** What was asked for says in its note what its bytes are. */
async function store(into: ResponseStore<TestMeta>): Promise<void> {
  const [length, seed] = [random.pick(LENGTHS), random.below(5)];
  const note = `${begun++} ${length} ${seed}`;
  const copy = into.startCopy();
  const body = bytes(length, seed);
  for (let at = 0; at < length; at += 400) {
    copy.body.write(body.subarray(at, at + 400));
    await turns(random.below(6));
  }
  if (random.oneIn(12)) return copy.body.giveUp();
  const fresh = { partition: random.pick(PARTITIONS), url: urlOf(random.below(12)), meta: { note } };
  await into.add({ ...fresh, replaces: () => true }, copy);
}

const urlOf = (number: number) => `https://a.example/${number}`;

/**
 * Reads at its leisure: what comes is whole and what was stored, or nothing, or an error.
 *
 * @returns number of the response; null where there is none.
 */
async function read(from: ResponseStore<TestMeta>, partition: string, url: string): Promise<number | null> {
  const [entry] = (await from.index(partition)).find(url);
  const reader = entry === undefined ? null : await from.read(entry);
  if (entry === undefined || reader === null) return null;
  const [number = 0, length = 0, seed = 0] = entry.meta.note.split(" ").map(Number);
  const blocks: Uint8Array[] = [];
  for (let block = await reader.next(); block !== null; block = await reader.next()) {
    blocks.push(block);
    await turns(random.below(12));
  }
  reader.close();
  expect(Buffer.concat(blocks).equals(bytes(length, seed))).toBe(true);
  return number;
}

/** One thing that a window does at random. */
async function act(window: ResponseStore<TestMeta>): Promise<void> {
  const [partition, url] = [random.pick(PARTITIONS), urlOf(random.below(12))];
  switch (random.below(9)) {
    case 8:
      return keep(window, partition, url);
    case 0:
      return void (await window.upkeep());
    case 1:
      return window.remove((await window.index(partition)).find(url));
    case 2:
      for (const entry of (await window.index(partition)).find(url)) await window.refresh(entry, entry.meta);
      return;
    case 3:
    case 4:
      return void (await read(window, partition, url));
    default:
      return store(window);
  }
}

/** One page at most is kept in each partition, or it is kept no longer. */
async function keep(window: ResponseStore<TestMeta>, partition: string, url: string): Promise<void> {
  const index = await window.index(partition);
  const ids = [...index.find(url), ...index.find(urlOf(random.below(12)))].map(({ id }) => id);
  const page = { url: urlOf(PARTITIONS.indexOf(partition)), title: "", keptAt: 0, bytes: 0, missing: 0 };
  const isEnd = random.oneIn(3);
  await window.change(window.era, async (changes) => {
    if (isEnd) await changes.unkeep(page.url);
    else await changes.keep(page, [...new Set(ids)]);
  });
  for (const { url: each } of index.allKept()) await read(window, partition, each);
}

async function actMany(windows: readonly ResponseStore<TestMeta>[], count: number): Promise<void> {
  await Promise.all(windows.map(({ opened }) => opened));
  await Promise.all(Array.from({ length: count }, () => act(random.pick(windows))));
}

const NAMES = ["entries", "partitions", "totals", "blocks"] as const;

/** What a disk, or another release, may have left in place of a value. */
const SPOILT = [undefined, null, -1, 1e12, Number.NaN, "", "x", [], {}, new Uint8Array(3)];

function spoilt(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || random.oneIn(4)) {
    return random.pick(SPOILT);
  }
  const name = random.pick(Object.keys(value));
  return { ...value, [name]: spoilt((value as Record<string, unknown>)[name]) };
}

/** One row of the database is another, or gone. */
async function spoilOne(): Promise<void> {
  const database = await disk.raw();
  const name = random.pick(NAMES);
  const write = database.transaction(name, "readwrite");
  const keys = (await write.store.getAllKeys()) as unknown as IDBKeyRange[];
  const key = keys.length === 0 ? null : random.pick(keys);
  if (key !== null && random.oneIn(4)) await write.store.delete(key);
  else if (key !== null) {
    const row: unknown = spoilt(await write.store.get(key));
    const isInline = name === "entries";
    const whole = isInline ? { ...(typeof row === "object" ? row : {}), id: key } : row;
    await (isInline ? write.store.put(whole as never) : write.store.put(whole as never, key as never));
  }
  await write.done;
  database.close();
}

const openTwo = () => [disk.open(BOUNDS), disk.open(BOUNDS)];

const expectBroken = (error: unknown) => expect(String(error)).toMatch(/gone or broken/);

async function forgetAll(): Promise<void> {
  const window = disk.open(BOUNDS);
  await window.opened;
  expect(await window.forget(() => true)).toBe(true);
  await window.upkeep();
  disk.kill();
}

/** After the fire: within its bounds, nothing left over, and of use. */
async function expectUsable(): Promise<void> {
  const window = disk.open(BOUNDS);
  await window.opened;
  await window.upkeep();
  const entries = await expectSound(disk);
  expect(entries).toBeLessThanOrEqual(BOUNDS.entries);
  expect(window.use.bytes).toBeLessThanOrEqual(BOUNDS.bytes);
  const database = await disk.raw();
  const owned = new Set((await database.getAll("entries")).map(({ body }) => body.id));
  expect((await database.getAllKeys("blocks")).filter(([id]) => !owned.has(id))).toEqual([]);
  database.close();
  for (const partition of PARTITIONS) {
    for (let number = 0; number < 12; number++) await read(window, partition, urlOf(number));
  }
  await put(window, "https://a.example/after", bytes(1500), { note: "0 1500 1" });
  expect(await read(window, SITE, "https://a.example/after")).toBe(0);
}

/** Killed between any two steps. */
async function killAtAnyStep(): Promise<void> {
  let left = 1 + random.below(150);
  disk.onStep = () => {
    left -= 1;
    if (left === 0) disk.kill();
  };
  // What was killed fails as it likes; nobody hears of it.
  await actMany(openTwo(), 8).catch(() => {});
  disk.kill();
  await expectSound(disk);
}

/** Rows are broken while nobody looks. */
async function spoilAndUse(): Promise<void> {
  await actMany(openTwo(), 4);
  disk.kill();
  for (let count = random.below(3); count >= 0; count--) await spoilOne();
  const windows = openTwo();
  await Promise.all(windows.map(({ opened }) => opened));
  // A block that is found broken in the middle of a body ends its reading.
  for (const partition of PARTITIONS) {
    for (let number = 0; number < 12; number++) {
      await read(random.pick(windows), partition, urlOf(number)).catch(expectBroken);
    }
  }
  for (let count = 0; count < 30; count++) await store(random.pick(windows));
  const database = await disk.raw();
  const bodies = async () => new Map((await database.getAll("entries")).map(({ body }) => [body?.id, body?.size]));
  const sizes = [...(await bodies()).values()].filter((size) => Number.isSafeInteger(size));
  expect(await database.count("entries")).toBeLessThanOrEqual(BOUNDS.entries + 3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BOUNDS.bytes + 4 * 3700);
  await expectRest(windows);
  await forgetAll();
  expect(await database.getAll("entries")).toEqual([]);
  database.close();
}

/** When they had time to look through all: no row is broken, and none is left that nobody finds. */
async function expectRest(windows: readonly ResponseStore<TestMeta>[]): Promise<void> {
  for (const window of windows) await window.upkeep();
  for (const partition of PARTITIONS) {
    for (const window of windows) await window.index(partition);
  }
  for (const window of windows) await window.change(window.era, async () => {});
  const database = await disk.raw();
  const entries = await database.getAll("entries");
  expect(entries.filter((entry) => !isStoredEntry(entry, isTestMeta))).toEqual([]);
  expect(entries.filter(({ partition }) => !PARTITIONS.includes(partition))).toEqual([]);
  database.close();
  disk.kill();
}

/** One of two windows forgets while both write and evict. */
async function forgetAmidWork(): Promise<void> {
  const windows = openTwo();
  await actMany(windows, 6);
  const work = actMany(windows, 10);
  await turns(random.below(40));
  const isOf = random.pick([(partition: string) => partition === SITE, () => true]);
  const before = begun;
  expect(await random.pick(windows).forget(isOf)).toBe(true);
  const readAll = async () => {
    for (const window of [...windows, disk.open(BOUNDS)]) {
      await window.opened;
      for (const partition of PARTITIONS.filter(isOf)) {
        for (let number = 0; number < 12; number++) {
          const found = await read(window, partition, urlOf(number));
          if (found !== null) expect(found).toBeGreaterThanOrEqual(before);
        }
      }
    }
  };
  await Promise.all([readAll(), work]);
  await readAll();
  await expectUsable();
  disk.kill();
}

describe(`the store ${seeded}`, () => {
  it("is sound after 200 kills between any two steps", async () => {
    for (let round = 0; round < 200; round++) await killAtAnyStep();
    disk.onStep = () => {};
    await expectUsable();
  });

  it("makes room where the disk refuses, and gives up quietly where that does not help", async () => {
    for (let round = 0; round < 20; round++) {
      const [first, last] = [random.below(30), random.below(30)];
      let writes = 0;
      disk.onPut = () => {
        writes += 1;
        if (writes > first && writes <= first + last) throw new DOMException("Full", "QuotaExceededError");
      };
      const windows = openTwo();
      await actMany(windows, 8);
      for (const window of windows) expect(window.use.bytes).toBeLessThanOrEqual(BOUNDS.bytes);
      disk.onPut = () => {};
      await expectUsable();
      disk.kill();
    }
  });

  it("gives up quietly where the browser takes whole transactions back", async () => {
    for (let round = 0; round < 20; round++) {
      disk.onStep = ({ transaction, method }) => {
        if (method === "put" && random.oneIn(20)) transaction?.abort();
      };
      await actMany(openTwo(), 8);
      disk.onStep = () => {};
      await expectUsable();
      disk.kill();
    }
  });

  it("shows nothing of rows that are broken, and is within its bounds again when they have gone", async () => {
    for (let round = 0; round < 40; round++) await spoilAndUse();
  });

  it("never shows again what one of two windows has forgotten while both write, evict and forget", async () => {
    for (let round = 0; round < 20; round++) await forgetAmidWork();
  });

  it("does the same again, step by step, where the seed is the same", async () => {
    const runs: string[][] = [];
    for (const _ of "12") {
      lightFire();
      disk.steps = [];
      for (let round = 0; round < 4; round++) await spoilAndUse();
      for (let round = 0; round < 3; round++) await forgetAmidWork();
      for (let round = 0; round < 20; round++) await killAtAnyStep();
      runs.push(disk.steps);
    }
    const [first = [], second = []] = runs;
    expect(first.length).toBeGreaterThan(1000);
    expect(firstDifference(first, second)).toBeNull();
  });
});

describe("the index", () => {
  beforeEach(() => {
    disk = new FakeDisk();
  });

  const add = (into: ResponseStore<TestMeta>, url: string, note: string) => put(into, url, bytes(10), { note });

  it("keeps sixteen responses to a URL, those used last", async () => {
    const window = disk.open();
    for (let number = 0; number < 20; number++) await add(window, urlOf(1), String(number));
    const kept = (await window.index(SITE)).find(urlOf(1));
    expect(kept.map(({ meta }) => Number(meta.note)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, number) => number + 4),
    );
    expect(await expectSound(disk)).toBe(16);
  });

  it("keeps no head above 8 KB, nor what grows above it", async () => {
    const window = disk.open();
    await add(window, urlOf(1), "x".repeat(9000));
    await add(window, `${urlOf(2)}?${"x".repeat(9000)}`, "");
    expect(await expectSound(disk)).toBe(0);
    await add(window, urlOf(3), "small");
    const [entry] = (await window.index(SITE)).find(urlOf(3));
    if (entry !== undefined) await window.refresh(entry, { note: "x".repeat(9000) });
    expect(await expectSound(disk)).toBe(0);
    expect((await window.index(SITE)).find(urlOf(3))).toEqual([]);
  });

  it("keeps no visit above 64 KB", async () => {
    const window = disk.open();
    const visit = { partition: SITE, document: urlOf(1), at: 0, requests: [] };
    await window.keepVisit({ ...visit, document: "x".repeat(70_000) }, window.era);
    await window.keepVisit(visit, window.era);
    const database = await disk.raw();
    expect(await database.count("visits")).toBe(1);
  });
});

it("keeps no blocks of a body that could not be stored", async () => {
  const window = disk.open();
  disk.onPut = (value) => {
    if (!(value instanceof Uint8Array)) throw new DOMException("Full", "QuotaExceededError");
  };
  await put(window, "https://a.example/x", bytes(3700));
  expect(await blockCount(disk)).toBe(0);
});

describe("one broken row", () => {
  /** Of a store with one response, where something of its row is another then. */
  async function withBroken(change: (row: StoredEntry<unknown>) => unknown): Promise<ResponseStore<TestMeta>> {
    await put(disk.open(BOUNDS), urlOf(1), bytes(900), { note: "0 900 1" });
    disk.kill();
    const database = await disk.raw();
    for (const row of await database.getAll("entries")) await database.put("entries", change(row) as typeof row);
    database.close();
    const window = disk.open(BOUNDS);
    await window.opened;
    return window;
  }

  const countEntries = async () => {
    const database = await disk.raw();
    const count = await database.count("entries");
    database.close();
    return count;
  };

  it("gives its body to no other, and goes when that is stored", async () => {
    const window = await withBroken((row) => ({ ...row, body: { ...row.body, size: "x" } }));
    await put(window, urlOf(2), bytes(900), { note: "0 900 1" });
    const database = await disk.raw();
    const entries = await database.getAll("entries");
    database.close();
    expect(entries.map(({ url, body }) => [url, body.size])).toEqual([[urlOf(2), 900]]);
    expect(await read(window, SITE, urlOf(2))).toBe(0);
  });

  it.each([
    ["partition", null],
    ["used", "never"],
    ["site", null],
    ["site", "https://b.example"],
  ])("without its %s keeps nothing else from being stored", async (name, value) => {
    const window = await withBroken((row) => ({ ...row, [name]: value }));
    for (let number = 2; number < 30; number++) await put(window, urlOf(number), bytes(10), { note: "0 10 1" });
    expect(await read(window, SITE, urlOf(29))).toBe(0);
    await window.upkeep();
    expect(await countEntries()).toBeLessThanOrEqual(BOUNDS.entries);
  });

  it.each(["partition", "used", "site"])("that has lost its %s is forgotten with the others", async (name) => {
    const window = await withBroken((row) => ({ ...row, [name]: undefined }));
    expect(await window.forget(() => true)).toBe(true);
    expect(await countEntries()).toBe(0);
  });

  it("in place of what a partition takes up hides nothing from who forgets it", async () => {
    const window = await withBroken((row) => row);
    const database = await disk.raw();
    await database.delete("partitions", SITE);
    database.close();
    expect(await window.forget((partition) => partition === SITE)).toBe(true);
    expect(await countEntries()).toBe(0);
  });
});
