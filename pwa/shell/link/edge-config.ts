/** What the edge says about itself, kept for the next start: with it the app opens without a network. */
import { CONFIG_PATH, type EdgeConfig } from "../../../shared/subprotocol.ts";
import type { KeyValueStorage } from "../app/key-value-storage.ts";

const STORAGE_KEY = "ropeway.config";

export function storedConfig(storage: KeyValueStorage): EdgeConfig | null {
  const stored = storage.getItem(STORAGE_KEY);
  return stored === null ? null : (JSON.parse(stored) as EdgeConfig);
}

export async function fetchConfig(storage: KeyValueStorage): Promise<EdgeConfig> {
  const config = (await (await fetch(CONFIG_PATH)).json()) as EdgeConfig;
  storage.setItem(STORAGE_KEY, JSON.stringify(config));
  return config;
}
