/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import { STORE_NAME } from "./database/delete-database.ts";
import { openStoreDatabase } from "./database/open-database.ts";
import { openResponseStore } from "./database/open-store.ts";
import { storeOptions } from "./database/store-options.ts";
import { isStoredExchange } from "./exchanges/stored-exchange.ts";
import { StoreLimit } from "./store-limit.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

/** A connection of its own for who asks what is stored. */
export const openDatabase = () => openStoreDatabase(STORE_NAME);

/** @param bytes of bodies that the person lets be stored, as of now. */
export function openStoredSource(platform: StoredSourcePlatform, bytes: () => number): StoredSource {
  const limit = new StoreLimit(bytes);
  void limit.measure(() => navigator.storage.estimate());
  const channel = new BroadcastChannel("ropeway-cookies");
  const store = openResponseStore(
    isStoredExchange,
    storeOptions(() => limit.bytes),
  );
  const source = new StoredSource(store, platform, (urls) => channel.postMessage(urls));
  channel.onmessage = (event: MessageEvent<readonly string[]>) => source.cookiesChanged(event.data);
  return source;
}
