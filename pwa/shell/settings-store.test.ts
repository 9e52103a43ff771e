import { expect, it } from "vitest";
import { SettingsStore } from "./settings-store.ts";
import { MapStorage } from "./testing/map-storage.ts";
import { DEFAULT_SEARCH_URL } from "./views/search-engines.ts";

const DEFAULTS = { theme: "system", searchUrl: DEFAULT_SEARCH_URL };

it("keeps changes over restarts", () => {
  const storage = new MapStorage();
  const store = new SettingsStore(storage);
  expect(store.current).toEqual(DEFAULTS);
  store.change({ theme: "dark" });
  store.change({ searchUrl: "https://a.example/?q=%s" });
  expect(new SettingsStore(storage).current).toEqual({ theme: "dark", searchUrl: "https://a.example/?q=%s" });
});

it.each(["{", "null", '{"theme":"pink","searchUrl":"https://a.example/"}', '{"theme":1,"searchUrl":2}'])(
  "falls back to the defaults with %j in storage",
  (json) => {
    const storage = new MapStorage();
    storage.setItem("ropeway.settings", json);
    expect(new SettingsStore(storage).current).toEqual(DEFAULTS);
  },
);
