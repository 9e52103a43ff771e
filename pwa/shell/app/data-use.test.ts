import { expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { DataUse } from "./phone.ts";

const at = (day: number, month = 10) => new Date(2026, month, day, 9).getTime();
const moved = (link: number, origin: number) => ({ linkBytesUp: 0, linkBytesDown: link, originBytes: origin });

it("counts what was moved by day and month", () => {
  const storage = new MapStorage();
  let now = at(22);
  const use = new DataUse(storage, () => now);
  use.add(moved(100, 400));
  now = at(23);
  use.add(moved(150, 500));
  use.add(moved(160, 700));
  expect(use.days).toHaveLength(30);
  expect(use.days.slice(-2)).toEqual([
    { linkBytes: 100, originBytes: 400 },
    { linkBytes: 60, originBytes: 300 },
  ]);
  expect(use.month).toEqual({ linkBytes: 160, originBytes: 700 });

  // Another start counts from nothing, and adds.
  const later = new DataUse(storage, () => now);
  later.add(moved(5, 5));
  expect(later.month).toEqual({ linkBytes: 165, originBytes: 705 });
  now = at(1, 11);
  expect(later.month).toEqual({ linkBytes: 0, originBytes: 0 });
});

it("keeps two months, and passes over what is no count", () => {
  const storage = new MapStorage();
  let now = at(1);
  const use = new DataUse(storage, () => now);
  for (let i = 1; i <= 100; i++, now += 86_400_000) use.add(moved(i, i));
  expect((JSON.parse(storage.getItem("ropeway.data-use") ?? "") as unknown[]).length).toBe(62);
  for (const broken of ["{", "null", "[1]", '[["2026-11-01",{}]]', '[["x",{"linkBytes":1,"originBytes":1}]]']) {
    storage.setItem("ropeway.data-use", broken);
    expect(new DataUse(storage, () => now).month).toEqual({ linkBytes: 0, originBytes: 0 });
  }
});
