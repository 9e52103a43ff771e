import { expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { DEFAULT_SEARCH_URL, SettingsStore, savesData } from "./settings.ts";

const DEFAULTS = {
  theme: "system",
  language: "system",
  searchUrl: DEFAULT_SEARCH_URL,
  waitTime: 120_000,
  takesPushes: true,
  storeBytes: 200_000_000,
  pictures: "off",
  pageBudget: null,
  pixelReaders: [],
  blocksTrackers: false,
  savesData: null,
  trackerExceptions: [],
  warmsLinks: false,
  windowOpeners: [],
  sizes: [],
};

it("keeps changes over restarts", () => {
  const storage = new MapStorage();
  const store = new SettingsStore(storage);
  expect(store.current).toEqual(DEFAULTS);
  store.change({ theme: "dark", language: "de" });
  store.change({ searchUrl: "https://a.example/?q=%s" });
  store.change({ waitTime: 600_000 });
  store.change({ takesPushes: false });
  store.change({ storeBytes: 50_000_000 });
  store.change({ pictures: "strong", pageBudget: 300_000, pixelReaders: ["https://a.example"] });
  store.change({ blocksTrackers: true, trackerExceptions: ["a.example"], savesData: false, warmsLinks: true });
  expect(new SettingsStore(storage).current).toEqual({
    theme: "dark",
    language: "de",
    searchUrl: "https://a.example/?q=%s",
    waitTime: 600_000,
    takesPushes: false,
    storeBytes: 50_000_000,
    pictures: "strong",
    pageBudget: 300_000,
    pixelReaders: ["https://a.example"],
    blocksTrackers: true,
    trackerExceptions: ["a.example"],
    savesData: false,
    warmsLinks: true,
    windowOpeners: [],
    sizes: [],
  });
});

it("has sites send less where pictures come smaller, unless the person says otherwise", () => {
  expect(savesData({ savesData: null, pictures: "off" })).toBe(false);
  expect(savesData({ savesData: null, pictures: "balanced" })).toBe(true);
  expect(savesData({ savesData: true, pictures: "off" })).toBe(true);
  expect(savesData({ savesData: false, pictures: "none" })).toBe(false);
});

it.each([
  "{",
  "null",
  '{"waitTime":1}',
  '{"takesPushes":0}',
  '{"channels":7}',
  '{"storeBytes":1}',
  '{"waitTime":"600000"}',
  '{"theme":"pink","searchUrl":"https://a.example/"}',
  '{"theme":1,"searchUrl":2}',
])("falls back to the defaults with %j in storage", (json) => {
  const storage = new MapStorage();
  storage.setItem("ropeway.settings", json);
  expect(new SettingsStore(storage).current).toEqual(DEFAULTS);
});

it("keeps what another window changed", () => {
  const storage = new MapStorage();
  const [one, other] = [new SettingsStore(storage), new SettingsStore(storage)];
  one.change({ theme: "dark" });
  expect(other.change({ waitTime: 30_000 })).toMatchObject({ theme: "dark", waitTime: 30_000 });
});
