import { DEFAULT_STORE_BYTES, DEFAULT_WAIT_TIME, siteName } from "../../messages/tunnel-messages.ts";
import type { PictureChoice, Settings, SiteSize } from "./state.ts";

/** The part of `Storage` that is used; tests bring a map. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The search URL of a phone on which nobody chose another. The engine works without scripts, in one small page. */
export const DEFAULT_SEARCH_URL = "https://html.duckduckgo.com/html/?q=%s";

const STORAGE_KEY = "ropeway.settings";
const DEFAULTS: Settings = {
  theme: "system",
  language: "system",
  searchUrl: DEFAULT_SEARCH_URL,
  waitTime: DEFAULT_WAIT_TIME,
  takesPushes: true,
  storeBytes: DEFAULT_STORE_BYTES,
  pictures: "off",
  pageBudget: null,
  pixelReaders: [],
  blocksTrackers: false,
  trackerExceptions: [],
  savesData: null,
  warmsLinks: false,
  windowOpeners: [],
  sizes: [],
};

const PICTURE_CHOICES: readonly PictureChoice[] = ["off", "auto", "balanced", "strong", "none"];

/** Choices of `pageBudget`. */
export const PAGE_BUDGETS: readonly (number | null)[] = [null, 150_000, 300_000, 1_000_000];

/** Most entries of the lists that grow with sites. */
const MOST_KEPT = 100;

/** Choices of `waitTime`: 30 s, 2 min, 10 min. */
export const WAIT_TIMES: readonly number[] = [30_000, DEFAULT_WAIT_TIME, 600_000];

/** Choices of `storeBytes`. */
export const STORE_SIZES: readonly number[] = [50_000_000, DEFAULT_STORE_BYTES, 500_000_000, 1_000_000_000];

/** The person's settings, kept in synchronous storage since the first paint needs the theme. */
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
    // Another window may have changed others.
    this.#current = { ...this.#current, ...read(this.#storage.getItem(STORAGE_KEY)), ...change };
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(this.#current));
    return this.#current;
  }
}

function read(json: string | null): Partial<Settings> {
  try {
    const value = JSON.parse(json ?? "{}") as Partial<Record<keyof Settings, unknown>>;
    const theme = value.theme === "light" || value.theme === "dark" ? value.theme : DEFAULTS.theme;
    const usable = typeof value.searchUrl === "string" && value.searchUrl.includes("%s");
    const waitTime = WAIT_TIMES.find((choice) => choice === value.waitTime) ?? DEFAULTS.waitTime;
    const takesPushes = value.takesPushes !== false;
    const storeBytes = STORE_SIZES.find((choice) => choice === value.storeBytes) ?? DEFAULTS.storeBytes;
    const searchUrl = usable ? (value.searchUrl as string) : DEFAULTS.searchUrl;
    const pictures = PICTURE_CHOICES.find((choice) => choice === value.pictures) ?? DEFAULTS.pictures;
    const pageBudget = PAGE_BUDGETS.find((choice) => choice === value.pageBudget) ?? null;
    const language = typeof value.language === "string" ? value.language : DEFAULTS.language;
    return {
      ...{ theme, language, searchUrl, waitTime, takesPushes, storeBytes, pictures, pageBudget },
      pixelReaders: textsOf(value.pixelReaders),
      blocksTrackers: value.blocksTrackers === true,
      trackerExceptions: textsOf(value.trackerExceptions),
      savesData: typeof value.savesData === "boolean" ? value.savesData : null,
      warmsLinks: value.warmsLinks === true,
      windowOpeners: textsOf(value.windowOpeners),
      sizes: (Array.isArray(value.sizes) ? value.sizes : []).filter(isSize).slice(-MOST_KEPT),
    };
  } catch {
    return {};
  }
}

/** Choices of `zoom`. */
export const ZOOMS: readonly number[] = [50, 75, 100, 125, 150, 175, 200];

function isSize(value: Partial<Record<keyof SiteSize, unknown>> | null): value is SiteSize {
  return typeof value?.site === "string" && typeof value.isWide === "boolean" && ZOOMS.includes(Number(value.zoom));
}

/** @param url of the page. */
export function sizeOf({ sizes }: Pick<Settings, "sizes">, url: string): SiteSize {
  const site = url === "" ? "" : siteName(url);
  return sizes.findLast((size) => size.site === site) ?? { site, isWide: false, zoom: 100 };
}

/** The settings' sizes, with this one in the place of the site's. */
export function withSize({ sizes }: Pick<Settings, "sizes">, size: SiteSize): Pick<Settings, "sizes"> {
  const others = sizes.filter(({ site }) => site !== size.site);
  const isAsItComes = !size.isWide && size.zoom === 100;
  return { sizes: isAsItComes ? others : [...others, size].slice(-MOST_KEPT) };
}

/** Whether sites are asked to send less. */
export function savesData({ savesData: chosen, pictures }: Pick<Settings, "savesData" | "pictures">): boolean {
  return chosen ?? pictures !== "off";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").slice(-MOST_KEPT) : [];
}
