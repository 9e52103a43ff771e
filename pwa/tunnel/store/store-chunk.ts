/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import { openResponseStore } from "./database/open-store.ts";
import { isStoredExchange } from "./exchanges/stored-exchange.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

export function openStoredSource(platform: StoredSourcePlatform): StoredSource {
  const channel = new BroadcastChannel("ropeway-cookies");
  const source = new StoredSource(openResponseStore(isStoredExchange), platform, (urls) => channel.postMessage(urls));
  channel.onmessage = (event: MessageEvent<readonly string[]>) => source.cookiesChanged(event.data);
  return source;
}
