import { describe, expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { FRAME_SLOTS_PER_SITE, freshLabel, MAX_FRAME_SLOTS, SlotRegistry } from "./slot-registry.ts";

const A = "https://a.example";
const B = "https://b.example";

describe("SlotRegistry", () => {
  it("keeps an origin's slots apart by top-level origin, over restarts", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    const top = registry.assign("s1", A, A);
    const frame = registry.assign("s2", A, B);
    expect([top.topLevel, frame.topLevel]).toEqual([true, false]);
    for (const known of [registry, new SlotRegistry(storage)]) {
      expect([known.find(A, A), known.find(A, B), known.find(B, B)]).toEqual([top, frame, null]);
      expect([known.byLabel("s2"), known.byLabel("s3")]).toEqual([frame, null]);
      expect(known.sites).toEqual([A]);
    }
  });

  it("forgets all slots", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    registry.assign("s1", A, A);
    registry.clear();
    expect([registry.find(A, A), new SlotRegistry(storage).byLabel("s1")]).toEqual([null, null]);
  });

  it("forgets the slots of one site, and all in its pages, in each window that is told", () => {
    const storage = new MapStorage();
    const [one, other] = [new SlotRegistry(storage), new SlotRegistry(storage)];
    one.assign("s1", A, A);
    other.assign("s2", A, B);
    one.assign("s3", B, A);
    one.assign("s4", B, B);
    const isOf = (origin: string) => origin === A;
    one.forget(isOf);
    // It hears of the storage before it is told.
    other.restore();
    other.forget(isOf);
    one.restore();
    for (const known of [one, other, new SlotRegistry(storage)]) {
      expect([known.find(A, A), known.find(A, B), known.find(B, A), known.byLabel("s1")]).toEqual(Array(4).fill(null));
      expect(known.find(B, B)?.label).toBe("s4");
    }
  });

  it.each(["{", "null", '{"a":1}', '[null,1,{"label":"s1"}]'])("begins empty with %j in storage", (json) => {
    const storage = new MapStorage();
    storage.setItem("ropeway.slots", json);
    expect(new SlotRegistry(storage).byLabel("s1")).toBeNull();
  });
});

it("makes labels that a host may have, a new one each time", () => {
  expect(freshLabel()).toMatch(/^s[a-z2-7]{10}$/);
  expect(freshLabel()).not.toBe(freshLabel());
});

it("is one list for all windows of the app: none undoes what another did", () => {
  const storage = new MapStorage();
  const [one, other] = [new SlotRegistry(storage), new SlotRegistry(storage)];
  const first = one.assign("sone", "https://a.example", "https://a.example");
  const second = other.assign("stwo", "https://b.example", "https://b.example");
  for (const registry of [one, other, new SlotRegistry(storage)]) {
    expect(registry.find("https://a.example", "https://a.example")).toEqual(first);
    expect(registry.byLabel("stwo")).toEqual(second);
  }
  other.clear();
  one.assign("sthree", "https://c.example", "https://c.example");
  expect(one.find("https://a.example", "https://a.example")).toBeNull();
  expect(new SlotRegistry(storage).byLabel("sone")).toBeNull();
  // Its frame may still be on the screen here.
  expect(one.byLabel("sone")).toEqual(first);
});

describe("two windows that write the list at the same time, each from what it had read", () => {
  /** Both began with an empty list; the storage has what the second wrote. */
  function lost() {
    const [storage, other] = [new MapStorage(), new MapStorage()];
    const [first, second] = [new SlotRegistry(storage), new SlotRegistry(other)];
    const slot = first.assign("sone", A, A);
    second.assign("stwo", B, B);
    storage.setItem("ropeway.slots", other.getItem("ropeway.slots") ?? "");
    return { storage, first, slot };
  }

  it("lose nothing: what is gone is written again", () => {
    const { storage, first, slot } = lost();
    first.restore();
    const anyone = new SlotRegistry(storage);
    expect([anyone.find(A, A), anyone.find(B, B)?.label]).toEqual([slot, "stwo"]);
  });

  it("keep one slot for an origin that both gave one", () => {
    const { storage, first } = lost();
    new SlotRegistry(storage).assign("sthree", A, A);
    first.restore();
    first.restore();
    expect(new SlotRegistry(storage).find(A, A)?.label).toBe("sthree");
    expect(JSON.parse(storage.getItem("ropeway.slots") ?? "")).toHaveLength(2);
  });

  it("do not bring back what the person had forgotten", () => {
    const { storage, first } = lost();
    storage.removeItem("ropeway.slots");
    first.restore();
    new SlotRegistry(storage).assign("sfour", B, B);
    first.restore();
    expect(new SlotRegistry(storage).find(A, A)).toBeNull();
  });
});

describe("slots of frames", () => {
  const frames = (registry: SlotRegistry, count: number, top: string) =>
    Array.from({ length: count }, (_, index) => registry.assign(`${top}${index}`, `https://${index}.example`, top));
  const stored = (storage: MapStorage) => JSON.parse(storage.getItem("ropeway.slots") ?? "[]") as unknown[];

  it("are dropped, the oldest first, where one site has too many", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    registry.assign("top", A, A);
    const [first, second] = frames(registry, FRAME_SLOTS_PER_SITE, A);
    const other = registry.assign("other", B, "https://c.example");
    expect(registry.find("https://0.example", A)).toEqual(first);
    registry.assign("more", "https://more.example", A);
    for (const known of [registry, new SlotRegistry(storage)]) {
      expect([known.find("https://0.example", A), known.find("https://1.example", A)]).toEqual([null, second]);
      expect([known.find(A, A)?.label, known.find(B, "https://c.example")]).toEqual(["top", other]);
    }
    // A frame may still be open on it.
    expect(registry.byLabel(first?.label ?? "")).toEqual(first);
    expect(stored(storage)).toHaveLength(FRAME_SLOTS_PER_SITE + 2);
  });

  it("are dropped where there are too many in all, and sites' own never", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    const tops = Array.from({ length: 20 }, (_, index) => `https://top${index}.example`);
    for (const top of tops) {
      registry.assign(top, top, top);
      frames(registry, FRAME_SLOTS_PER_SITE / 2, top);
    }
    expect(stored(storage)).toHaveLength(tops.length + MAX_FRAME_SLOTS);
    expect(tops.every((top) => registry.find(top, top)?.label === top)).toBe(true);
  });

  it("are dropped of the domain that has most, by however many hosts it asks", () => {
    const registry = new SlotRegistry(new MapStorage());
    frames(registry, 10, A);
    for (let host = 0; host < 12; host++) frames(registry, FRAME_SLOTS_PER_SITE, `https://e${host}.evil.example`);
    frames(registry, 1, "https://late.site");
    expect(Array.from({ length: 10 }, (_, at) => registry.find(`https://${at}.example`, A)?.label)).toEqual(
      Array.from({ length: 10 }, (_, at) => `${A}${at}`),
    );
    expect(registry.find("https://0.example", "https://late.site")).not.toBeNull();
  });

  it("do not come back from a window that had assigned them, nor push out others", () => {
    const storage = new MapStorage();
    const [one, other] = [new SlotRegistry(storage), new SlotRegistry(storage)];
    frames(one, FRAME_SLOTS_PER_SITE, A);
    other.assign("more", "https://more.example", A);
    const before = storage.getItem("ropeway.slots");
    for (const registry of [one, other, one]) registry.restore();
    expect(storage.getItem("ropeway.slots")).toBe(before);
  });
});

describe("where nothing more can be stored", () => {
  class FullStorage extends MapStorage {
    isFull = true;

    override setItem(key: string, value: string): void {
      if (this.isFull) throw new DOMException("full", "QuotaExceededError");
      super.setItem(key, value);
    }
  }

  it("new sites have slots for as long as the window is open, and for good once there is room", () => {
    const storage = new FullStorage();
    const registry = new SlotRegistry(storage);
    const slot = registry.assign("s1", A, A);
    expect([registry.find(A, A), registry.byLabel("s1")]).toEqual([slot, slot]);
    storage.entries.set("ropeway.slots", JSON.stringify([{ label: "s2", origin: B, topLevelOrigin: B }]));
    registry.restore();
    expect([registry.find(A, A), registry.find(B, B)?.label]).toEqual([slot, "s2"]);
    storage.isFull = false;
    registry.assign("s3", B, A);
    expect(new SlotRegistry(storage).find(A, A)).toEqual(slot);
    registry.clear();
    expect(registry.find(A, A)).toBeNull();
  });
});

it("lets another slot stand in for one, in this window and for a time", () => {
  const storage = new MapStorage();
  const registry = new SlotRegistry(storage);
  const slot = registry.assign("own", "https://a.example", "https://a.example");
  registry.standIn("spare", slot);
  expect(registry.find(slot.origin, slot.topLevelOrigin)).toEqual({ ...slot, label: "spare" });
  expect(new SlotRegistry(storage).find(slot.origin, slot.topLevelOrigin)).toEqual(slot);
  registry.endStandIns();
  expect(registry.find(slot.origin, slot.topLevelOrigin)).toEqual(slot);
  expect(registry.byLabel("spare")?.origin).toBe(slot.origin);
});

it("knows in the next run of the app what stood in for a slot, until that is in its place again, or forgotten", () => {
  const storage = new MapStorage();
  const registry = new SlotRegistry(storage);
  const [a, b] = ["a", "b"].map((name) => registry.assign(name, `https://${name}.example`, `https://${name}.example`));
  if (a === undefined || b === undefined) throw new Error("Cannot go on: no slots");
  expect(registry.formerStandIn(a)).toBeNull();
  registry.standIn("spare-a1", a);
  const standIn = registry.standIn("spare-a2", a);
  registry.standIn("spare-b", b);
  expect(registry.formerStandIn(standIn)).toBeNull();
  const next = new SlotRegistry(storage);
  expect([next.formerStandIn(a), next.formerStandIn(b)]).toEqual(["spare-a2", "spare-b"]);
  registry.forget((origin) => origin === a.origin);
  expect(registry.find(a.origin, a.origin)).toBeNull();
  expect([next.formerStandIn(a), next.formerStandIn(b)]).toEqual([null, "spare-b"]);
  next.endStandIns();
  expect(registry.formerStandIn(b)).toBeNull();
});

describe("labels that go from origin to origin", () => {
  it("are evicted in all windows, and none brings them back", () => {
    const storage = new MapStorage();
    const [one, other] = [new SlotRegistry(storage), new SlotRegistry(storage)];
    one.assign("s1", A, A);
    other.evict("s1");
    one.reread();
    expect([one.find(A, A), new SlotRegistry(storage).byLabel("s1")]).toEqual([null, null]);
    const slot = other.assign("s1", B, B);
    one.reread();
    expect([one.byLabel("s1"), one.find(A, A)]).toEqual([slot, null]);
  });

  it("leave an origin the other one that it has by now", () => {
    const storage = new MapStorage();
    const [one, other] = [new SlotRegistry(storage), new SlotRegistry(storage)];
    one.assign("s1", A, A);
    other.evict("s1");
    const slot = other.assign("s2", A, A);
    one.reread();
    one.evict("s1");
    expect(new SlotRegistry(storage).find(A, A)).toEqual(slot);
  });

  it("are forgotten where the deployment has them no more", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    registry.assign("s1", A, A);
    registry.assign("s2", B, B);
    registry.keepOnly((label) => label === "s2");
    expect([registry.find(A, A), registry.find(B, B)?.label]).toEqual([null, "s2"]);
  });
});
