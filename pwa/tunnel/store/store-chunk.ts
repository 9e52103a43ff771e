/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import { openResponseStore } from "./open-store.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

export function openStoredSource(platform: StoredSourcePlatform): StoredSource {
  return new StoredSource(openResponseStore(), platform);
}
