/** Which sites run no scripts, by the person's choice. */
import { siteName } from "../../messages/site-name.ts";
import type { KeyValueStorage } from "./key-value-storage.ts";

export const LITE_SITES_KEY = "ropeway.lite-sites";

export function liteSites(storage: KeyValueStorage): readonly string[] {
  try {
    const sites: unknown = JSON.parse(storage.getItem(LITE_SITES_KEY) ?? "[]");
    return Array.isArray(sites) ? sites.filter((site) => typeof site === "string") : [];
  } catch {
    return [];
  }
}

/** Takes effect when the app is opened next. */
export function chooseScripts(storage: KeyValueStorage, url: string, isOn: boolean): void {
  const others = liteSites(storage).filter((site) => site !== siteName(url));
  const sites = isOn ? others : [...others, siteName(url)];
  if (sites.length === 0) storage.removeItem(LITE_SITES_KEY);
  else storage.setItem(LITE_SITES_KEY, JSON.stringify(sites));
}
