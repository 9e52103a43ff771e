/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import { openResponseStore } from "./open-store.ts";
import { StoredSource, type StoredSourcePlatform } from "./stored-source.ts";

export function openStoredSource(platform: StoredSourcePlatform): StoredSource {
  return new StoredSource(openResponseStore(), platform);
}
