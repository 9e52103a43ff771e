import { beforeEach, describe, expect, it } from "vitest";
import { type DiskStep, FakeDisk } from "../testing/fake-disk.ts";
import {
  blockCount,
  bytes,
  expectSound,
  get,
  OTHER,
  put,
  SITE,
  type TestMeta,
  turns,
} from "../testing/stored-bodies.ts";
import type { ResponseStore } from "./response-store.ts";
import type { StoreDatabase } from "./store-database.ts";

let disk: FakeDisk<TestMeta>;

const connectionOf = async (store: ResponseStore<TestMeta>) => (await store.opened) as StoreDatabase;

beforeEach(() => {
  disk = new FakeDisk();
});

describe("a store", () => {
  it.each([0, 1, 999, 1000, 1001, 12_345])("gives %i bytes back, in this run and the next", async (length) => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(length));
    expect(await get(store, "https://a.example/x")).toEqual(bytes(length));
    expect(await get(disk.open(), "https://a.example/x")).toEqual(bytes(length));
    await expectSound(disk);
  });

  it("knows at once that a site has nothing", async () => {
    const store = disk.open();
    expect(store.index(SITE)).not.toBeInstanceOf(Promise);
    await store.opened;
    expect(store.index(OTHER)).not.toBeInstanceOf(Promise);
    await put(store, "https://a.example/x", bytes(10), { partition: OTHER });
    expect(store.index(OTHER)).not.toBeInstanceOf(Promise);
    expect(await get(store, "https://a.example/x", OTHER)).toEqual(bytes(10));
  });

  it("keeps one copy of a body for all URLs of a partition, and none for another's", async () => {
    const store = disk.open();
    for (const name of ["x", "y", "z"]) await put(store, `https://a.example/${name}`, bytes(2500));
    expect(await blockCount(disk)).toBe(3);
    expect(await get(store, "https://a.example/x", OTHER)).toBeNull();
    await put(store, "https://a.example/x", bytes(2500), { partition: OTHER });
    expect(await blockCount(disk)).toBe(6);
    await store.remove((await store.index(SITE)).find("https://a.example/x"));
    expect(await get(store, "https://a.example/y")).toEqual(bytes(2500));
    await expectSound(disk);
  });

  it("replaces what the new one takes the place of", async () => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(10, 1), { note: "en" });
    await put(store, "https://a.example/x", bytes(10, 2), { note: "de" });
    await put(store, "https://a.example/x", bytes(10, 3), { note: "en" });
    const kept = (await store.index(SITE)).find("https://a.example/x");
    expect(kept.map(({ meta }) => meta.note)).toEqual(["de", "en"]);
    expect(await expectSound(disk)).toBe(2);
  });

  it("goes on where the browser has closed its connection, and forgets one site alone", async () => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(10));
    await put(store, "https://b.example/x", bytes(10), { partition: OTHER });
    disk.closeConnections();
    await store.opened;
    await put(store, "https://a.example/y", bytes(10));
    expect(await get(store, "https://a.example/x")).toEqual(bytes(10));
    expect(await get(disk.open(), "https://a.example/y")).toEqual(bytes(10));
    // Nobody has said a word of it yet.
    (await connectionOf(store)).close();
    expect(await store.forget((partition) => partition === SITE)).toBe(true);
    for (const each of [store, disk.open()]) {
      expect(await get(each, "https://a.example/x")).toBeNull();
      expect(await get(each, "https://b.example/x", OTHER)).toEqual(bytes(10));
    }
    await expectSound(disk);
  });

  it("refreshes nothing that was forgotten meanwhile", async () => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(10));
    const [entry] = (await store.index(SITE)).find("https://a.example/x");
    if (entry === undefined) throw new Error("It is not stored");
    const refreshed = store.refresh(entry, { note: "later" });
    store.hear({ kind: "forgotten", isDatabaseNew: false });
    await refreshed;
    expect((await store.index(SITE)).find("https://a.example/x").map(({ meta }) => meta.note)).toEqual([""]);
  });

  it("drops what was used longest ago, whatever the clock says", async () => {
    const store = disk.open({ bytes: 9000 });
    for (let turn = 0; turn < 25; turn++) {
      await put(store, `https://a.example/${turn}`, bytes(900, turn));
      expect(await get(store, "https://a.example/0")).toEqual(bytes(900, 0));
      await store.upkeep();
    }
    expect(await get(store, "https://a.example/1")).toBeNull();
    expect(await get(store, "https://a.example/24")).toEqual(bytes(900, 24));
    expect(store.use.bytes).toBeLessThanOrEqual(9000);
    await expectSound(disk);
  });

  /** A page of a hostile site, which asks for what `count` makes of it, in frames of ever other origins, too. */
  async function attack(store: ResponseStore<TestMeta>, count: number, length: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      const frame = turn % 3 === 0 ? "https://evil.example" : `https://f${turn}.example`;
      await put(store, `${frame}/${turn}`, bytes(length, turn), {
        partition: `https://evil.example ${frame}`,
        chunk: 10_000,
      });
    }
  }

  it.each([
    ["26 bodies of a twentieth of it each", { bytes: 200_000 }, 26, 10_000],
    ["more bodies of a byte than there may be", { entries: 60 }, 90, 1],
  ])("lets no page take the place of other sites: %s", async (_, bounds, count, length) => {
    const store = disk.open({ backlogBytes: 20_000, ...bounds });
    await put(store, "https://a.example/x", bytes(3000, 1));
    await put(store, "https://a.example/y", bytes(3000, 2));
    await put(store, "https://b.example/x", bytes(9000, 3), { partition: "https://b.example https://b.example" });
    await attack(store, count, length);
    expect(await get(store, "https://a.example/x")).toEqual(bytes(3000, 1));
    expect(await get(store, "https://a.example/y")).toEqual(bytes(3000, 2));
    const other = await get(store, "https://b.example/x", "https://b.example https://b.example");
    expect(other).toEqual(bytes(9000, 3));
    // What it brought last is there: it took the place of its own.
    const last = `https://evil.example ${(count - 1) % 3 === 0 ? "https://evil.example" : `https://f${count - 1}.example`}`;
    expect(await get(store, `${last.split(" ")[1]}/${count - 1}`, last)).toEqual(bytes(length, count - 1));
    await expectSound(disk);
  });

  it("leaves a share to the sites that were used of late, before many that were not", async () => {
    const store = disk.open({ entries: 64 });
    const partition = (name: string) => `https://${name}.example https://${name}.example`;
    await put(store, "https://late.example/x", bytes(10), { partition: partition("late") });
    for (let turn = 0; turn < 70; turn++) {
      await put(store, `https://old${turn}.example/`, bytes(10, turn), { partition: partition(`old${turn}`) });
      expect(await get(store, "https://late.example/x", partition("late"))).toEqual(bytes(10));
      await store.upkeep();
    }
    expect(await get(store, "https://old0.example/", partition("old0"))).toBeNull();
    expect(await expectSound(disk)).toBe(64);
  });

  it("lets no page take the place of others' visits", async () => {
    const store = disk.open();
    const visit = (site: string, document: string) =>
      store.keepVisit({ partition: `${site} ${site}`, document, at: 1, requests: [] }, store.era);
    const written: Promise<void>[] = [visit("https://a.example", "https://a.example/")];
    for (let turn = 0; turn < 220; turn++) written.push(visit("https://evil.example", `https://evil.example/${turn}`));
    store.hurry();
    await Promise.all(written);
    expect(await store.visit("https://a.example https://a.example", "https://a.example/")).toBeDefined();
    const evil = (turn: number) =>
      store.visit("https://evil.example https://evil.example", `https://evil.example/${turn}`);
    expect([await evil(0), (await evil(219))?.at]).toEqual([undefined, 1]);
  });

  it("bounds its index", async () => {
    const store = disk.open({ entries: 5 });
    for (let turn = 0; turn < 12; turn++) await put(store, `https://a.example/${turn}`, bytes(10));
    expect(await expectSound(disk)).toBe(5);
  });

  it("stores nothing of a body that is too large, given up, or faster than the disk", async () => {
    const store = disk.open();
    await put(store, "https://a.example/large", bytes(20_001));
    const cancelled = store.startCopy();
    cancelled.body.write(bytes(1500));
    await turns(8);
    cancelled.body.giveUp();
    await store.add(
      { partition: SITE, url: "https://a.example/c", meta: { note: "" }, replaces: () => true },
      cancelled,
    );
    const fast = store.startCopy();
    for (let chunk = 0; chunk < 10; chunk++) fast.body.write(bytes(600));
    await store.add({ partition: SITE, url: "https://a.example/f", meta: { note: "" }, replaces: () => true }, fast);
    await turns(20);
    expect(await expectSound(disk)).toBe(0);
    expect(await blockCount(disk)).toBe(0);
  });

  it("stores a body that comes in one burst, as a push does that its page claims", async () => {
    const store = disk.open();
    const copy = store.startCopy();
    for (let chunk = 0; chunk < 5; chunk++) copy.body.write(bytes(600));
    await store.add({ partition: SITE, url: "https://a.example/b", meta: { note: "" }, replaces: () => true }, copy);
    expect((await get(store, "https://a.example/b"))?.length).toBe(3000);
    await expectSound(disk);
  });

  it("stores of bodies that come at once as many as may wait for the disk together", async () => {
    const store = disk.open();
    const copies = ["x", "y", "z"].map((name) => ({ url: `https://a.example/${name}`, copy: store.startCopy() }));
    for (const { copy } of copies) copy.body.write(bytes(2100));
    const added = copies.map(({ url, copy }) =>
      store.add({ partition: SITE, url, meta: { note: "" }, replaces: () => true }, copy),
    );
    await Promise.all(added);
    const lengths = await Promise.all(copies.map(async ({ url }) => (await get(store, url))?.length));
    expect(lengths).toEqual([2100, 2100, undefined]);
    // There is room again.
    await put(store, "https://a.example/z", bytes(4100), { chunk: 4100 });
    expect((await get(store, "https://a.example/z"))?.length).toBe(4100);
    await turns(20);
    await expectSound(disk);
  });

  it("leaves the page its chunk", async () => {
    const store = disk.open();
    const copy = store.startCopy();
    const chunk = bytes(100);
    copy.body.write(chunk);
    structuredClone(chunk, { transfer: [chunk.buffer] });
    await store.add({ partition: SITE, url: "https://a.example/x", meta: { note: "" }, replaces: () => true }, copy);
    expect(await get(store, "https://a.example/x")).toEqual(bytes(100));
  });
});

describe("a store that cannot be read for a moment", () => {
  const fails = (name: string) => () => {
    throw new DOMException("Failed", name);
  };
  const abortLater = ({ transaction }: DiskStep) => queueMicrotask(() => transaction?.abort());

  it.each<[string, string, (step: DiskStep) => void]>([
    ["is closing", "transaction", fails("InvalidStateError")],
    ["fails", "get", fails("UnknownError")],
    ["takes the transaction back", "get", abortLater],
  ])("keeps a body where the database %s, read ahead or not", async (_, failing, act) => {
    for (const isAhead of [true, false]) {
      const store = disk.open();
      const url = `https://a.example/${isAhead}`;
      await put(store, url, bytes(10));
      disk.onStep = (step) => {
        if (step.method === failing) act(step);
      };
      if (isAhead) store.readAhead((await store.index(SITE)).find(url));
      await turns(10);
      expect(await get(store, url)).toBeNull();
      disk.onStep = () => {};
      await store.upkeep();
      expect(await get(store, url)).toEqual(bytes(10));
    }
  });
});

describe("a spoilt store", () => {
  it.each<[string, (key: [string, number]) => Promise<void>]>([
    ["gone", async (key) => (await disk.raw()).delete("blocks", key)],
    ["short", async (key) => void (await (await disk.raw()).put("blocks", bytes(3), key))],
    ["another", async (key) => void (await (await disk.raw()).put("blocks", bytes(10, 9), key))],
  ])("takes a body for missing of which a block is %s", async (_, spoil) => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(10));
    const database = await disk.raw();
    const [key = ["", 0]] = await database.getAllKeys("blocks");
    await spoil(key as [string, number]);
    expect(await get(store, "https://a.example/x")).toBeNull();
    expect((await store.index(SITE)).find("https://a.example/x")).toEqual([]);
    await store.upkeep();
    expect(await database.count("entries")).toBe(0);
  });

  it("ends a read in the middle where a later block is another", async () => {
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(2500));
    const database = await disk.raw();
    const [, second] = await database.getAllKeys("blocks");
    await database.put("blocks", bytes(1000, 9), second);
    await expect(get(store, "https://a.example/x")).rejects.toThrow(/gone or broken/);
  });

  it("makes room on a full disk, and stores the next", async () => {
    let used = 0;
    disk.onPut = (value) => {
      if (!(value instanceof Uint8Array)) return;
      used += value.length;
      if (used > 6000) {
        used -= 3000;
        throw new DOMException("Full", "QuotaExceededError");
      }
    };
    const store = disk.open();
    for (let turn = 0; turn < 30; turn++) await put(store, `https://a.example/${turn}`, bytes(800, turn));
    disk.onPut = () => {};
    expect(await get(store, "https://a.example/29")).toEqual(bytes(800, 29));
    expect(await get(store, "https://a.example/0")).toBeNull();
    expect(await expectSound(disk)).toBeLessThan(20);
  });

  it("goes on without a disk", async () => {
    disk.onPut = () => {
      throw new DOMException("Full", "QuotaExceededError");
    };
    const store = disk.open();
    await put(store, "https://a.example/x", bytes(800));
    await put(store, "https://a.example/y", bytes(2800));
    expect(await get(store, "https://a.example/x")).toBeNull();
    await store.upkeep();
  });
});

describe("forgetting", () => {
  it("takes partitions, and what is under way, in every window", async () => {
    const [first, second] = [disk.open(), disk.open()];
    await put(first, "https://a.example/x", bytes(2500));
    await put(second, "https://b.example/y", bytes(10), { partition: OTHER });
    await put(first, "https://b.example/z", bytes(10), { partition: "https://c.example https://c.example" });
    expect(await get(second, "https://a.example/x")).toEqual(bytes(2500));
    const underWay = [first.startCopy(), second.startCopy()];
    for (const copy of underWay) copy.body.write(bytes(1200));
    await turns(8);
    await first.forget((partition) => partition.endsWith("https://a.example"));
    for (const [index, copy] of underWay.entries()) {
      const url = `https://a.example/later${index}`;
      await (index === 0 ? first : second).add(
        { partition: SITE, url, meta: { note: "" }, replaces: () => true },
        copy,
      );
    }
    for (const store of [first, second]) {
      expect(await get(store, "https://a.example/x")).toBeNull();
      expect(await get(store, "https://b.example/y", OTHER)).toBeNull();
      expect(await get(store, "https://b.example/z", "https://c.example https://c.example")).toEqual(bytes(10));
    }
    expect(await expectSound(disk)).toBe(1);
    expect(await blockCount(disk)).toBe(1);
  });

  it("shows a window what another one stored", async () => {
    const [first, second] = [disk.open(), disk.open()];
    expect(await get(second, "https://a.example/x")).toBeNull();
    await put(first, "https://a.example/x", bytes(20));
    expect(await get(second, "https://a.example/x")).toEqual(bytes(20));
  });
});
