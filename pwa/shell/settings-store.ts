/** The person's settings, kept in synchronous storage since the first paint needs the theme. */
import type { Settings } from "./browser-state.ts";
import type { KeyValueStorage } from "./slot-registry.ts";
import { DEFAULT_SEARCH_URL } from "./views/search-engines.ts";

const STORAGE_KEY = "ropeway.settings";
const DEFAULTS: Settings = { theme: "system", searchUrl: DEFAULT_SEARCH_URL };

export class SettingsStore {
  #storage: KeyValueStorage;
  #current: Settings;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
    this.#current = { ...DEFAULTS, ...read(storage.getItem(STORAGE_KEY)) };
  }

  get current(): Settings {
    return this.#current;
  }

  change(change: Partial<Settings>): Settings {
    this.#current = { ...this.#current, ...change };
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(this.#current));
    return this.#current;
  }
}

function read(json: string | null): Partial<Settings> {
  try {
    const value = JSON.parse(json ?? "{}") as Partial<Record<keyof Settings, unknown>>;
    const theme = value.theme === "light" || value.theme === "dark" ? value.theme : DEFAULTS.theme;
    const usable = typeof value.searchUrl === "string" && value.searchUrl.includes("%s");
    return { theme, searchUrl: usable ? (value.searchUrl as string) : DEFAULTS.searchUrl };
  } catch {
    return {};
  }
}
