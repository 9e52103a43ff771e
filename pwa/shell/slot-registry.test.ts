import { describe, expect, it } from "vitest";
import { freshLabel, SlotRegistry } from "./slot-registry.ts";
import { MapStorage } from "./testing/map-storage.ts";

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
    }
  });

  it("forgets all slots", () => {
    const storage = new MapStorage();
    const registry = new SlotRegistry(storage);
    registry.assign("s1", A, A);
    registry.clear();
    expect([registry.find(A, A), new SlotRegistry(storage).byLabel("s1")]).toEqual([null, null]);
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
