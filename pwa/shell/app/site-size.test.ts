import { expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { SettingsStore, sizeOf, withSize } from "./settings.ts";

it("keeps how large a site's pages are, for all its hosts, until they are as they come", () => {
  const storage = new MapStorage();
  const settings = new SettingsStore(storage);
  const size = { ...sizeOf(settings.current, "https://www.a.example/page"), zoom: 150 };
  settings.change(withSize(settings.current, size));
  const again = new SettingsStore(storage).current;
  expect(sizeOf(again, "https://www.a.example/")).toEqual({ ...size, isWide: false, zoom: 150 });
  expect(sizeOf(again, "https://b.example/").zoom).toBe(100);
  expect(sizeOf(again, "").zoom).toBe(100);
  expect(withSize(again, { ...size, zoom: 100 }).sizes).toEqual([]);
});

it("takes no size that it does not offer, and keeps no more than it has room for", () => {
  const storage = new MapStorage();
  const sizes = [null, 7, { site: "a", isWide: true, zoom: 5_000 }, { site: "b", isWide: false, zoom: 75 }];
  storage.setItem("ropeway.settings", JSON.stringify({ sizes }));
  expect(new SettingsStore(storage).current.sizes).toEqual([{ site: "b", isWide: false, zoom: 75 }]);
  const many = Array.from({ length: 150 }, (_, at) => ({ site: `s${at}`, isWide: true, zoom: 100 }));
  expect(withSize({ sizes: many }, { site: "last", isWide: true, zoom: 100 }).sizes).toHaveLength(100);
});
